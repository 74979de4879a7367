/// A transaction of a set of version 0.0.1 that could not be read, as it is kept.
package struct LegacyQuarantined: Hashable, Sendable {
    /// nil where not even its ID could be read.
    package var transaction: GUID?
    /// Where in its set what is wrong.
    package var reason: String
    /// As it came, redacted, and cut where it is very long.
    package var json: String
    /// Since 1970.
    package var receivedMicroseconds: Int

    package init(transaction: GUID?, reason: String, json: String, receivedMicroseconds: Int) {
        (self.transaction, self.reason) = (transaction, reason)
        (self.json, self.receivedMicroseconds) = (json, receivedMicroseconds)
    }
}
