package import WaybillCore
package import WaybillQueries
import WaybillStore

package struct ExchangeText {
    package enum Line: Sendable, Hashable {
        case title(String)
        case heading(String)
        /// A name and its value, which may indicate a problem.
        case fact(String, String, isBad: Bool = false)
        case field(String, String)
        case phase(String, String, bar: String)
        case text(String)
        case empty
    }

    private let record: ExchangeRecord
    private let bodies: ExchangeBodies
    private let webSocketMessages: WebSocketMessages
    private var exchange: TransactionRecord.Exchange { record.exchange }

    package init(_ record: Redacted<ExchangeRecord>, bodies: Redacted<ExchangeBodies>) {
        self.record = record.value
        self.bodies = bodies.value.withoutMessages
        webSocketMessages = WebSocketMessages(of: record.value.exchange, bodies.value)
    }

    package var lines: [Line] {
        [.title("\(exchange.method) \(exchange.url)"), .empty] + facts + timing
            + message("REQUEST", exchange.requestHeaderFields, bodies.request, exchange.sentByteCount)
            + message("RESPONSE", exchange.responseHeaderFields, bodies.response, exchange.receivedByteCount)
            + messages
    }

    package var text: String {
        let width = names.map(\.count).max() ?? 0
        return lines.map { line in
            switch line {
            case .title(let text), .heading(let text), .text(let text): text
            case .fact(let name, let value, _): "\(name.padded(to: width))  \(value)"
            case .field(let name, let value): "\(name): \(value)"
            case .phase(let name, let duration, let bar):
                "\(name.padded(to: 8))\(duration.padded(to: 9, onLeft: true))  \(bar)"
            case .empty: ""
            }
        }.joined(separator: "\n")
    }

    package var names: [String] {
        facts.compactMap { line in if case .fact(let name, _, _) = line { name } else { nil } }
    }

    private var facts: [Line] {
        var facts: [Line] = [.fact("state", state, isBad: exchange.hasFailed)]
        if let error = exchange.error { facts.append(.fact("error", Words.error(error), isBad: true)) }
        facts.append(.fact("opened", "\(Words.time(exchange.openedMicroseconds)) UTC"))
        for redirect in exchange.transfer.redirects {
            let after = Words.duration(redirect.atMicroseconds - exchange.openedMicroseconds)
            facts.append(.fact("redirect", "\(redirect.status) after \(after) to \(redirect.url)"))
        }
        let transfer = exchange.transfer
        let isReused = transfer.isConnectionReused.map { $0 ? "reused" : "new" }
        let transaction = record.transaction.map { "\(record.useCaseName ?? "") \($0.supportCode)  \($0)" } ?? "none"
        let app = [record.source.app, record.source.appVersion].filter { !$0.isEmpty }.joined(separator: " ")
        let role = exchange.role == .server ? ", as the server" : ""
        let others: [(name: String, words: [String?])] = [
            ("sizes", [exchange.sentByteCount.map { "sent \(Words.byteCount($0))" }, exchange.receivedWords]),
            ("connection", [transfer.httpVersion.map { "HTTP/\($0)" }, isReused]),
            ("messages", [transfer.webSocket?.words]), ("rule", [transfer.rule]),
            ("transaction", [transaction]), ("source", [app + role]),
            ("exchange", ["\(exchange.id.code)  \(exchange.id)"]),
        ]
        for (name, words) in others {
            let known = words.compactMap(\.self)
            if !known.isEmpty { facts.append(.fact(name, known.joined(separator: " · "))) }
        }
        return facts
    }

    private var state: String {
        let state = Words.state(record.state)
        let duration = ExchangeTiming(exchange).map { " after \(Words.duration($0.total))" } ?? ""
        return exchange.status.map { "\($0), \(state)\(duration)" } ?? state + duration
    }

    private var timing: [Line] {
        guard let timing = ExchangeTiming(exchange), timing.total > 0, timing.phases.count > 1 else { return [] }
        var before: Int64 = 0
        let phases = timing.phases.map { phase -> Line in
            defer { before += phase.duration }
            let bar = Self.bar(from: before, to: before + phase.duration, of: timing.total)
            return .phase(phase.name, Words.duration(phase.duration), bar: bar)
        }
        return [.empty, .heading("TIME")] + phases
    }

    private static func bar(from start: Int64, to end: Int64, of total: Int64) -> String {
        let left = Int(start * 40 / total)
        let right = max(left + 1, Int(end * 40 / total))
        return String(repeating: " ", count: left) + String(repeating: "█", count: right - left)
    }

    private func message(_ title: String, _ fields: [HeaderField], _ body: ExchangeBody?, _ byteCount: Int64?)
        -> [Line]
    {
        let body = lines(of: body)
        guard !fields.isEmpty || !body.isEmpty else { return [] }
        return [.empty, .heading(title)] + fields.map { .field($0.name, $0.value) }
            + (body.isEmpty ? [] : [.empty] + body)
    }

    /// Returns one line per message, with the beginning of a long or multi-line text.
    private var messages: [Line] {
        guard !webSocketMessages.rows.isEmpty else { return [] }
        var lines = webSocketMessages.rows.map { row -> Line in
            let time = row.timeMicroseconds.map { Words.duration($0 - exchange.openedMicroseconds) } ?? ""
            let size = row.byteCount.map(Words.byteCount) ?? ""
            let text = row.text.map { text in
                let line = text.prefix { $0 != "\n" }.prefix(Self.messageLength)
                return line.count < text.count ? "\(line)…" : text
            }
            let said = [text, row.lack.map { "(\($0))" }].compactMap(\.self).joined(separator: " ")
            return .text(
                "\(row.isSent ? "→" : "←") \(time.padded(to: 9, onLeft: true)) \(size.padded(to: 9, onLeft: true))  \(said)"
            )
        }
        if let omission = webSocketMessages.omission {
            lines.insert(.text("(\(Words.count(omission.count, "message")) between)"), at: omission.place)
        }
        return [.empty, .heading("MESSAGES")] + lines
    }

    private static let messageLength = 200

    private func lines(of body: ExchangeBody?) -> [Line] {
        guard let body else { return [] }
        let lack = body.lack.map { [Line.text("(\($0))")] } ?? []
        guard !body.bytes.isEmpty else { return lack }
        guard let text = body.text else {
            return [.text("(\(Words.byteCount(body.bytes.count)) that are no text)")] + lack
        }
        let shown = PrettyJSON.text(text) ?? text
        return shown.split(separator: "\n", omittingEmptySubsequences: false).map { .text(String($0)) } + lack
    }
}

extension String {
    package func padded(to width: Int, onLeft: Bool = false) -> String {
        let padding = String(repeating: " ", count: max(0, width - count))
        return onLeft ? padding + self : self + padding
    }
}

package enum PrettyJSON {
    /// Returns indented JSON in a `<pre>` element, and any other text unchanged.
    package static func html(_ text: String) -> HTML { self.text(text).map { "<pre>\($0)</pre>" } ?? "\(text)" }

    /// Returns an indented JSON object or array; `nil` for other text. Only whitespace changes.
    package static func text(_ json: String) -> String? {
        guard let first = json.utf8.first(where: { !" \t\r\n".utf8.contains($0) }),
            first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
        else { return nil }
        let bytes = Array(json.utf8)
        guard (try? JSONReader.read(bytes) { reader throws(JSONFailure) in try reader.skipValue() }) != nil else {
            return nil
        }
        return String(decoding: indented(bytes), as: UTF8.self)
    }

    /// Valid JSON needs only a distinction between strings and other bytes.
    private static func indented(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var depth = 0
        var isInString = false
        var isEscaped = false
        for byte in bytes {
            if isInString {
                result.append(byte)
                if !isEscaped, byte == UInt8(ascii: "\"") { isInString = false }
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
                continue
            }
            switch byte {
            case 0x20, 0x0A, 0x0D, 0x09: break
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                result.append(byte)
                appendLine(depth, to: &result)
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                let isEmpty =
                    result.last == UInt8(ascii: " ") && result.last { $0 > 0x20 }.map { "{[".utf8.contains($0) } == true
                if isEmpty {
                    while let last = result.last, last <= 0x20 { result.removeLast() }
                } else {
                    appendLine(depth, to: &result)
                }
                result.append(byte)
            case UInt8(ascii: ","):
                result.append(byte)
                appendLine(depth, to: &result)
            case UInt8(ascii: ":"): result += ": ".utf8
            default:
                isInString = byte == UInt8(ascii: "\"")
                result.append(byte)
            }
        }
        return result
    }

    private static func appendLine(_ depth: Int, to result: inout [UInt8]) {
        result.append(UInt8(ascii: "\n"))
        result += repeatElement(UInt8(ascii: " "), count: 2 * depth)
    }
}
