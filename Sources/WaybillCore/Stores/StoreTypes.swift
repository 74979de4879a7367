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
}

/// The result of an erasure.
public struct Erasure: Equatable, Sendable, Codable {
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
    package func redact(by redactor: Redactor) {}
}

/// All cases but ``networkLogs`` erase whole transactions, with the parts of all sources.
package enum ErasureScope: Sendable, Equatable {
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

    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

extension QuarantinedFact: Redactable {
    package mutating func redact(by redactor: Redactor) {
        reason.redact(by: redactor)
        fact.redact(by: redactor)
    }
}

/// An unreadable transaction of a version 0.0.1 set.
package struct LegacyQuarantined: Equatable, Sendable {
    package var transaction: GUID?
    package var reason: String
    package var json: String
    package var receivedMicroseconds: Int64

    package init(transaction: GUID?, reason: String, json: String, receivedMicroseconds: Int64) {
        (self.transaction, self.reason) = (transaction, reason)
        (self.json, self.receivedMicroseconds) = (json, receivedMicroseconds)
    }
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

extension AppTotal: Redactable {
    package mutating func redact(by redactor: Redactor) { app.redact(by: redactor) }
}

/// The store keeps a pause, so it outlives the process and applies to all that share the store.
package struct DeliveryPause: Equatable, Sendable {
    package var failureCount: Int
    package var remainingMicroseconds: Int64
    package var wasAskedFor: Bool

    package init(failureCount: Int, remainingMicroseconds: Int64, wasAskedFor: Bool) {
        self.failureCount = failureCount
        self.remainingMicroseconds = remainingMicroseconds
        self.wasAskedFor = wasAskedFor
    }
}

/// The limits for the recorded data that a device keeps.
///
/// Whole transactions are deleted, oldest first: delivered ones, then undelivered ones, and open ones last. The
/// collector learns of deleted undelivered facts as dropped. Data that is being delivered stays until the collector
/// answers.
public struct Retention: Sendable, Equatable {
    /// The number of bytes that the store's rows, indexes and write-ahead log may take; its files grow no further.
    /// Default: 64 MiB, at least 1 MiB.
    public var maximumByteCount: Int64 = 64 << 20
    /// How long a transaction is kept after its last event. Default: 30 days.
    ///
    /// A clock that can't be set measures the age: within one boot of the device, it is the elapsed time, including
    /// sleep. For transactions of earlier boots, it is the time that the device was seen running, which is at most the
    /// elapsed time. If they were delivered, the wall clock counts, too.
    public var maximumAge: Duration = .seconds(30 * 86_400)
    /// The maximum number of transactions, without exchanges outside of one. Default: `nil`, which sets no limit; at
    /// least 1.
    ///
    /// Large stores may exceed it briefly by a hundredth.
    public var maximumTransactionCount: Int?
    /// Whether transactions of earlier launches are deleted as soon as they are delivered. Default: `false`.
    ///
    /// Undelivered ones stay within the other limits, because they may explain a crash.
    public var isForThisLaunchOnly = false

    /// The tables alone need almost this much.
    package static let leastBytes: Int64 = 1 << 20

    /// Creates a retention with the defaults.
    public init() {}

    /// A retention that keeps this launch, and only undelivered data of earlier ones.
    public static var thisLaunchOnly: Retention {
        var retention = Retention()
        retention.isForThisLaunchOnly = true
        return retention
    }
}

/// A change to recorded transactions.
public enum TransactionChange: Equatable, Sendable {
    /// These transactions, at most a thousand, have new facts.
    case transactions(Set<GUID>)
    /// More than a thousand transactions changed, or facts were erased. Read everything again.
    case reload
}
