/// What a user is doing (a login, a purchase, a sync): an enum whose cases are the events that can happen in it.
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
/// With names, the codes are derived from the names. With numbers, you choose the codes.
///
/// Codes are recorded, names are shown. Both are permanent: do not rename a `String` use case or its raw values, give
/// every case of an `Int` use case an explicit raw value, and never reuse either for something else.
public protocol UseCase: RawRepresentable, CaseIterable, Hashable, Sendable {
    /// The number of this use case, unique in the project; 0 and up. Default: derived from ``name``.
    ///
    /// The derived number has 52 bits, 30 where `Int` has 32 bits, as on older watches. Declare a `code` if such a watch
    /// has the use case in common with other devices.
    static var code: Int { get }
    /// What people see. Default: the type's name with a small first letter, `login`.
    static var name: String { get }
    /// After this long without a new fact, a transaction without an outcome counts as timed out. Default: 24 hours.
    static var timeout: Duration { get }
    /// The number of this event, unique in the use case; 0 and up. Default: an `Int` raw value itself, or a number that is
    /// derived from a `String` raw value.
    var eventCode: Int { get }
    /// What people see for this event. Default: a `String` raw value, else the case's name; `event 7` where the
    /// executable was built without reflection metadata.
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
        // Without reflection metadata a case describes itself by its type's name; a struct shows its fields:
        // `Login(rawValue: 1)`.
        let name = String(describing: self)
        return name == String(describing: Self.self) || name.contains("(") ? "event \(eventCode)" : name
    }

    /// Returns the event with that code; `nil` if there is none.
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

/// Derives the codes of use cases and events that only have a name.
package enum NameCode {
    /// Returns the code of a name.
    ///
    /// It depends on the name alone, so all processes agree on it without exchanging a word. It has the highest bit that a
    /// code can have, which hand-written numbers do not reach. The bits below are a hash.
    package static func code(of name: String) -> Int {
        var hash = SipHash(key: (0, 0))
        var name = name
        name.withUTF8 { hash.update(UnsafeRawBufferPointer($0)) }
        // As many bits as a code may have; on a platform with 32-bit integers that is 30.
        let bits = min(52, Int.bitWidth - 2)
        return 1 << bits | Int(truncatingIfNeeded: hash.value.0 & (1 << UInt64(bits) - 1))
    }
}
