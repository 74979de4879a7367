/// How objects are read that people write by hand: what is missing, misspelt or of the wrong kind is told, with where.
extension Decoder {
    /// The members of an object.
    ///
    /// - Parameter knowsAll: Whether a member that is not known is an error: where to ignore a condition would be to match more.
    func members<Key: CodingKey>(_: Key.Type, knowsAll: Bool = false) throws -> KeyedDecodingContainer<Key> {
        if knowsAll {
            let names = try container(keyedBy: AnyMember.self).allKeys
            if let unknown = names.first(where: { Key(stringValue: $0.stringValue) == nil }) {
                throw DecodingError.dataCorrupted(
                    DecodingError.Context(codingPath: codingPath + [unknown], debugDescription: "nothing of that name is known"))
            }
        }
        return try container(keyedBy: Key.self)
    }

    /// A value that was read and is not right.
    func failure(_ message: String) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: codingPath, debugDescription: message))
    }
}

extension KeyedDecodingContainer {
    /// The value of a member; nil where it is absent, but not where it is `null`.
    func value<Value: Decodable>(_: Value.Type, _ key: Key) throws -> Value? {
        contains(key) ? try decode(Value.self, forKey: key) : nil
    }

    /// A value that was read and is not right.
    func failure(_ key: Key, _ message: String) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: codingPath + [key], debugDescription: message))
    }
}

/// A member of whatever name.
private struct AnyMember: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}
