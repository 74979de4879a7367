public import Foundation

/// A set that came in, and when: redacted here, too, by whichever app it was sent.
package struct ReceivedSet: Sendable {
    package let set: DecodedSet
    /// Since 1970.
    package var atMicroseconds: Int64

    package init(set: Redacted<DecodedSet>, atMicroseconds: Int64) {
        self.set = set.value
        self.atMicroseconds = atMicroseconds
    }

    /// A set that came in at a time; secrets are taken out of it by the well-known names and shapes.
    package init(_ set: TransactionSet, received: Date) {
        self.init(set: Redactor().redacted(DecodedSet(set: set)), atMicroseconds: received.microseconds)
    }

    /// What could be read of it.
    package var content: TransactionSet { self.set.set }
    /// The facts of it that could not be read: the receipt has them among its own.
    package var rejections: [Receipt.Rejection] { self.set.rejections }
    /// When it came.
    package var received: Date { Date(microseconds: atMicroseconds) }
}

/// What an erasure took away.
public struct Erasure: Hashable, Sendable, Codable {
    /// Transactions of which something was erased here.
    public var transactionCount: Int
    /// Facts that were erased here, exchanges outside any transaction among them.
    public var factCount: Int

    /// Makes a count.
    public init(transactionCount: Int = 0, factCount: Int = 0) {
        self.transactionCount = transactionCount
        self.factCount = factCount
    }
}

/// Numbers alone.
extension Erasure: Redactable {
    package func redacted(by redactor: Redactor) -> Self { self }
}

/// What an erasure takes; transactions whole, with the parts of all sources, but for ``networkLogs``.
package enum ErasureScope: Sendable, Hashable {
    /// Every transaction, and every exchange outside of one.
    case all
    /// These transactions.
    case transactions([GUID])
    /// Transactions, and exchanges outside of one, that began before this time.
    case begunBefore(Date)
    /// What the sources of this installation recorded, and the transactions that they began.
    case installation(GUID)
    /// Every exchange, and no transaction: their events stay.
    case networkLogs
    /// Every transaction, and every exchange outside of one, that has a fact which is not settled.
    case pending
}

/// A fact that the collector rejected, or that was too large for it all by itself. It is settled, and blocks nothing.
public struct QuarantinedFact: Hashable, Sendable {
    /// Who recorded it, and its number there.
    public var id: FactID
    /// Why, in the collector's words.
    public var reason: String
    /// When it was rejected, in microseconds since 1970.
    package var rejectedAtMicroseconds: Int64
    /// When it was rejected.
    public var rejected: Date { Date(microseconds: rejectedAtMicroseconds) }
    /// The fact itself; nil where it is no longer there, erased or taken by retention.
    package var fact: Fact?

    package init(id: FactID, reason: String, rejectedAtMicroseconds: Int64, fact: Fact? = nil) {
        self.id = id
        self.reason = reason
        self.rejectedAtMicroseconds = rejectedAtMicroseconds
        self.fact = fact
    }

    /// Makes a description.
    package init(id: FactID, reason: String, rejected: Date, fact: Fact? = nil) {
        self.init(id: id, reason: reason, rejectedAtMicroseconds: rejected.microseconds, fact: fact)
    }
}

extension QuarantinedFact: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var quarantined = self
        quarantined.reason = redactor.text(reason)
        quarantined.fact = fact.redacted(by: redactor)
        return quarantined
    }
}

/// A transaction of a set of version 0.0.1 that could not be read, as it is kept.
package struct LegacyQuarantined: Hashable, Sendable {
    /// nil where not even its ID could be read.
    package var transaction: GUID?
    /// Where in its set what is wrong.
    package var reason: String
    /// As it came, redacted, and cut where it is very long.
    package var json: String
    /// Since 1970.
    package var receivedMicroseconds: Int64

    package init(transaction: GUID?, reason: String, json: String, receivedMicroseconds: Int64) {
        (self.transaction, self.reason) = (transaction, reason)
        (self.json, self.receivedMicroseconds) = (json, receivedMicroseconds)
    }

    /// Makes a description.
    package init(transaction: GUID?, reason: String, json: String, received: Date) {
        self.init(transaction: transaction, reason: reason, json: json, receivedMicroseconds: received.microseconds)
    }

    /// When it came.
    package var received: Date { Date(microseconds: receivedMicroseconds) }
}

/// The sums of one app's sources that have ended and left no rows.
package struct AppTotal: Hashable, Sendable, Codable {
    /// The app's or service's name.
    package var app: String
    /// How many sources they were.
    package var sourceCount: Int
    /// What became of their facts.
    package var ledger: Ledger

    /// Makes sums.
    package init(app: String, sourceCount: Int, ledger: Ledger) {
        self.app = app
        self.sourceCount = sourceCount
        self.ledger = ledger
    }
}

/// For how long nothing is to be sent: kept with the store, so that it outlives the process, and known to all processes
/// that share it.
package struct DeliveryPause: Hashable, Sendable {
    /// Failures in a row.
    package var failureCount: Int
    /// Microseconds from now.
    package var remainingMicroseconds: Int64
    /// Whether the other side asked for it.
    package var wasAskedFor: Bool

    package init(failureCount: Int, remainingMicroseconds: Int64, wasAskedFor: Bool) {
        self.failureCount = failureCount
        self.remainingMicroseconds = remainingMicroseconds
        self.wasAskedFor = wasAskedFor
    }

    /// Makes a pause.
    package init(failureCount: Int, remaining: Duration, wasAskedFor: Bool) {
        self.init(failureCount: failureCount, remainingMicroseconds: remaining.microseconds, wasAskedFor: wasAskedFor)
    }

    /// From now.
    package var remaining: Duration { .microseconds(remainingMicroseconds) }
}
