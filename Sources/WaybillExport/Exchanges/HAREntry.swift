import Foundation
import WaybillCore
import WaybillQueries
import WaybillStore

/// An exchange as an entry of an HTTP Archive: http://www.softwareishard.com/blog/har-12-spec.
///
/// Unknown sizes are -1. Cookies are not listed, since their header fields are redacted.
struct HAREntry {
    private let record: ExchangeRecord
    private let bodies: ExchangeBodies
    private let messages: WebSocketMessages
    /// The number of the redirect that this entry ends with, from 1; `nil` for the entry with the response.
    private let redirect: Int?

    private var exchange: TransactionRecord.Exchange { record.exchange }

    private init(_ record: ExchangeRecord, _ bodies: ExchangeBodies, redirect: Int? = nil) {
        self.record = record
        self.bodies = bodies.withoutMessages
        messages = WebSocketMessages(of: record.exchange, bodies)
        self.redirect = redirect
    }

    /// Returns one entry per followed redirect, and one for the response.
    ///
    /// Only the first request was recorded. Others repeat it as in the Fetch standard, "HTTP-redirect fetch".
    static func entries(of record: Redacted<ExchangeRecord>, bodies: Redacted<ExchangeBodies>) -> [HAREntry] {
        var (rest, bodies, entries) = (record.value, bodies.value, [HAREntry]())
        for (index, redirect) in record.value.exchange.transfer.redirects.enumerated() {
            var hop = rest
            // A damaged record may have times out of order.
            let end = min(
                max(redirect.atMicroseconds, hop.exchange.openedMicroseconds), hop.exchange.closedMicroseconds ?? .max)
            (hop.state, hop.exchange.state, hop.exchange.status) = (.completed, .completed, redirect.status)
            (hop.exchange.closedMicroseconds, hop.exchange.firstByteMicroseconds) = (end, end)
            (hop.exchange.receivedByteCount, hop.exchange.error) = (nil, nil)
            hop.exchange.responseHeaderFields = [HeaderField(name: "Location", value: redirect.url)]
            hop.exchange.transfer = Fact.Transfer()
            entries.append(HAREntry(hop, ExchangeBodies(request: bodies.withoutMessages.request), redirect: index + 1))

            rest.exchange.openedMicroseconds = end
            rest.exchange.url = redirect.url
            let (method, status) = (rest.exchange.method, redirect.status)
            guard status == 303 && method != "HEAD" || (301...302).contains(status) && method == "POST" else {
                continue
            }
            (rest.exchange.method, rest.exchange.sentByteCount, bodies.request) = ("GET", 0, nil)
            rest.exchange.requestHeaderFields.removeAll { $0.name.lowercased().hasPrefix("content-") }
        }
        return entries + [HAREntry(rest, bodies)]
    }

    func write(to writer: inout JSONWriter) {
        let timing = ExchangeTiming(exchange)
        writer.beginObject()
        if let transaction = record.transaction { writer.member("pageref", transaction) }
        writer.member("startedDateTime", Words.iso8601(exchange.openedMicroseconds))
        writer.member("time", milliseconds: timing?.total ?? 0)
        writer.object("request", writeRequest)
        writer.object("response", writeResponse)
        writer.object("cache") { _ in }
        writer.object("timings") { write(timing, to: &$0) }
        writer.member("comment", comment)
        if exchange.transfer.webSocket != nil || !messages.rows.isEmpty { writeMessages(to: &writer) }
        writer.object("_waybill", writeOwn)
        writer.endObject()
    }

    // MARK: Request

    private func writeRequest(to writer: inout JSONWriter) {
        writer.member("method", text: exchange.method)
        writer.member("url", text: absoluteURL)
        writeHead(exchange.requestHeaderFields, to: &writer)
        writer.pairs("queryString", query)
        if let body = bodies.request, body.isKept {
            writer.object("postData") {
                $0.member("mimeType", text: body.contentType ?? "")
                write(body, to: &$0)
            }
        }
        writer.member("headersSize", -1)
        writer.member("bodySize", exchange.sentByteCount ?? -1)
    }

    /// HAR requires scheme and host, but a server may know neither.
    private var absoluteURL: String {
        if exchange.url.contains("://") { return exchange.url }
        return exchange.url.hasPrefix("/") ? "http://unknown.invalid\(exchange.url)" : "http://\(exchange.url)"
    }

    private var query: [(String, String)] {
        PercentEncoding.fields(of: exchange.url.drop { $0 != "?" }.dropFirst()).map { ($0.name, $0.value) }
    }

    // MARK: Response

    private func writeResponse(to writer: inout JSONWriter) {
        let (fields, wireByteCount) = (exchange.responseHeaderFields, exchange.transfer.receivedWireByteCount)
        // Browsers also write 0 without a response.
        writer.member("status", exchange.status ?? 0)
        writer.member("statusText", text: "")
        writeHead(fields, to: &writer)
        writer.object("content") { writer in
            writer.member("size", exchange.receivedByteCount ?? -1)
            if let size = exchange.receivedByteCount, let wireByteCount {
                writer.member("compression", size - wireByteCount)
            }
            writer.member("mimeType", text: bodies.response?.contentType ?? fields.value(for: "Content-Type") ?? "")
            if let body = bodies.response { write(body, to: &writer) }
        }
        let location = (300..<400).contains(exchange.status ?? 0) ? fields.value(for: "Location") : nil
        writer.member("redirectURL", text: location ?? "")
        writer.member("headersSize", -1)
        writer.member("bodySize", wireByteCount ?? plainByteCount ?? -1)
        if let error = exchange.error { writer.member("_error", Words.error(error)) }
    }

    /// The size of an uncompressed body; `nil` if unknown.
    private var plainByteCount: Int64? {
        let fields = exchange.responseHeaderFields
        guard !fields.isEmpty, fields.value(for: "Content-Encoding").map({ $0.lowercased() == "identity" }) ?? true
        else { return nil }
        return exchange.receivedByteCount
    }

    // MARK: Both

    private func writeHead(_ fields: [HeaderField], to writer: inout JSONWriter) {
        writer.member("httpVersion", text: exchange.transfer.httpVersion.map { "HTTP/\($0)" } ?? "")
        writer.pairs("cookies", [])
        writer.pairs("headers", fields.map { ($0.name, $0.value) })
    }

    private func write(_ body: ExchangeBody, to writer: inout JSONWriter) {
        if body.isKept {
            let text = body.text
            writer.member("text", text: text ?? Data(body.bytes).base64EncodedString())
            if text == nil { writer.member("encoding", word: "base64") }
        }
        writer.member("comment", body.lack)
        writer.member("_omission", body.omission?.rawValue)
    }

    private func write(_ timing: ExchangeTiming?, to writer: inout JSONWriter) {
        let connecting = [timing?.connect, timing?.secure].compactMap(\.self)
        writer.member("blocked", -1)
        writer.member("dns", milliseconds: timing?.lookup)
        // HAR includes TLS in this time, for compatibility with version 1.1.
        writer.member("connect", milliseconds: connecting.isEmpty ? nil : connecting.reduce(0, +))
        writer.member("ssl", milliseconds: timing?.secure)
        // HAR requires these three; unmeasured time counts toward the next one.
        writer.member("send", milliseconds: timing?.send ?? 0)
        writer.member("wait", milliseconds: timing?.wait ?? 0)
        writer.member("receive", milliseconds: timing?.receive ?? 0)
    }

    // MARK: What HAR has no place for

    private var comment: String? {
        switch record.state {
        case .completed: nil
        case .mocked:
            exchange.transfer.rule.map { "Answered by the rule \($0); no server was asked." } ?? "No server was asked."
        case .failed: exchange.error.map { "Failed: \(Words.error($0))" } ?? "Failed."
        case .cancelled: "Cancelled."
        case .inProgress: "Still in progress."
        case .interrupted: "No end was recorded: the process ended before."
        }
    }

    /// Writes messages as browsers do.
    private func writeMessages(to writer: inout JSONWriter) {
        writer.member("_resourceType", word: "websocket")
        writer.key("_webSocketMessages")
        writer.objects(messages.rows) { row, writer in
            writer.member("type", word: row.isSent ? "send" : "receive")
            writer.key("time")
            writer.double(Double(row.timeMicroseconds ?? exchange.openedMicroseconds) / 1e6)
            writer.member("opcode", row.opcode)
            writer.member("data", text: row.text ?? row.kept.map { Data($0.bytes).base64EncodedString() } ?? "")
            writer.member("_bytes", row.byteCount)
            writer.member("_lack", row.kept == nil || row.kept?.isCut == true ? row.lack : nil)
        }
    }

    private func writeOwn(to writer: inout JSONWriter) {
        if let transaction = record.transaction {
            writer.member("transaction", transaction)
            writer.member("support_code", transaction.supportCode.description)
        }
        writer.member("use_case", record.useCase)
        writer.member("use_case_name", record.useCaseName)
        writer.member("source", exchange.id.source)
        writer.member("app", record.source.app)
        writer.member("app_version", record.source.appVersion)
        writer.member("sequence", exchange.id.sequence)
        writer.member("part", exchange.part)
        writer.member("role", exchange.role.name)
        writer.member("state", record.state.rawValue)
        writer.member("opened_us", exchange.openedMicroseconds)
        writer.member("first_byte_us", exchange.firstByteMicroseconds)
        writer.member("closed_us", exchange.closedMicroseconds)
        writer.member("redirect", redirect)
        writer.member("error", exchange.error)
        writer.members(exchange.transfer)
    }
}

extension JSONWriter {
    mutating func object(_ name: StaticString, _ members: (inout JSONWriter) -> Void) {
        key(name)
        beginObject()
        members(&self)
        endObject()
    }

    /// Writes a text even if it is empty.
    mutating func member(_ name: StaticString, text: String) {
        key(name)
        string(text)
    }

    fileprivate mutating func pairs(_ name: StaticString, _ pairs: [(String, String)]) {
        key(name)
        objects(pairs) { pair, json in
            json.member("name", text: pair.0)
            json.member("value", text: pair.1)
        }
    }

    /// Writes exact milliseconds, with up to three decimals; -1 for `nil`.
    fileprivate mutating func member(_ name: StaticString, milliseconds microseconds: Int64?) {
        guard let microseconds else { return member(name, -1) }
        key(name)
        // Division yields the `Double` nearest to the exact decimal value.
        if microseconds.isMultiple(of: 1000) {
            integer(microseconds / 1000)
        } else {
            double(Double(microseconds) / 1000)
        }
    }
}

struct HARPages {
    private var known: Set<GUID> = []
    private var writer = JSONWriter()

    init() { writer.beginArray() }

    mutating func add(_ record: ExchangeRecord) {
        guard let transaction = record.transaction, known.insert(transaction).inserted else { return }
        writer.beginObject()
        writer.member("startedDateTime", Words.iso8601(record.exchange.openedMicroseconds))
        writer.member("id", transaction)
        writer.member("title", "\(record.useCaseName ?? "transaction") \(transaction.supportCode)")
        writer.object("pageTimings") {
            $0.member("onContentLoad", -1)
            $0.member("onLoad", -1)
        }
        writer.endObject()
    }

    /// Firefox's importer requires the array, even if it is empty.
    var json: [UInt8] {
        var whole = writer
        whole.endArray()
        return whole.bytes
    }
}
