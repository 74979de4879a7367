import WaybillCore

/// How objects are read that people write by hand: what is missing, misspelt or of the wrong kind is told, with where.
extension Decoder {
    /// The members of an object.
    ///
    /// - Throws: `DecodingError` for a member that is not known: to ignore a misspelt condition would be to match more.
    func members<Key: CodingKey>(_: Key.Type) throws -> KeyedDecodingContainer<Key> {
        let names = try container(keyedBy: AnyMember.self).allKeys
        if let unknown = names.first(where: { Key(stringValue: $0.stringValue) == nil }) {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: codingPath + [unknown], debugDescription: "nothing of that name is known"))
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

    /// An integer; nil where it is absent.
    func integer<Number: FixedWidthInteger & Decodable>(
        _ key: Key, in range: ClosedRange<Number> = 0...Number(clamping: Limits.largestInteger)
    ) throws -> Number? {
        guard let value = try value(Number.self, key) else { return nil }
        guard range.contains(value) else {
            throw failure(key, "an integer from \(range.lowerBound) to \(range.upperBound) was expected")
        }
        return value
    }

    /// A time in microseconds, 0 where it is absent, and the longest it may be drawn up to, which is not below it.
    func delay(_ key: Key, _ longestKey: Key) throws -> (Duration, longest: Duration?) {
        let shortest: Int64 = try integer(key) ?? 0
        let longest = try integer(longestKey, in: shortest...Limits.largestInteger)
        return (.microseconds(shortest), longest.map { .microseconds($0) })
    }

    /// The value of a member that must be there.
    func required<Value>(_ value: Value?, _ key: Key) throws -> Value {
        guard let value else {
            throw DecodingError.keyNotFound(key, DecodingError.Context(codingPath: codingPath, debugDescription: ""))
        }
        return value
    }

    /// A value that was read and is not right.
    func failure(_ key: Key, _ message: String) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: codingPath + [key], debugDescription: message))
    }
}

extension DecodingError {
    /// Where (RFC 6901) and what, in one sentence without a full stop.
    var placed: String {
        let (path, message): ([any CodingKey], String) =
            switch self {
            case .keyNotFound(let key, let context): (context.codingPath, "`\(key.stringValue)` is missing")
            case .typeMismatch(let type, let context), .valueNotFound(let type, let context):
                (context.codingPath, Self.expected(type))
            case .dataCorrupted(let context): (context.codingPath, context.debugDescription)
            @unknown default: ([], "it cannot be read")
            }
        let pointer = path.map { key in
            let token = key.intValue.map(String.init) ?? key.stringValue
            return "/" + token.replacing("~", with: "~0").replacing("/", with: "~1")
        }.joined()
        return pointer.isEmpty ? message : "\(pointer): \(message)"
    }

    private static func expected(_ type: Any.Type) -> String {
        switch type {
        case is String.Type: "a string was expected"
        case is Int.Type: "an integer was expected"
        case is Bool.Type: "true or false was expected"
        case is [Any].Type: "a list was expected"
        default: "an object was expected"
        }
    }
}

/// A member of any name.
private struct AnyMember: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}
