import Foundation

/// The recorded form of an error: its domain, code and name, and its underlying errors.
///
/// The text is recorded only if the manager's options ask for it. Errors are displayed, counted and found by domain and
/// name, because an enum case's code changes when earlier cases change. Errors without a name use the code.
public struct RecordedError: Hashable, Sendable {
    /// Defines the code, e.g. `NSURLErrorDomain` or `MyApp.LoginError`; empty for a bare number.
    public var domain: String
    /// The error code.
    public var code: Int64
    /// The name, e.g. an enum's case without its payload: `rejected`; `nil` if the error has none.
    public var name: String?
    /// The underlying errors, nearest first; at most 4 are recorded.
    public var underlying: [Underlying]
    /// The redacted description; `nil` unless requested.
    public var text: String?

    /// Creates an error to record.
    public init(
        domain: String = "", code: Int64, name: String? = nil, underlying: [Underlying] = [], text: String? = nil
    ) {
        self.domain = domain
        self.code = code
        self.name = name
        self.underlying = underlying
        self.text = text
    }

    /// An underlying error.
    public struct Underlying: Hashable, Sendable {
        /// Defines the code; empty for a bare number.
        public var domain: String
        /// The error code.
        public var code: Int64
        /// The name; `nil` if the error has none.
        public var name: String?

        /// Creates an underlying error to record.
        public init(domain: String = "", code: Int64, name: String? = nil) {
            self.domain = domain
            self.code = code
            self.name = name
        }
    }
}

extension RecordedError: Error {}

extension RecordedError {
    /// The key for counting errors. It excludes the text, the underlying errors, and the code of a named error.
    package var group: RecordedError { RecordedError(domain: domain, code: name == nil ? code : 0, name: name) }

    package var chain: [Underlying] { [Underlying(domain: domain, code: code, name: name)] + underlying }
}

extension RecordedError: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: MemberKey.self)
        domain = try container.decodeIfPresent(String.self, forKey: "domain") ?? ""
        code = try container.decode(Int64.self, forKey: "code")
        name = try container.decodeIfPresent(String.self, forKey: "name")
        underlying = try container.decodeIfPresent([Underlying].self, forKey: "underlying") ?? []
        text = try container.decodeIfPresent(String.self, forKey: "text")
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: MemberKey.self)
        try container.encode(domain, forKey: "domain")
        try container.encode(code, forKey: "code")
        try container.encodeIfPresent(name, forKey: "name")
        if !underlying.isEmpty { try container.encode(underlying, forKey: "underlying") }
        try container.encodeIfPresent(text, forKey: "text")
    }
}

extension RecordedError.Underlying: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: MemberKey.self)
        domain = try container.decodeIfPresent(String.self, forKey: "domain") ?? ""
        code = try container.decode(Int64.self, forKey: "code")
        name = try container.decodeIfPresent(String.self, forKey: "name")
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: MemberKey.self)
        try container.encode(domain, forKey: "domain")
        try container.encode(code, forKey: "code")
        try container.encodeIfPresent(name, forKey: "name")
    }
}

/// An error that defines how it is recorded. Every requirement has a default.
///
/// ## Usage
///
/// ```swift
/// extension CheckoutError: RecordableError {
///     static var recordedDomain: String { "checkout" }     // as it stays when the type is moved or renamed
///     var recordedCode: Int { status }
/// }
/// ```
public protocol RecordableError: Error {
    /// The domain of codes and names. Default: `CustomNSError`'s domain, or the type's name with its module.
    static var recordedDomain: String { get }
    /// The error code. Default: `CustomNSError`'s code, or the number that Swift gives an enum's case.
    var recordedCode: Int { get }
    /// A constant name without values; `nil` for none. Default: the name of an enum's case.
    var recordedName: String? { get }
    /// The underlying error; `nil` for none. Default: the value of `NSUnderlyingErrorKey`, or an enum's payload.
    var recordedUnderlying: (any Error)? { get }
    /// Whether the error means cancellation: the transaction is then cancelled and not failed. Default: false.
    var recordedAsCancelled: Bool { get }
}

extension RecordableError {
    public static var recordedDomain: String {
        (self as? any CustomNSError.Type)?.errorDomain ?? ErrorIdentity.domain(String(reflecting: self))
    }
    public var recordedCode: Int { (self as NSError).code }
    public var recordedName: String? { ErrorIdentity.caseName(of: self) }
    public var recordedUnderlying: (any Error)? { ErrorIdentity.underlying(self, as: self as NSError) }
    public var recordedAsCancelled: Bool { false }
}

extension RecordedError {
    /// Creates the recorded form of an error, through ``RecordableError`` or `CustomNSError` if the type conforms.
    ///
    /// Otherwise, uses the type's name, and an enum case's number and name. Takes a few microseconds on the caller's
    /// thread, mostly in Foundation's conversion to `NSError`.
    ///
    /// - Parameters:
    ///   - error: The error to record.
    ///   - includingText: Whether to keep the text: `LocalizedError`'s description if there is one.
    public init(_ error: any Error, includingText: Bool) {
        if let recorded = error as? RecordedError {
            self = recorded
            return
        }
        let bridged = error as NSError
        let identity = ErrorIdentity.of(error, as: bridged)
        self.init(domain: identity.domain, code: identity.code, name: identity.name)
        var last = (error: error, bridged: bridged, identity: identity)
        // Bounded, because errors can form a cycle.
        for _ in 0..<2 * Limits.underlyingErrors where underlying.count < Limits.underlyingErrors {
            guard let next = ErrorIdentity.behind(last.error, as: last.bridged) else { break }
            if let recorded = next as? RecordedError {
                underlying += recorded.chain.prefix(Limits.underlyingErrors - underlying.count)
                break
            }
            let bridged = next as NSError
            let identity = ErrorIdentity.of(next, as: bridged)
            // Foundation on Linux repeats the error inside a `URLError`; the repetition adds nothing.
            if identity != last.identity { underlying.append(identity) }
            last = (next, bridged, identity)
        }
        guard includingText else { return }
        text =
            (error as? any LocalizedError)?.errorDescription
            ?? bridged.userInfo[NSLocalizedDescriptionKey] as? String ?? "\(error)"
    }
}

extension Error {
    /// Whether this error or one of its underlying errors meets a condition. Bounded, because errors can form a cycle.
    package func isCaused(where condition: (any Error) -> Bool) -> Bool {
        var next: (any Error)? = self
        for _ in 0...Limits.underlyingErrors {
            guard let error = next else { break }
            if condition(error) { return true }
            next = ErrorIdentity.behind(error, as: error as NSError)
        }
        return false
    }
}

enum ErrorIdentity {
    static func of(_ error: any Error, as bridged: NSError) -> RecordedError.Underlying {
        guard let own = error as? any RecordableError else {
            return RecordedError.Underlying(
                domain: domain(bridged.domain), code: Int64(bridged.code), name: caseName(of: error))
        }
        return RecordedError.Underlying(
            domain: type(of: own).recordedDomain, code: Int64(own.recordedCode), name: own.recordedName)
    }

    static func behind(_ error: any Error, as bridged: NSError) -> (any Error)? {
        if let own = error as? any RecordableError { return own.recordedUnderlying }
        return underlying(error, as: bridged)
    }

    static func underlying(_ error: any Error, as bridged: NSError) -> (any Error)? {
        if let underlying = bridged.userInfo[NSUnderlyingErrorKey] as? any Error { return underlying }
        guard let payload = enumMirror(of: error)?.children.first?.value else { return nil }
        if let underlying = payload as? any Error { return underlying }
        let values = Mirror(reflecting: payload)
        guard values.displayStyle == .tuple else { return nil }
        for value in values.children.prefix(maximumPayload) {
            if let underlying = value.value as? any Error { return underlying }
        }
        return nil
    }

    /// `nil` for types with a custom description, which may expose secrets, unless the case has a payload.
    static func caseName(of error: some Error) -> String? {
        guard let mirror = enumMirror(of: error) else { return nil }
        if let child = mirror.children.first { return child.label }
        // Checks the type, because a bridged value can have a description that its type lacks.
        let type = type(of: error)
        let hasDescription =
            type is any CustomStringConvertible.Type || type is any CustomDebugStringConvertible.Type
            || type is any TextOutputStreamable.Type
        return hasDescription ? nil : String(describing: error)
    }

    /// Removes the context of a private or local type from its name: it contains an address, which differs per run.
    static func domain(_ typeName: String) -> String {
        guard typeName.utf8.contains(UInt8(ascii: "(")) else { return typeName }
        var (name, rest) = ("", typeName[...])
        while let start = rest.range(of: "(unknown context at $"), let end = rest[start.upperBound...].range(of: ").") {
            name += rest[..<start.lowerBound]
            rest = rest[end.upperBound...]
        }
        return name + rest
    }

    private static let maximumPayload = 8

    private static func enumMirror(of error: any Error) -> Mirror? {
        // A class has no cases, and a cast would bridge any value.
        guard !(type(of: error) is AnyClass) else { return nil }
        let mirror = Mirror(reflecting: error)
        return mirror.displayStyle == .enum ? mirror : nil
    }
}
