#if Collector
import WaybillCollector
import WaybillCore

/// Answers questions about recorded transactions: from a store at hand, or through a collector.
protocol TransactionReader: Sendable {
    /// A page of transactions, newest first.
    func transactions(_ query: TransactionQuery) async throws -> Page<TransactionSummary>
    /// One transaction, by its ID or its support code.
    func transaction(_ key: String) async throws -> TransactionRecord
    /// Every source that is known, with its ledger and gaps.
    func sources() async throws -> [SourceRecord]
}

extension StoreQueries: TransactionReader {}
#endif
