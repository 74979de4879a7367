public import Foundation

package struct ReceivedSet: Sendable {
    package let set: TransactionSet
    /// Since 1970.
    package var atMicroseconds: Int64

    package init(set: Redacted<TransactionSet>, atMicroseconds: Int64) {
        self.set = set.value
        self.atMicroseconds = atMicroseconds
    }

    /// Redacts the set by the well-known names and shapes of secrets.
    package init(_ set: TransactionSet, received: Date) {
        self.init(set: Redactor().redacted(set), atMicroseconds: received.microseconds)
    }

    package var received: Date { Date(microseconds: atMicroseconds) }
}

/// The result of an erasure.
public struct Erasure: Hashable, Sendable, Codable {
    /// The number of transactions that lost facts.
    public var transactionCount: Int
    /// The number of erased facts, including those of exchanges outside any transaction.
    public var factCount: Int

    /// Creates a result.
    public init(transactionCount: Int = 0, factCount: Int = 0) {
        self.transactionCount = transactionCount
        self.factCount = factCount
    }
}

extension Erasure: Redactable {
    package func redacted(by redactor: Redactor) -> Self { self }
}

/// The scope of an erasure. All cases but ``networkLogs`` erase whole transactions, with the parts of all sources.
package enum ErasureScope: Sendable, Hashable {
    case all
    case transactions([GUID])
    case begunBefore(Date)
    /// All facts that the installation's sources recorded, and the transactions that they began.
    case installation(GUID)
    /// Every exchange. Transactions keep their other facts.
    case networkLogs
    /// Everything with an unsettled fact.
    case pending
}

/// A fact that the collector rejected, or that exceeded the size limit. It is settled, so it blocks no other facts.
public struct QuarantinedFact: Hashable, Sendable {
    /// The ID of the fact.
    public var id: FactID
    /// The collector's reason.
    public var reason: String
    package var rejectedAtMicroseconds: Int64
    /// The date of the rejection.
    public var rejected: Date { Date(microseconds: rejectedAtMicroseconds) }
    package var fact: Fact?

    package init(id: FactID, reason: String, rejectedAtMicroseconds: Int64, fact: Fact? = nil) {
        self.id = id
        self.reason = reason
        self.rejectedAtMicroseconds = rejectedAtMicroseconds
        self.fact = fact
    }

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

/// An unreadable transaction of a version 0.0.1 set.
package struct LegacyQuarantined: Hashable, Sendable {
    package var transaction: GUID?
    package var reason: String
    package var json: String
    package var receivedMicroseconds: Int64

    package init(transaction: GUID?, reason: String, json: String, receivedMicroseconds: Int64) {
        (self.transaction, self.reason) = (transaction, reason)
        (self.json, self.receivedMicroseconds) = (json, receivedMicroseconds)
    }

    package init(transaction: GUID?, reason: String, json: String, received: Date) {
        self.init(transaction: transaction, reason: reason, json: json, receivedMicroseconds: received.microseconds)
    }

    package var received: Date { Date(microseconds: receivedMicroseconds) }
}

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

/// A pause in delivery. The store keeps it, so it outlives the process and applies to all that share the store.
package struct DeliveryPause: Hashable, Sendable {
    package var failureCount: Int
    package var remainingMicroseconds: Int64
    package var wasAskedFor: Bool

    package init(failureCount: Int, remainingMicroseconds: Int64, wasAskedFor: Bool) {
        self.failureCount = failureCount
        self.remainingMicroseconds = remainingMicroseconds
        self.wasAskedFor = wasAskedFor
    }

    package init(failureCount: Int, remaining: Duration, wasAskedFor: Bool) {
        self.init(failureCount: failureCount, remainingMicroseconds: remaining.microseconds, wasAskedFor: wasAskedFor)
    }

    package var remaining: Duration { .microseconds(remainingMicroseconds) }
}
