public import Foundation

/// A transaction of a set of version 0.0.1 that could not be read, as it is kept.
public struct LegacyQuarantined: Hashable, Sendable {
    /// nil where not even its ID could be read.
    public var transaction: GUID?
    /// Where in its set what is wrong.
    public var reason: String
    /// As it came, redacted, and cut where it is very long.
    public var json: String
    /// Since 1970.
    package var receivedMicroseconds: Int64

    package init(transaction: GUID?, reason: String, json: String, receivedMicroseconds: Int64) {
        (self.transaction, self.reason) = (transaction, reason)
        (self.json, self.receivedMicroseconds) = (json, receivedMicroseconds)
    }

    /// Makes a description.
    public init(transaction: GUID?, reason: String, json: String, received: Date) {
        self.init(transaction: transaction, reason: reason, json: json, receivedMicroseconds: received.microseconds)
    }

    /// When it came.
    public var received: Date { Date(microseconds: receivedMicroseconds) }
}
