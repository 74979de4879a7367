/// The sums of one app's sources that have ended and left no rows.
package struct AppTotal: Hashable, Sendable, Codable {
    package var app: String
    package var sourceCount: Int
    package var ledger: Ledger

    package init(app: String, sourceCount: Int, ledger: Ledger) {
        self.app = app
        self.sourceCount = sourceCount
        self.ledger = ledger
    }
}
