public import Foundation

/// What an erasure takes; transactions whole, with the parts of all sources, but for ``networkLogs``.
public enum ErasureScope: Sendable, Hashable {
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
