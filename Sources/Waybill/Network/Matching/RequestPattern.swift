public import Foundation
import WaybillCore

/// A pattern that matches requests which meet all its conditions. Without conditions, it matches all requests.
///
/// Conditions apply to the request before redaction. Hosts, methods and names of header fields ignore case.
///
/// ## Usage
///
/// ```swift
/// var pattern = RequestPattern(method: "POST", path: .glob("/v1/*"))
/// pattern.headerFields["Accept"] = .contains("json")
/// ```
public struct RequestPattern: Sendable, Equatable {
    /// The method, in any case; `nil` for any.
    public var method: TextPattern?
    /// The whole URL without its fragment; `nil` for any.
    public var url: TextPattern?
    /// The host without port, in any case; `nil` for any.
    public var host: TextPattern?
    /// The percent-encoded path, `/` for a URL without one; `nil` for any.
    public var path: TextPattern?
    /// Required header fields by name. At least one field of that name must match.
    public var headerFields: [String: TextPattern]
    /// The first ``TextPattern/maximumTextByteCount`` bytes of a body in memory; `nil` for any.
    public var body: TextPattern?

    /// Creates a pattern. Conditions that you omit match every request.
    public init(
        method: TextPattern? = nil, url: TextPattern? = nil, host: TextPattern? = nil, path: TextPattern? = nil,
        headerFields: [String: TextPattern] = [:], body: TextPattern? = nil
    ) {
        self.method = method
        self.url = url
        self.host = host
        self.path = path
        self.headerFields = headerFields
        self.body = body
    }

    /// Returns whether a request meets all conditions. `body` is only evaluated if all other conditions match.
    public func matches(_ request: ExchangeRequest, body: @autoclosure () -> Data? = nil) -> Bool {
        guard method?.ignoringCase.matches(request.method) ?? true, meetsAddress(request.url),
            meetsFields(request.headerFields)
        else {
            return false
        }
        return self.body.map { pattern in body().map(pattern.matches) ?? false } ?? true
    }

    private func meetsAddress(_ address: URL) -> Bool {
        guard host?.ignoringCase.matches(address.host() ?? "") ?? true, path?.matches(address.sentPath) ?? true else {
            return false
        }
        return url?.matches(String(address.absoluteString.prefix { $0 != "#" })) ?? true
    }

    private func meetsFields(_ fields: [HeaderField]) -> Bool {
        headerFields.allSatisfy { name, pattern in
            fields.contains { $0.name.lowercased() == name.lowercased() && pattern.matches($0.value) }
        }
    }

    var problems: [WaybillError] {
        ([method, url, host, path, body] + headerFields.ordered { $0.key < $1.key }.map(\.value)).compactMap {
            $0?.problem
        }
    }
}

extension RequestPattern: Codable {
    /// Decodes an object with any of `method`, `url`, `host`, `path`, `headers` (patterns by name) and `body`.
    ///
    /// - Throws: `DecodingError`, also for an unknown member, since ignoring one would match more requests.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.members("method", "url", "host", "path", "headers", "body")
        self.init(
            method: try members.value(TextPattern.self, "method"), url: try members.value(TextPattern.self, "url"),
            host: try members.value(TextPattern.self, "host"), path: try members.value(TextPattern.self, "path"),
            headerFields: try members.value([String: TextPattern].self, "headers") ?? [:],
            body: try members.value(TextPattern.self, "body"))
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: MemberKey.self)
        try members.encodeIfPresent(method, forKey: "method")
        try members.encodeIfPresent(url, forKey: "url")
        try members.encodeIfPresent(host, forKey: "host")
        try members.encodeIfPresent(path, forKey: "path")
        if !headerFields.isEmpty { try members.encode(headerFields, forKey: "headers") }
        try members.encodeIfPresent(body, forKey: "body")
    }
}

extension URL {
    var sentPath: String {
        let path = path(percentEncoded: true)
        return path.isEmpty ? "/" : path
    }
}

/// Decodes JSON that people write by hand.
extension Decoder {
    /// Throws for unknown members, since ignoring a misspelled condition would match more.
    func members(_ known: String...) throws -> KeyedDecodingContainer<MemberKey> {
        let members = try container(keyedBy: MemberKey.self)
        guard let unknown = members.allKeys.first(where: { !known.contains($0.stringValue) }) else { return members }
        throw DecodingError.dataCorrupted(
            DecodingError.Context(
                codingPath: codingPath + [unknown],
                debugDescription: "unknown name; use one of \(known.joined(separator: ", "))"))
    }

    func failure(_ message: String) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: codingPath, debugDescription: message))
    }
}

extension KeyedDecodingContainer<MemberKey> {
    /// Returns `nil` for an absent member, but throws for `null`.
    func value<Value: Decodable>(_: Value.Type, _ key: Key) throws -> Value? {
        contains(key) ? try decode(Value.self, forKey: key) : nil
    }

    func nested(_ key: Key) throws -> (any Decoder)? { contains(key) ? try superDecoder(forKey: key) : nil }

    func integer<Number: FixedWidthInteger & Decodable>(
        _ key: Key, in range: ClosedRange<Number> = 0...Number(clamping: Limits.largestInteger)
    ) throws -> Number? {
        guard let value = try value(Number.self, key) else { return nil }
        guard range.contains(value) else {
            throw failure(key, "an integer from \(range.lowerBound) to \(range.upperBound) was expected")
        }
        return value
    }

    func delay(_ key: Key, _ longestKey: Key) throws -> (Duration, longest: Duration?) {
        let shortest: Int64 = try integer(key) ?? 0
        let longest = try integer(longestKey, in: shortest...Limits.largestInteger)
        return (.microseconds(shortest), longest.map { .microseconds($0) })
    }

    func failure(_ key: Key, _ message: String) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: codingPath + [key], debugDescription: message))
    }
}

extension DecodingError {
    /// A JSON pointer (RFC 6901) and the message, without a full stop.
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
        case is any FixedWidthInteger.Type: "an integer was expected"
        case is Bool.Type: "true or false was expected"
        case is [Any].Type: "a list was expected"
        default: "an object was expected"
        }
    }
}
