/// A point in a transaction.
///
/// Events go by their names, so that versions of an app that number them differently count together; one that has no
/// name is `event 7`.
public enum TransactionPoint: Hashable, Sendable {
    /// The beginning.
    case begun
    /// The outcome, where its leading part has one that was recorded.
    case finished
    /// An event of any of the sources that took part.
    case event(String)
}

extension TransactionPoint: Codable, CustomStringConvertible {
    /// As it is written: `^` the beginning, `$` the outcome, else the event's name.
    public init(_ text: String) {
        self =
            switch text {
            case "^": .begun
            case "$": .finished
            default: .event(text)
            }
    }

    /// As ``init(_:)`` reads it.
    public var description: String {
        switch self {
        case .begun: "^"
        case .finished: "$"
        case .event(let name): name
        }
    }

    public init(from decoder: any Decoder) throws { self.init(try decoder.singleValueContainer().decode(String.self)) }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
