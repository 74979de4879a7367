extension Fact.Role {
    /// The word used in sets and in answers.
    public var name: String {
        switch self {
        case .client: "client"
        case .server: "server"
        }
    }
}

extension Fact.ExchangeState {
    /// The word used in sets and in answers.
    public var name: String {
        switch self {
        case .completed: "completed"
        case .failed: "failed"
        case .canceled: "canceled"
        }
    }
}

/// A value that is a number in a store and a word in answers.
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

    fileprivate func encodeName(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(name)
    }
}

extension TransactionOutcome: Named, Codable {
    public init(from decoder: any Decoder) throws { self = try .decode(decoder) }
    public func encode(to encoder: any Encoder) throws { try encodeName(to: encoder) }
}

extension TransactionOutcome: CodingKeyRepresentable {
    /// Counts by outcome are members of an object, named by the word.
    public var codingKey: any CodingKey { RecordKey(name) }

    public init?(codingKey: some CodingKey) {
        // A decoder of records has made it camel case.
        let name = codingKey.stringValue
        guard let outcome = Self.allCases.first(where: { $0.name == name || RecordKey.camelCase($0.name) == name })
        else { return nil }
        self = outcome
    }
}

extension Fact.Role: Named, Codable {
    public init(from decoder: any Decoder) throws { self = try .decode(decoder) }
    public func encode(to encoder: any Encoder) throws { try encodeName(to: encoder) }
}

extension Fact.ExchangeState: Named, Codable {
    public init(from decoder: any Decoder) throws { self = try .decode(decoder) }
    public func encode(to encoder: any Encoder) throws { try encodeName(to: encoder) }
}
