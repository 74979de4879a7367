import TestSupport
import WaybillAnalysis
import WaybillCore
import WaybillReading
import WaybillStore
import WaybillTesting

/// SQLite's store and its reader.
actor SQLiteUnderTest: StoreUnderTest {
    private let store: Store
    private let reader: StoreReader

    init(_ place: ResolvedLocation) throws {
        store = try Store(place)
        reader = try StoreReader(place)
    }

    func add(_ set: TransactionSet, at time: Int) throws -> Receipt {
        try store.ingest(DecodedSet(set: set), receivedAt: time)
    }

    func erase(_ scope: ErasureScope, at time: Int) throws -> Erasure { try store.erase(scope, at: time) }

    func retire(receivedBefore time: Int) throws -> Int {
        var total = 0
        try eventually("nothing is left to retire") {
            let count = try store.retire(receivedBefore: time)
            total += count
            return count == 0
        }
        return total
    }

    func transactions(
        matching filter: TransactionFilter, limit: Int, after cursor: String?, now: Int
    ) throws -> RecordPage<TransactionSummary> {
        try reader.transactions(matching: filter, limit: limit, after: cursor, now: now)
    }

    func changes(
        after position: String?, matching filter: TransactionFilter, limit: Int, after cursor: String?, now: Int
    ) throws -> RecordPage<TransactionSummary> {
        let position = try position.map { try ExportCursor($0) }
        return try reader.changes(after: position, matching: filter, limit: limit, after: cursor, now: now)
    }

    func transaction(_ id: GUID, now: Int) throws -> TransactionRecord? { try reader.transaction(id, now: now) }

    func exchanges(matching filter: ExchangeFilter, limit: Int, after cursor: String?, now: Int) throws -> RecordPage<
        ExchangeRecord
    > {
        try reader.exchanges(matching: filter, limit: limit, after: cursor, now: now)
    }

    func exchange(_ id: Fact.ID) throws -> ExchangeRecord? { try reader.exchange(id) }

    func sources(matching filter: SourceFilter, limit: Int, after cursor: String?) throws -> RecordPage<SourceRecord> {
        try reader.sources(matching: filter, limit: limit, after: cursor)
    }

    func source(_ id: GUID) throws -> SourceRecord? { try reader.source(id) }

    func names() throws -> [RecordedName] { try reader.names() }

    func nameConflicts() throws -> [NameConflict] { try reader.nameConflicts() }

    func counts(now: Int) throws -> TransactionCounts { try reader.counts(now: now) }

    func facts(matching filter: TransactionFilter?, now: Int) throws -> [TransactionSet] {
        var sets: [TransactionSet] = []
        try reader.export(filter.map { .transactions($0, now: now) } ?? .everything, redactor: Redactor()) {
            sets.append($0)
        }
        return sets
    }

    func verification() throws -> (problems: [String], transactionCount: Int, factCount: Int) {
        let found = try reader.verify()
        return (found.problems, found.transactionCount, found.factCount)
    }

    func answer(_ query: AnyQuestion, now: Int) throws -> AnyAnswer { try query.answer(by: reader, now: now) }
}
