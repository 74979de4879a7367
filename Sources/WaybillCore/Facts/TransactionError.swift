import Foundation

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
