/// The sums of one app's sources that have ended and left no rows.
public struct AppTotal: Hashable, Sendable, Codable {
    /// The app's or service's name.
    public var app: String
    /// How many sources they were.
    public var sourceCount: Int
    /// What became of their facts.
    public var ledger: Ledger

    /// Makes sums.
    public init(app: String, sourceCount: Int, ledger: Ledger) {
        self.app = app
        self.sourceCount = sourceCount
        self.ledger = ledger
    }
}
