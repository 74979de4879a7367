import Foundation
import WaybillCore
package import WaybillQueries
import WaybillStore

/// One HTTP exchange, unfolding to its timing, sizes, redirects, header fields, bodies, and the request as a cURL
/// command.
package struct ExchangeDetails {
    let exchange: TransactionRecord.Exchange
    let bodies: ExchangeBodies
    /// To tell who recorded it; nil where that goes without saying.
    let names: SourceNames?
    /// The part that it caused at its other end; nil where none is known.
    let caused: TransactionRecord.Part?
    /// What addresses within the page call it; nil where none leads to it.
    var anchor: String?
    /// The address of its own page; nil where there is none.
    var page: String?

    package init(
        exchange: TransactionRecord.Exchange, bodies: ExchangeBodies, names: SourceNames?,
        caused: TransactionRecord.Part?,
        anchor: String? = nil,
        page: String? = nil
    ) {
        self.exchange = exchange
        self.bodies = bodies
        self.names = names
        self.caused = caused
        self.anchor = anchor
        self.page = page
    }

    package var html: HTML {
        """
        <details\(anchor.map { " id=\"\($0)\"" } ?? HTML())><summary><b>\(exchange.method)</b> <span>\(exchange.url)\(recorder)</span> <em\(" class=bad", if: exchange.hasFailed)>\
        \(exchange.result)</em></summary><p>\(words.joined(separator: " · "))\(toPage)\(phases)\(error)\(redirects)\(request)\
        \(fields("Response", exchange.responseHeaderFields))\(body("Response body", shown.response))\(messages)</details>

        """
    }

    private var recorder: HTML {
        names.map { "<small\($0.laneAttribute(of: exchange.id.source))>\($0[exchange.id.source])</small>" } ?? ""
    }

    private var toPage: HTML { page.map { " · <a href=\"\($0)\">On its own page</a>" } ?? "" }

    /// How long it took, how large it was, over what it went.
    package var words: [String] {
        var facts: [String] = []
        if let closed = exchange.closedMicroseconds {
            let duration = closed - exchange.openedMicroseconds
            facts.append(Words.duration(duration))
            if let caused, let end = caused.closedMicroseconds {
                // Two durations by two clocks: their difference needs no common clock.
                let inServer = end - caused.openedMicroseconds
                facts.append("server \(Words.duration(inServer))")
                if inServer <= duration { facts.append("way there and back \(Words.duration(duration - inServer))") }
            }
        }
        if let state = exchange.state, state != .completed, exchange.status != nil { facts.append(state.name) }
        let transfer = exchange.transfer
        if transfer.isMocked || transfer.rule != nil {
            facts.append(
                [transfer.isMocked ? "mocked" : "", transfer.rule.map { "rule \($0)" } ?? ""].filter { !$0.isEmpty }
                    .joined(separator: ", ")
            )
        }
        // Where no body is kept, one word for each says so: a report may have thousands.
        if let count = exchange.sentByteCount {
            facts.append(
                "sent \(Words.byteCount(count))\(count > 0 && bodies.request == nil && transfer.webSocket == nil ? ", not kept" : "")"
            )
        }
        if let count = exchange.receivedByteCount {
            let wire = transfer.receivedWireByteCount.map { ", \(Words.byteCount($0)) on the wire" } ?? ""
            facts.append("received \(Words.byteCount(count))\(wire)")
        }
        if let socket = transfer.webSocket { facts.append(socket.words) }
        if let version = transfer.httpVersion { facts.append("HTTP/\(version)") }
        if let isReused = transfer.isConnectionReused {
            facts.append(isReused ? "connection reused" : "new connection")
        }
        if let timing = ExchangeTiming(exchange), timing.phases.count == 2 {
            facts.append("first byte \(Words.duration(timing.wait))")
        }
        return facts
    }

    /// A bar for the whole, in proportion, and its phases in words; where there are two, their border is told already.
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
        return "<h4>Redirects</h4><dl>\(items)</dl>"
    }

    /// Those that are no messages.
    private var shown: ExchangeBodies { bodies.withoutMessages }

    private var messages: HTML {
        WebSocketTable(exchange: exchange, bodies: bodies).map { "<h4>Messages</h4>\($0.html)" } ?? ""
    }

    private func fields(_ title: String, _ fields: [HeaderField]) -> HTML {
        guard !fields.isEmpty else { return "" }
        return "<h4>\(title)</h4><dl>\(fields.map { "<dt>\($0.name)<dd>\(PrettyJSON.html($0.value))" as HTML })</dl>"
    }

    private func body(_ title: String, _ body: ExchangeBody?) -> HTML {
        guard let body, !body.bytes.isEmpty || body.lack != nil else { return "" }
        let text = body.text.map { PrettyJSON.text($0) ?? $0 }
        let shown: HTML =
            if body.bytes.isEmpty {
                ""
            } else if let text {
                "<pre>\(text)</pre>"
            } else {
                "<p>\(Words.byteCount(body.bytes.count)) that are no text."
            }
        return "<h4>\(title)</h4>\(shown)\(body.lack.map { "<p>\($0)" } ?? HTML())"
    }

    /// As a command that says everything; where there is none, the header fields. JSON is shown on lines of its own as
    /// well.
    private var request: HTML {
        guard let command = CurlCommand(exchange, body: bodies.request) else {
            return "\(fields("Request", exchange.requestHeaderFields))\(body("Request body", shown.request))"
        }
        let isJSON = bodies.request?.text.flatMap(PrettyJSON.text) != nil
        return "<pre>\(command.text)</pre>\(isJSON ? body("Request body", bodies.request) : HTML())"
    }
}

/// Where the time of an exchange went: phases, one after the other, that add up to the whole.
package struct ExchangeTiming: Sendable, Hashable {
    /// Looking up the host's name, in microseconds; nil where it was not measured.
    package let lookup: Int64?
    /// Connecting, without TLS.
    package let connect: Int64?
    /// The TLS handshake.
    package let secure: Int64?
    /// Until the request's last byte was handed over, without the phases before; nil where that was not measured.
    package let send: Int64?
    /// Until the first byte of the response came, or the end where none came; with the sending where that was not
    /// measured.
    package let wait: Int64
    /// Until the last byte; nil where the first was not measured.
    package let receive: Int64?

    /// nil while the exchange is in progress.
    package init?(_ exchange: TransactionRecord.Exchange) {
        guard let closed = exchange.closedMicroseconds else { return nil }
        // Clocks of a platform's metrics may differ by a little: no phase reaches beyond those that follow.
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

    /// The sum of all phases.
    package var total: Int64 { phases.reduce(0) { $0 + $1.duration } }

    /// Those that were measured, in order, with their names.
    package var phases: [(name: String, duration: Int64)] {
        [
            ("lookup", lookup), ("connect", connect), ("TLS", secure), ("send", send), ("wait", wait as Int64?),
            ("receive", receive),
        ].compactMap { name, duration in duration.map { (name, $0) } }
    }
}

extension TransactionRecord.Exchange {
    /// With the port; empty where it is not known.
    package var host: String { String(place.prefix { $0 != "/" }) }

    /// Without scheme, host and query.
    package var path: String { place.firstIndex(of: "/").map { String(place[$0...]) } ?? "/" }

    private var place: Substring {
        let rest = url.prefix { $0 != "?" }
        // Byte by byte: Foundation, which compares what looks alike, takes ten times as long.
        let start = rest.utf8.indices.first { rest.utf8[$0...].starts(with: "://".utf8) }
        return start.map { rest[$0...].dropFirst(3) } ?? rest
    }

    /// `401`, `failed`, of a WebSocket `closed 1000`; `no end recorded` while it is in progress.
    package var result: String {
        closing ?? status.map { "\($0)" } ?? state?.name ?? "no end recorded"
    }

    /// `closed 1000`; nil where it was no WebSocket, or no close frame was seen.
    package var closing: String? { transfer.webSocket?.closeCode.map { "closed \($0)" } }

    /// Whether no whole response came, or one that tells an error.
    package var hasFailed: Bool { state == .failed || (status ?? 0) >= 400 }
}

extension ExchangeBody {
    /// What is missing and why, in a sentence: `The first 64.0 kB of 1.3 MB were kept.`; nil for a whole one.
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
