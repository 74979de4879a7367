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
