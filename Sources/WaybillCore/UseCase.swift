/// A user's task, such as a login or a purchase: an enum whose cases are the events that can happen.
///
/// ## Usage
///
/// ```swift
/// enum Login: String, UseCase {
///     case initiated, requestSent, responseReceived
/// }
///
/// enum Purchase: Int, UseCase {
///     static let code = 1
///     case started = 0, paid = 1
/// }
/// ```
///
/// Names determine the codes of a `String` use case; you choose those of an `Int` use case.
///
/// Codes are recorded, and names are displayed. Both are permanent: do not rename a `String` use case or its raw
/// values, and never reuse a code or a name. Give every case of an `Int` use case an explicit raw value.
public protocol UseCase: RawRepresentable, CaseIterable, Hashable, Sendable {
    /// The number of this use case: 0 or greater, and unique in the project. Default: derived from ``name``. The
    /// derived code has 49 bits, or 31 bits if `Int` has 32 bits, as on older watches. Declare a `code` if such watches
    /// share the use case with other devices. A request's header field carries codes below 10^15.
    static var code: Int { get }
    /// The displayed name. Default: the type's name with a lowercase first letter, `login`.
    static var name: String { get }
    /// The time without a new fact after which an open transaction is timed out. Default: 24 hours.
    static var timeout: Duration { get }
    /// The number of this event: 0 or greater, and unique in the use case. Default: the `Int` raw value, or a hash of
    /// the `String` raw value.
    var eventCode: Int { get }
    /// The displayed name of this event. Default: a `String` raw value, or the case's name. Without reflection metadata
    /// in the executable, the default is `event 7`, with the code.
    var eventName: String { get }
}

extension UseCase {
    public static var code: Int { NameCode.code(of: name) }

    public static var name: String {
        let type = String(describing: Self.self)
        return type.prefix(1).lowercased() + type.dropFirst()
    }

    public static var timeout: Duration { .seconds(24 * 60 * 60) }

    public var eventName: String {
        // Without reflection metadata, a case's description is its type's name. A struct's shows its fields.
        let name = String(describing: self)
        return name == String(describing: Self.self) || name.contains("(") ? "event \(eventCode)" : name
    }

    package static func event(code: Int) -> Self? {
        allCases.first { $0.eventCode == code } ?? (code as? RawValue).flatMap { Self(rawValue: $0) }
    }
}

extension UseCase where RawValue == Int {
    @inlinable public var eventCode: Int { rawValue }
}

extension UseCase where RawValue == String {
    public var eventCode: Int { NameCode.code(of: rawValue) }
    public var eventName: String { rawValue }
}

package enum NameCode {
    /// Hashes a name. The highest bit of a code is set, which hand-written codes do not reach.
    package static func code(of name: String) -> Int {
        var hash = SipHash(key: (0, 0))
        var name = name
        name.withUTF8 { hash.update(UnsafeRawBufferPointer($0)) }
        // An integer of a header field has at most 15 digits (RFC 9651). 32-bit integers have room for 30 bits.
        let bits = min(48, Int.bitWidth - 2)
        return 1 << bits | Int(truncatingIfNeeded: hash.value.0 & (1 << UInt64(bits) - 1))
    }
}
