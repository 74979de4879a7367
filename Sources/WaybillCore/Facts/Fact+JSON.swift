/// Writes a fact in the format of `Schemas/fact.v1.schema.json`, without members that are empty, false or `nil`.
extension Fact {
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        switch content {
        case .opened(let content):
            head(content.isJoined ? "joined" : "begun", to: &writer)
            writer.member("transaction", content.transaction)
            writer.member("use_case", content.useCase)
            if content.timeoutMicroseconds != Opened.usualTimeoutMicroseconds {
                writer.member("timeout_us", content.timeoutMicroseconds)
            }
            if let cause = content.cause {
                writer.key("cause")
                writer.beginObject()
                writer.member("source", cause.source)
                writer.member("sequence", cause.sequence)
                writer.endObject()
            }
            if let parent = content.parent { writer.member("parent", parent) }
            writer.member("parent_part", content.parentPart)
            writer.member("attributes", content.attributes)
            writer.members(content.sampling)
        case .event(let content):
            head("event", to: &writer)
            writer.member("event", content.code)
            writer.member("error", content.error)
            writer.member("attributes", content.attributes)
        case .attributesSet(let content):
            head("attributes_set", to: &writer)
            writer.member("attributes", content.attributes)
            writer.member("removed", content.removed)
        case .closed(let content):
            head("finished", to: &writer)
            writer.member("outcome", content.outcome.name)
            writer.member("error", content.error)
            writer.member("attributes", content.attributes)
        case .exchangeOpened(let content):
            head("exchange_begun", to: &writer)
            writer.member("role", content.role.name)
            writer.member("method", content.method)
            writer.member("scheme", content.scheme)
            writer.member("host", content.host)
            writer.member("port", content.port)
            writer.member("path", content.path)
            writer.member("query", content.query)
            writer.member("headers", content.headerFields)
        case .exchangeClosed(let content):
            head("exchange_finished", to: &writer)
            writer.member("exchange", content.exchange)
            writer.member("state", content.state.name)
            writer.member("status", content.status)
            writer.member("first_byte_us", content.firstByteAtMicroseconds)
            writer.member("sent_bytes", content.sentByteCount)
            writer.member("received_bytes", content.receivedByteCount)
            writer.member("headers", content.headerFields)
            writer.member("error", content.error)
            writer.members(content.transfer)
        case .unknown(let content):
            writer.member("kind", content.kind)
            numbers(to: &writer)
            writer.members(Array(content.members.utf8.dropFirst().dropLast()))
        }
        writer.endObject()
    }

    private func head(_ kind: StaticString, to writer: inout JSONWriter) {
        writer.member("kind", word: kind)
        numbers(to: &writer)
    }

    private func numbers(to writer: inout JSONWriter) {
        writer.member("sequence", sequence)
        writer.member("part", part)
        writer.member("at_us", atMicroseconds)
    }
}

extension ExchangeRole {
    package var name: String {
        switch self {
        case .client: "client"
        case .server: "server"
        }
    }
}

extension ExchangeState {
    package var name: String {
        switch self {
        case .completed: "completed"
        case .failed: "failed"
        case .cancelled: "cancelled"
        }
    }
}

/// A value that stores keep as a number and answers contain as a word.
package protocol Named: CaseIterable {
    var name: String { get }
}

extension Named {
    fileprivate static func decode(_ decoder: any Decoder) throws -> Self {
        let container = try decoder.singleValueContainer()
        let word = try container.decode(String.self)
        guard let value = allCases.first(where: { $0.name == word }) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "None of \(allCases.map(\.name).joined(separator: ", ")).")
        }
        return value
    }

    fileprivate func encodeName(to encoder: any Encoder) throws { try name.encode(to: encoder) }
}

extension TransactionOutcome: Named, Codable {
    public init(from decoder: any Decoder) throws { self = try .decode(decoder) }
    public func encode(to encoder: any Encoder) throws { try encodeName(to: encoder) }
}

extension TransactionOutcome: CodingKeyRepresentable {
    /// The word. Counts by outcome are members with these names.
    public var codingKey: any CodingKey { MemberKey(stringValue: name) }

    public init?(codingKey: some CodingKey) {
        let name = codingKey.stringValue
        guard let outcome = Self.allCases.first(where: { $0.name == name || $0.name.camelCase == name }) else {
            return nil
        }
        self = outcome
    }
}

extension ExchangeRole: Named, Codable {
    public init(from decoder: any Decoder) throws { self = try .decode(decoder) }
    public func encode(to encoder: any Encoder) throws { try encodeName(to: encoder) }
}

extension ExchangeState: Named, Codable {
    public init(from decoder: any Decoder) throws { self = try .decode(decoder) }
    public func encode(to encoder: any Encoder) throws { try encodeName(to: encoder) }
}

extension Fact.ExchangeOpened {
    package var url: String {
        var url = scheme.map { "\($0)://" } ?? ""
        url += host ?? ""
        if let port { url += ":\(port)" }
        url += path
        if let query { url += "?\(query)" }
        return url
    }
}

extension [HeaderField] {
    package func value(for name: String) -> String? { first { $0.name.isSameFieldName(as: name) }?.value }
}

extension String {
    /// Ignores ASCII case (RFC 9110, section 5.1). Foundation's comparison takes twenty times as long.
    fileprivate func isSameFieldName(as other: String) -> Bool {
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        return utf8.count == other.utf8.count
            && zip(utf8, other.utf8).allSatisfy { $0 == $1 || ($0 ^ $1 == 0x20 && letters.contains($0 | 0x20)) }
    }
}

extension JSONWriter {
    /// Writes attributes sorted by name, for a deterministic result.
    package mutating func attributes(_ attributes: Attributes) {
        beginObject()
        if attributes.count < 2 {
            for (name, value) in attributes { attribute(name, value) }
        } else {
            for (name, value) in attributes.sortedByName { attribute(name, value) }
        }
        endObject()
    }

    private mutating func attribute(_ name: String, _ value: AttributeValue) {
        key(name)
        switch value {
        case .string(let value): string(value)
        case .integer(let value): integer(value)
        case .double(let value): double(value)
        case .bool(let value): bool(value)
        }
    }

    /// `{"domain": "Shop.CheckoutError", "code": 3, "name": "rejected", "underlying": [...], "text": "..."}`
    @inline(never)
    package mutating func error(_ error: RecordedError) {
        beginObject()
        member("domain", error.domain)
        member("code", error.code)
        member("name", error.name)
        member("underlying", error.underlying)
        member("text", error.text)
        endObject()
    }

    /// `[{"domain": "NSURLErrorDomain", "code": -1001}, ...]`, nearest first.
    @inline(never)
    package mutating func underlying(_ errors: [RecordedError.Underlying]) {
        objects(errors) { error, writer in
            writer.member("domain", error.domain)
            writer.member("code", error.code)
            writer.member("name", error.name)
        }
    }

    @inline(never)
    package mutating func headerFields(_ fields: [HeaderField]) {
        beginArray()
        for field in fields {
            beginArray()
            string(field.name)
            string(field.value)
            endArray()
        }
        endArray()
    }

    package mutating func texts(_ texts: [String]) {
        beginArray()
        for text in texts { string(text) }
        endArray()
    }

    // MARK: Members

    /// Omits `nil`.
    @inline(__always)
    private mutating func member<Value>(_ name: StaticString, _ value: Value?, _ write: (inout Self, Value) -> Void) {
        guard let value else { return }
        key(name)
        write(&self, value)
    }

    package mutating func member(_ name: StaticString, _ value: Int) { member(name, Int64(value)) }
    package mutating func member(_ name: StaticString, _ value: Int64) { member(name, value) { $0.integer($1) } }
    package mutating func member(_ name: StaticString, word: StaticString) { member(name, word) { $0.word($1) } }
    package mutating func member(_ name: StaticString, _ value: GUID) { member(name, value) { $0.guid($1) } }
    package mutating func member(_ name: StaticString, _ value: Int?) { member(name, value.map { Int64($0) }) }
    package mutating func member(_ name: StaticString, _ value: Int64?) { member(name, value) { $0.integer($1) } }
    package mutating func member(_ name: StaticString, _ value: String?) { member(name, value) { $0.string($1) } }
    package mutating func member(_ name: StaticString, _ value: RecordedError?) { member(name, value) { $0.error($1) } }

    package mutating func member(_ name: StaticString, _ value: String) {
        member(name, value.isEmpty ? nil : value) { $0.string($1) }
    }

    package mutating func member(_ name: StaticString, _ value: Bool) {
        member(name, value ? true : nil) { $0.bool($1) }
    }

    package mutating func member(_ name: StaticString, _ value: Attributes) {
        member(name, value.isEmpty ? nil : value) { $0.attributes($1) }
    }

    package mutating func member(_ name: StaticString, _ value: [HeaderField]) {
        member(name, value.isEmpty ? nil : value) { $0.headerFields($1) }
    }

    package mutating func member(_ name: StaticString, _ value: [String]) {
        member(name, value.isEmpty ? nil : value) { $0.texts($1) }
    }

    package mutating func member(_ name: StaticString, _ value: [RecordedError.Underlying]) {
        member(name, value.isEmpty ? nil : value) { $0.underlying($1) }
    }
}
