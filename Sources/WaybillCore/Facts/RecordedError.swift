import Foundation

/// What is kept of an error: who defines it, its code and name, and the errors behind it; its text only where the
/// manager was told to keep texts.
///
/// People see errors, count and find them by domain and name, where there is a name, else by domain and code: the code
/// of an enum's case changes when a case before it does, or when one gets a payload; its name does not.
public struct RecordedError: Hashable, Sendable {
    /// Who defines the code, e.g. `NSURLErrorDomain` or `MyApp.LoginError`; empty for a bare number.
    public var domain: String
    /// The number that says which error.
    public var code: Int64
    /// Which error in words, e.g. the case of an enum without its payload: `rejected`; nil where it has none.
    public var name: String?
    /// The errors behind it, from the nearest on; at most 4 are recorded.
    public var underlying: [Underlying]
    /// The error's own words, redacted; nil unless asked for.
    public var text: String?

    /// Makes a value to record.
    public init(
        domain: String = "", code: Int64, name: String? = nil, underlying: [Underlying] = [], text: String? = nil
    ) {
        self.domain = domain
        self.code = code
        self.name = name
        self.underlying = underlying
        self.text = text
    }

    /// An error that another one was made of.
    public struct Underlying: Hashable, Sendable {
        /// Who defines the code; empty for a bare number.
        public var domain: String
        /// The number that says which error.
        public var code: Int64
        /// Which error in words; nil where it has none.
        public var name: String?

        /// Makes a value to record.
        public init(domain: String = "", code: Int64, name: String? = nil) {
            self.domain = domain
            self.code = code
            self.name = name
        }
    }
}

extension RecordedError: Error {}

extension RecordedError {
    /// What errors are counted by: without its text, which may be worded differently each time, and what is behind it;
    /// by its name where it has one, since the code may differ between versions of an app.
    package var group: RecordedError { RecordedError(domain: domain, code: name == nil ? code : 0, name: name) }

    /// The error itself, and those behind it.
    package var chain: [Underlying] { [Underlying(domain: domain, code: code, name: name)] + underlying }
}

extension RecordedError: Codable {
    private enum CodingKeys: CodingKey { case domain, code, name, underlying, text }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        domain = try container.decodeIfPresent(String.self, forKey: .domain) ?? ""
        code = try container.decode(Int64.self, forKey: .code)
        name = try container.decodeIfPresent(String.self, forKey: .name)
        underlying = try container.decodeIfPresent([Underlying].self, forKey: .underlying) ?? []
        text = try container.decodeIfPresent(String.self, forKey: .text)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(domain, forKey: .domain)
        try container.encode(code, forKey: .code)
        try container.encodeIfPresent(name, forKey: .name)
        if !underlying.isEmpty { try container.encode(underlying, forKey: .underlying) }
        try container.encodeIfPresent(text, forKey: .text)
    }
}

extension RecordedError.Underlying: Codable {
    private enum CodingKeys: CodingKey { case domain, code, name }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        domain = try container.decodeIfPresent(String.self, forKey: .domain) ?? ""
        code = try container.decode(Int64.self, forKey: .code)
        name = try container.decodeIfPresent(String.self, forKey: .name)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(domain, forKey: .domain)
        try container.encode(code, forKey: .code)
        try container.encodeIfPresent(name, forKey: .name)
    }
}

/// An error that says itself what is recorded of it; each member has a default, so that a type says what it wants.
///
/// ## Usage
///
/// ```swift
/// extension CheckoutError: TransactionError {
///     static var recordedDomain: String { "checkout" }     // as it stays when the type is moved or renamed
///     var recordedCode: Int { status }
/// }
/// ```
public protocol TransactionError: Error {
    /// Who defines codes and names; by default `CustomNSError`'s domain, else the type's name with its
    /// module.
    static var recordedDomain: String { get }
    /// Which error; by default `CustomNSError`'s code, else the number that Swift gives an enum's case.
    var recordedCode: Int { get }
    /// Which error in words that stay the same, without values; by default the name of an enum's case. nil: none.
    var recordedName: String? { get }
    /// The error behind it; by default what stands under `NSUnderlyingErrorKey`, else an error in the payload of an
    /// enum's case. nil: none.
    var recordedUnderlying: (any Error)? { get }
    /// Whether it says that somebody no longer wanted what was under way: then what ends by it is canceled, and has not
    /// failed; by default false.
    var recordedAsCanceled: Bool { get }
}

extension TransactionError {
    public static var recordedDomain: String {
        (self as? any CustomNSError.Type)?.errorDomain ?? ErrorIdentity.domain(String(reflecting: self))
    }
    public var recordedCode: Int { (self as NSError).code }
    public var recordedName: String? { ErrorIdentity.caseName(of: self) }
    public var recordedUnderlying: (any Error)? { ErrorIdentity.underlying(self, as: self as NSError) }
    public var recordedAsCanceled: Bool { false }
}

extension RecordedError {
    /// Takes what an error says of itself: as ``TransactionError`` or `CustomNSError` where it is one;
    /// else its type's name, and the case of an enum by number and name.
    ///
    /// Costs a few microseconds on the caller's thread, most of which are Foundation's to make an `NSError` of it.
    ///
    /// - Parameters:
    ///   - error: What went wrong.
    ///   - includingText: Whether its words are kept: `LocalizedError`'s description where it has one.
    public init(_ error: any Error, includingText: Bool) {
        if let recorded = error as? RecordedError {
            self = recorded
            return
        }
        let bridged = error as NSError
        let identity = ErrorIdentity.of(error, as: bridged)
        self.init(domain: identity.domain, code: identity.code, name: identity.name)
        var last = (error: error, bridged: bridged, identity: identity)
        // Bounded, since an error may stand behind itself.
        for _ in 0..<2 * Limits.underlyingErrors where underlying.count < Limits.underlyingErrors {
            guard let next = ErrorIdentity.behind(last.error, as: last.bridged) else { break }
            if let recorded = next as? RecordedError {
                underlying += recorded.chain.prefix(Limits.underlyingErrors - underlying.count)
                break
            }
            let bridged = next as NSError
            let identity = ErrorIdentity.of(next, as: bridged)
            // Where the same stands behind it, as Foundation on Linux has it in a `URLError`, there is no more to say.
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
    /// Whether this error or one of the errors behind it meets a condition.
    ///
    /// Looks at as many errors as are recorded, because an error may be behind itself.
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

/// What an error can be told by, whatever made it.
enum ErrorIdentity {
    static func of(_ error: any Error, as bridged: NSError) -> RecordedError.Underlying {
        guard let own = error as? any TransactionError else {
            return RecordedError.Underlying(
                domain: domain(bridged.domain), code: Int64(bridged.code), name: caseName(of: error))
        }
        return RecordedError.Underlying(
            domain: type(of: own).recordedDomain, code: Int64(own.recordedCode), name: own.recordedName)
    }

    static func behind(_ error: any Error, as bridged: NSError) -> (any Error)? {
        if let own = error as? any TransactionError { return own.recordedUnderlying }
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

    /// The name of an enum's case, without its payload.
    ///
    /// nil for what is no enum, and for a case without a payload of one that has a description of its own: such a type
    /// may show what it likes, also what no one else may see.
    static func caseName(of error: some Error) -> String? {
        guard let mirror = enumMirror(of: error) else { return nil }
        if let child = mirror.children.first { return child.label }
        // Of the type: a value may be bridged to one that has a description.
        let type = type(of: error)
        let hasDescription =
            type is any CustomStringConvertible.Type || type is any CustomDebugStringConvertible.Type
            || type is any TextOutputStreamable.Type
        return hasDescription ? nil : String(describing: error)
    }

    /// Without what Swift puts in the place of a private or local type's context: that has an address, which is
    /// another one each time the program runs.
    static func domain(_ typeName: String) -> String {
        guard typeName.utf8.contains(UInt8(ascii: "(")) else { return typeName }
        var (name, rest) = ("", typeName[...])
        while let start = rest.range(of: "(unknown context at $"), let end = rest[start.upperBound...].range(of: ").") {
            name += rest[..<start.lowerBound]
            rest = rest[end.upperBound...]
        }
        return name + rest
    }

    /// Values of a payload that are looked at.
    private static let maximumPayload = 8

    private static func enumMirror(of error: any Error) -> Mirror? {
        // What is a class has no cases, and bridging would make one of anything.
        guard !(type(of: error) is AnyClass) else { return nil }
        let mirror = Mirror(reflecting: error)
        return mirror.displayStyle == .enum ? mirror : nil
    }
}

/// The status codes of gRPC (https://github.com/grpc/grpc/blob/master/doc/statuscodes.md).
package enum GRPCStatus {
    /// Who defines them, in a ``RecordedError``.
    package static let domain = "grpc"

    /// By their numbers.
    private static let names = [
        "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
        "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
        "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
    ]
    /// Those for which a server is at fault: https://opentelemetry.io/docs/specs/semconv/rpc/grpc/.
    private static let serverFailures: Set<Int> = [2, 4, 12, 13, 14, 15]

    /// What a code is called; nil for one that is not known.
    package static func name(of code: Int) -> String? { names.indices.contains(code) ? names[code] : nil }

    /// The code that is called so; nil: none.
    package static func code(named name: String) -> Int? { names.firstIndex(of: name) }

    /// Whether a server that answers with it has failed; a client's mistake is none of the server's.
    package static func isServerFailure(_ code: Int) -> Bool { serverFailures.contains(code) }

    /// What is recorded of a status; nil for one that is no error.
    package static func error(_ code: Int) -> RecordedError? {
        code == 0 ? nil : RecordedError(domain: domain, code: Int64(code), name: name(of: code))
    }
}
