import Foundation
import WaybillCore
package import WaybillQueries
import WaybillStore

struct ExchangeDetails {
    let exchange: TransactionRecord.Exchange
    let bodies: ExchangeBodies
    let caused: TransactionRecord.Part?
    let page: String?

    var html: HTML {
        """
        <p><b>\(exchange.method)</b> \(exchange.url)<p>\(exchange.words(bodies, caused).joined(separator: " · "))\(toPage)\(phases)\(error)\(redirects)\(request)\
        \(fields("Response", exchange.responseHeaderFields))\(body("Response body", shown.response))\(messages)
        """
    }

    private var toPage: HTML { page.map { " · <a href=\"\($0)\">On its own page</a>" } ?? "" }

    /// For two phases, `words` already contains their border.
    private var phases: HTML {
        guard let timing = ExchangeTiming(exchange), timing.total > 0, timing.phases.count > 2 else { return "" }
        let rects = HTML.segments(timing.phases.map { ("", $0.duration) }, of: timing.total, least: 1)
        let words = timing.phases.map { "\($0.name) \(Words.duration($0.duration))" }
        return "<svg class=\"bar phases\">\(rects)</svg><p>\(words.joined(separator: " · "))"
    }

    private var error: HTML { exchange.error.map { "<p class=bad>\(Words.error($0))" } ?? "" }

    private var redirects: HTML {
        guard !exchange.transfer.redirects.isEmpty else { return "" }
        let items = exchange.transfer.redirects.map { redirect in
            "<dt>\(redirect.status) after \(Words.duration(redirect.atMicroseconds - exchange.openedMicroseconds))<dd>\(redirect.url)"
                as HTML
        }
        return "<h3>Redirects</h3><dl>\(items)</dl>"
    }

    private var shown: ExchangeBodies { bodies.withoutMessages }

    private var messages: HTML {
        WebSocketMessages.table(of: exchange, bodies).map { "<h3>Messages</h3>\($0)" } ?? ""
    }

    private func fields(_ title: String, _ fields: [HeaderField]) -> HTML {
        guard !fields.isEmpty else { return "" }
        return "<h3>\(title)</h3><dl>\(fields.map { "<dt>\($0.name)<dd>\(PrettyJSON.html($0.value))" as HTML })</dl>"
    }

    private func body(_ title: String, _ body: ExchangeBody?) -> HTML {
        guard let body, !body.bytes.isEmpty || body.lack != nil else { return "" }
        let text = body.text.map { PrettyJSON.text($0) ?? $0 }
        let shown: HTML =
            if body.bytes.isEmpty {
                ""
            } else if let text {
                "<pre tabindex=0>\(text)</pre>"
            } else {
                "<p>\(Words.byteCount(body.bytes.count)) that are no text."
            }
        return "<h3>\(title)</h3>\(shown)\(body.lack.map { "<p>\($0)" } ?? HTML())"
    }

    private var request: HTML {
        guard let command = CurlCommand(exchange, body: bodies.request) else {
            return "\(fields("Request", exchange.requestHeaderFields))\(body("Request body", shown.request))"
        }
        let isJSON = bodies.request?.text.flatMap(PrettyJSON.text) != nil
        return "<pre tabindex=0>\(command.text)</pre>\(isJSON ? body("Request body", bodies.request) : HTML())"
    }
}

/// The timing of an exchange: phases in microseconds that add up to the total; `nil` if unmeasured.
package struct ExchangeTiming: Sendable, Hashable {
    package let lookup: Int64?
    package let connect: Int64?
    package let secure: Int64?
    package let send: Int64?
    /// The time to the first byte, or to the end without a response. It includes unmeasured sending.
    package let wait: Int64
    package let receive: Int64?

    /// Returns `nil` while the exchange is in progress.
    package init?(_ exchange: TransactionRecord.Exchange) {
        guard let closed = exchange.closedMicroseconds else { return nil }
        // Clocks of platform metrics may differ slightly. Later phases limit earlier ones.
        var rest = max(0, closed - exchange.openedMicroseconds)
        let firstByte = exchange.firstByteMicroseconds.map { min(max(0, $0 - exchange.openedMicroseconds), rest) }
        receive = firstByte.map { rest - $0 }
        rest = firstByte ?? rest
        func taken(_ wanted: Int64?) -> Int64? {
            guard let wanted else { return nil }
            let time = min(max(0, wanted), rest)
            rest -= time
            return time
        }
        let phases = exchange.transfer.phases
        let sent = exchange.transfer.sentAtMicroseconds.map { $0 - exchange.openedMicroseconds }
        lookup = taken(phases.lookupMicroseconds)
        connect = taken(phases.connectMicroseconds)
        secure = taken(phases.secureMicroseconds)
        let before = (lookup ?? 0) + (connect ?? 0) + (secure ?? 0)
        send = taken(sent.map { $0 - before })
        wait = rest
    }

    package var total: Int64 { phases.reduce(0) { $0 + $1.duration } }

    package var phases: [(name: String, duration: Int64)] {
        [
            ("lookup", lookup), ("connect", connect), ("TLS", secure), ("send", send), ("wait", wait as Int64?),
            ("receive", receive),
        ].compactMap { name, duration in duration.map { (name, $0) } }
    }
}

extension TransactionRecord.Exchange {
    package var host: String { String(hostAndPath.prefix { $0 != "/" }) }

    package var path: String { hostAndPath.firstIndex(of: "/").map { String(hostAndPath[$0...]) } ?? "/" }

    package var hostAndPath: Substring {
        let rest = url.prefix { $0 != "?" }
        // Foundation's comparison by canonical equivalence takes ten times as long as bytes.
        let start = rest.utf8.indices.first { rest.utf8[$0...].starts(with: "://".utf8) }
        return start.map { rest[$0...].dropFirst(3) } ?? rest
    }

    package func words(_ bodies: ExchangeBodies, _ caused: TransactionRecord.Part?) -> [String] {
        let rule = [transfer.isMocked ? "mocked" : nil, transfer.rule.map { "rule \($0)" }].compactMap(\.self)
        // A short remark about missing bodies is enough, since a report may have thousands.
        let isNotKept = bodies.request == nil && transfer.webSocket == nil
        let facts: [String?] = [
            state == .completed || status == nil ? nil : state?.name,
            rule.isEmpty ? nil : rule.joined(separator: ", "),
            sentByteCount.map { "sent \(Words.byteCount($0))\($0 > 0 && isNotKept ? ", not kept" : "")" },
            receivedWords, transfer.webSocket?.words, transfer.httpVersion.map { "HTTP/\($0)" },
            transfer.isConnectionReused.map { $0 ? "connection reused" : "new connection" },
            ExchangeTiming(self).flatMap { $0.phases.count == 2 ? "first byte \(Words.duration($0.wait))" : nil },
        ]
        return durationWords(caused) + facts.compactMap(\.self)
    }

    /// Returns the duration, that of the part that it caused, and the difference; empty until it is closed.
    package func durationWords(_ caused: TransactionRecord.Part?) -> [String] {
        guard let duration = durationMicroseconds else { return [] }
        let words = [Words.duration(duration)]
        guard let inServer = caused?.durationMicroseconds else { return words }
        // No clock alignment is needed: one clock measures each duration.
        let way = inServer <= duration ? ["way there and back \(Words.duration(duration.subtracting(inServer)))"] : []
        return words + ["server \(Words.duration(inServer))"] + way
    }

    /// The result, for example `401`, `failed` or, for a WebSocket, `closed 1000`.
    package var result: String {
        closing ?? status.map { "\($0)" } ?? state?.name ?? "no end recorded"
    }

    var receivedWords: String? {
        let wire = transfer.receivedWireByteCount.map { ", \(Words.byteCount($0)) on the wire" } ?? ""
        return receivedByteCount.map { "received \(Words.byteCount($0))\(wire)" }
    }

    package var closing: String? { transfer.webSocket?.closeCode.map { "closed \($0)" } }
}

extension ExchangeBody {
    /// Explains why the body is incomplete; `nil` if it is complete.
    package var lack: String? {
        guard !isWhole else { return nil }
        let (kept, all) = (Words.byteCount(bytes.count), byteCount.map { " of \(Words.byteCount($0))" } ?? "")
        return switch omission {
        case .type: "A body\(all) was not kept: it is no text."
        case .encoding: "A body\(all) was not kept: it was compressed."
        case .limit, .room, .unfinished, nil:
            bytes.isEmpty
                ? "Nothing\(all.isEmpty ? " of the body" : all) was kept." : "The first \(kept)\(all) were kept."
        }
    }
}
