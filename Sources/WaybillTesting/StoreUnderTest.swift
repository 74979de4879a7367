package import WaybillAnalysis
package import WaybillCore
package import WaybillReading
import WaybillStore

/// What ``StoreConformance`` asks of a store. Times are microseconds since 1970.
package protocol StoreUnderTest: Sendable {
    func add(_ set: TransactionSet, at time: Int) async throws -> Receipt
    func erase(_ scope: ErasureScope, at time: Int) async throws -> Erasure
    /// Takes away what was received before a time, until nothing is left that may go; gives how many facts went.
    func retire(receivedBefore time: Int) async throws -> Int

    func transactions(
        matching filter: TransactionFilter, limit: Int, after cursor: String?, now: Int
    ) async throws -> RecordPage<TransactionSummary>
    /// - Parameter position: Of an answer before; nil: the answer has no rows, and tells where changes begin.
    func changes(
        after position: String?, matching filter: TransactionFilter, limit: Int, after cursor: String?, now: Int
    ) async throws -> RecordPage<TransactionSummary>
    func transaction(_ id: GUID, now: Int) async throws -> TransactionRecord?
    func exchanges(matching filter: ExchangeFilter, limit: Int, after cursor: String?, now: Int) async throws
        -> RecordPage<ExchangeRecord>
    func exchange(_ id: Fact.ID) async throws -> ExchangeRecord?
    func sources(matching filter: SourceFilter, limit: Int, after cursor: String?) async throws -> RecordPage<
        SourceRecord
    >
    func source(_ id: GUID) async throws -> SourceRecord?
    func names() async throws -> [RecordedName]
    func nameConflicts() async throws -> [NameConflict]
    func counts(now: Int) async throws -> TransactionCounts
    /// The facts of the transactions that pass a filter, or all; redacted, in sets of any size.
    func facts(matching filter: TransactionFilter?, now: Int) async throws -> [TransactionSet]
    /// Counts everything again.
    func verification() async throws -> (problems: [String], transactionCount: Int, factCount: Int)
    func answer(_ query: AnyQuestion, now: Int) async throws -> AnyAnswer
}
