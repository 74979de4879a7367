/// Numbers for a badge.
public struct TransactionCounts: Hashable, Sendable, Codable {
    /// Transactions that are under way: not closed, not interrupted, not timed out.
    public var open: Int
    /// Transactions that failed.
    public var failed: Int
    /// Facts that were recorded here and are not delivered yet.
    public var pending: Int

    /// Makes counts.
    public init(open: Int = 0, failed: Int = 0, pending: Int = 0) {
        self.open = open
        self.failed = failed
        self.pending = pending
    }
}
