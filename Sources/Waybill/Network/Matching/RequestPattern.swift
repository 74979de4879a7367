public import Foundation
import WaybillCore

/// Which requests are meant: those that meet every condition that is given; without any, all of them.
///
/// Conditions look at the request as it is sent, before anything is redacted. Hosts, methods and the names of header
/// fields have no case (a method has one by RFC 9110, but no two registered methods differ by case alone); everything
/// else goes by its pattern.
///
/// ## Usage
///
/// ```swift
/// var pattern = RequestPattern(method: "POST", path: .glob("/v1/*"))
/// pattern.headerFields["Accept"] = .contains("json")
/// ```
public struct RequestPattern: Sendable, Hashable {
    /// The method, in any case; nil: any.
    public var method: TextPattern? { didSet { anyCaseMethod = method?.ignoringCase } }
    /// The whole URL as it is written, without its fragment; nil: any.
    public var url: TextPattern?
    /// The host, without port, in any case; nil: any, or none.
    public var host: TextPattern? { didSet { anyCaseHost = host?.ignoringCase } }
    /// The path as it is on the wire, percent-encoded, `/` where the URL has none; nil: any.
    public var path: TextPattern?
    /// Header fields that must be there, by name, with a value that matches; of a field that comes twice, one is
    /// enough.
    public var headerFields: [String: TextPattern]
    /// The body, of which ``TextPattern/longestText`` bytes are looked at; a body that comes from a stream or a file is
    /// not looked at, and does not match. nil: any, or none.
    public var body: TextPattern?
    private var anyCaseMethod: TextPattern?
    private var anyCaseHost: TextPattern?

    /// Makes a pattern of conditions; those left out are met by every request.
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
        anyCaseMethod = method?.ignoringCase
        anyCaseHost = host?.ignoringCase
    }

    /// Whether a request meets every condition.
    ///
    /// The body is asked for only where there is a condition for it and all others are met; nil: there is none to look
    /// at.
    public func matches(_ request: ExchangeRequest, body: @autoclosure () -> Data? = nil) -> Bool {
        guard anyCaseMethod?.matches(request.method) ?? true, meetsAddress(request.url),
            meetsFields(request.headerFields)
        else {
            return false
        }
        return self.body.map { pattern in body().map(pattern.matches) ?? false } ?? true
    }

    private func meetsAddress(_ address: URL) -> Bool {
        guard anyCaseHost?.matches(address.host() ?? "") ?? true else { return false }
        if let path {
            let sent = address.path(percentEncoded: true)
            guard path.matches(sent.isEmpty ? "/" : sent) else { return false }
        }
        return url?.matches(String(address.absoluteString.prefix { $0 != "#" })) ?? true
    }

    private func meetsFields(_ fields: [HeaderField]) -> Bool {
        headerFields.allSatisfy { name, pattern in
            fields.contains { $0.name.lowercased() == name.lowercased() && pattern.matches($0.value) }
        }
    }

    /// Why it can never match; empty where it can.
    var problems: [WaybillError] {
        ([method, url, host, path, body] + headerFields.sorted { $0.key < $1.key }.map(\.value)).compactMap {
            $0?.problem
        }
    }
}

extension RequestPattern: Codable {
    private enum Member: String, CodingKey, CaseIterable {
        case method, url, host, path
        case headerFields = "headers"
        case body
    }

    /// Reads a pattern: an object with any of `method`, `url`, `host`, `path`, `headers` (an object of names and
    /// patterns) and `body`.
    ///
    /// - Throws: `DecodingError` with where, also for a member that is not known: to ignore a condition would be to
    ///   match more.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.members(Member.self)
        self.init(
            method: try members.value(TextPattern.self, .method), url: try members.value(TextPattern.self, .url),
            host: try members.value(TextPattern.self, .host), path: try members.value(TextPattern.self, .path),
            headerFields: try members.value([String: TextPattern].self, .headerFields) ?? [:],
            body: try members.value(TextPattern.self, .body))
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Member.self)
        try members.encodeIfPresent(method, forKey: .method)
        try members.encodeIfPresent(url, forKey: .url)
        try members.encodeIfPresent(host, forKey: .host)
        try members.encodeIfPresent(path, forKey: .path)
        if !headerFields.isEmpty { try members.encode(headerFields, forKey: .headerFields) }
        try members.encodeIfPresent(body, forKey: .body)
    }
}

/// How objects are read that people write by hand: what is missing, misspelt or of the wrong kind is told, with where.
extension Decoder {
    /// The members of an object.
    ///
    /// - Throws: `DecodingError` for a member that is not known: to ignore a misspelt condition would be to match more.
    func members<Key: CodingKey & CaseIterable>(_: Key.Type) throws -> KeyedDecodingContainer<Key> {
        let names = try container(keyedBy: AnyMember.self).allKeys
        if let unknown = names.first(where: { Key(stringValue: $0.stringValue) == nil }) {
            let known = Key.allCases.map(\.stringValue).joined(separator: ", ")
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: codingPath + [unknown],
                    debugDescription: "unknown name; use one of \(known)"))
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
        case is any FixedWidthInteger.Type: "an integer was expected"
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
