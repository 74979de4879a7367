package import WaybillCore
package import WaybillQueries
import WaybillStore

package struct ExchangeText {
    package enum Tone { case strong, faint, bad, name, bar }

    /// Plain text has no tone.
    package typealias Line = [(text: String, tone: Tone?)]

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
        let title: Line = [("\(exchange.method) \(exchange.url)", .strong)]
        return [title, []] + facts + timing
            + message("REQUEST", exchange.requestHeaderFields, bodies.request)
            + message("RESPONSE", exchange.responseHeaderFields, bodies.response)
            + messages
    }

    package var text: String { lines.map { $0.map(\.text).joined() }.joined(separator: "\n") }

    private var facts: [Line] {
        var facts: [(name: String, value: String, tone: Tone?)] = [("state", state, exchange.hasFailed ? .bad : nil)]
        if let error = exchange.error { facts.append(("error", Words.error(error), .bad)) }
        facts.append(("opened", "\(Words.time(exchange.openedMicroseconds)) UTC", nil))
        for redirect in exchange.transfer.redirects {
            let after = Words.duration(redirect.atMicroseconds - exchange.openedMicroseconds)
            facts.append(("redirect", "\(redirect.status) after \(after) to \(redirect.url)", nil))
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
            if !known.isEmpty { facts.append((name, known.joined(separator: " · "), nil)) }
        }
        let width = facts.map(\.name.count).max() ?? 0
        return facts.map { [($0.name.padded(to: width), .faint), ("  ", nil), ($0.value, $0.tone)] }
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
            let duration = Words.duration(phase.duration).padded(to: 9, onLeft: true)
            return [(phase.name.padded(to: 8), .faint), ("\(duration)  ", nil), (bar, .bar)]
        }
        return Self.section("TIME", phases)
    }

    private static func bar(from start: Int64, to end: Int64, of total: Int64) -> String {
        let left = Int(start * 40 / total)
        let right = max(left + 1, Int(end * 40 / total))
        return String(repeating: " ", count: left) + String(repeating: "█", count: right - left)
    }

    private func message(_ title: String, _ fields: [HeaderField], _ body: ExchangeBody?) -> [Line] {
        let body = lines(of: body)
        guard !fields.isEmpty || !body.isEmpty else { return [] }
        let head: [Line] = fields.map { [("\($0.name):", .name), (" \($0.value)", nil)] }
        return Self.section(title, head + (body.isEmpty ? [] : [[]] + body))
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
            return Self.line(
                "\(row.isSent ? "→" : "←") \(time.padded(to: 9, onLeft: true)) \(size.padded(to: 9, onLeft: true))  \(said)"
            )
        }
        if let omission = webSocketMessages.omission {
            lines.insert(Self.line("(\(Words.count(omission.count, "message")) between)"), at: omission.place)
        }
        return Self.section("MESSAGES", lines)
    }

    private static func section(_ title: String, _ lines: [Line]) -> [Line] { [[], [(title, .faint)]] + lines }

    private static func line(_ text: String) -> Line { [(text, nil)] }

    private static let messageLength = 200

    private func lines(of body: ExchangeBody?) -> [Line] {
        guard let body else { return [] }
        let lack = body.lack.map { [Self.line("(\($0))")] } ?? []
        guard !body.bytes.isEmpty else { return lack }
        guard let text = body.text else {
            return [Self.line("(\(Words.byteCount(body.bytes.count)) that are no text)")] + lack
        }
        let shown = PrettyJSON.text(text) ?? text
        return shown.split(separator: "\n", omittingEmptySubsequences: false).map { Self.line(String($0)) } + lack
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
