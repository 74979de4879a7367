/// What a user is doing (a login, a purchase, a sync): an enum whose cases are the events that can happen in it.
///
/// ## Usage
///
/// ```swift
/// enum Login: Int, UseCase {
///     static let code = 0
///     case initiated = 0, requestSent = 1, responseReceived = 2
/// }
/// ```
///
/// Codes are recorded, names are shown. Both are permanent: give every case an explicit raw value, and never use one
/// again for something else.
public protocol UseCase: RawRepresentable<Int>, CaseIterable, Hashable, Sendable {
    /// The number of this use case, unique in the project; 0 and up.
    static var code: Int { get }
    /// What people see. Default: the type's name with a small first letter, `login`.
    static var name: String { get }
    /// After this long without a new fact, a transaction without an outcome counts as timed out. Default: 24 hours.
    static var timeout: Duration { get }
    /// What people see for this event. Default: the case's name; `event 7` where the executable was built without
    /// reflection metadata.
    var eventName: String { get }
}

extension UseCase {
    public static var name: String {
        let type = String(describing: Self.self)
        return type.prefix(1).lowercased() + type.dropFirst()
    }

    public static var timeout: Duration { .seconds(24 * 60 * 60) }

    public var eventName: String {
        // Without reflection metadata a case describes itself by its type's name; a struct shows its fields:
        // `Login(rawValue: 1)`.
        let name = String(describing: self)
        return name == String(describing: Self.self) || name.contains("(") ? "event \(rawValue)" : name
    }
}
