/// What an erasure takes; transactions always whole, with the parts of all sources.
package enum ErasureScope: Sendable, Hashable {
    /// Every transaction, and every exchange outside of one.
    case all
    /// These transactions.
    case transactions([GUID])
    /// Transactions, and exchanges outside of one, that began before this time in microseconds since 1970.
    case begunBefore(Int)
    /// What the sources of this installation recorded, and the transactions that they began.
    case installation(GUID)
    /// Every transaction, and every exchange outside of one, that has a fact which is not settled.
    case pending
}
