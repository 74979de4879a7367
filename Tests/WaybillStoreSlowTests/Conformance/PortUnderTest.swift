import Foundation
import TestSupport
import WaybillAnalysis
import WaybillCore
import WaybillReading
import WaybillStore
import WaybillTesting

/// SQLite's store by the port that collectors, pages and commands use: filters go through the words that people write, and every answer comes from one of
/// its threads. What the port has no word for is read beside it: counts, and facts as sets.
struct PortUnderTest: StoreUnderTest {
    private let store: SQLiteStore
    private let clock = ManualClock()

    init(_ file: URL) throws { store = try SQLiteStore(making: file, clock: clock) }

    private func at(_ time: Int) -> SQLiteStore {
        clock.jumpWall(by: .microseconds(time - clock.wallMicroseconds()))
        return store
    }

    func add(_ set: TransactionSet, at time: Int) async throws -> Receipt {
        try await store.add(ReceivedSet(set: Redactor().redacted(DecodedSet(set: set)), atMicroseconds: time))
    }

    func erase(_ scope: ErasureScope, at time: Int) async throws -> Erasure { try await at(time).erase(scope) }

    func retire(receivedBefore time: Int) async throws -> Int {
        let limits = RetirementLimits(maximumAge: .microseconds(clock.wallMicroseconds() - time))
        var total = 0
        try await eventually("nothing is left to retire") {
            let count = try await store.retire(limits)
            total += count
            return count == 0
        }
        return total
    }

    func transactions(
        matching filter: TransactionFilter, limit: Int, after cursor: String?, now: Int
    ) async throws -> RecordPage<TransactionSummary> {
        let request = ListRequest(matching: filter, limit: limit, cursor: cursor)
        do { return try await at(now).transactions(request) } catch QueryFailure.filter {
            // Words about an event that nothing here has are a mistake to a person, who is told what there is.
            return try await store.read { try $0.transactions(matching: filter, limit: limit, after: cursor, now: now) }
        }
    }

    func changes(
        after position: String?, matching filter: TransactionFilter, limit: Int, after cursor: String?, now: Int
    ) async throws -> RecordPage<TransactionSummary> {
        var request = ListRequest(matching: filter, limit: limit, cursor: cursor)
        request[.after] = position ?? ListRequest.now
        return try await at(now).transactions(request)
    }

    func transaction(_ id: GUID, now: Int) async throws -> TransactionRecord? {
        try await found { try await at(now).transaction("\(id)") }
    }

    func exchanges(
        matching filter: ExchangeFilter, limit: Int, after cursor: String?, now: Int
    ) async throws -> RecordPage<ExchangeRecord> {
        let request = ListRequest(matching: filter, limit: limit, cursor: cursor)
        do { return try await at(now).exchanges(request) } catch QueryFailure.filter {
            return try await store.read { try $0.exchanges(matching: filter, limit: limit, after: cursor, now: now) }
        }
    }

    func exchange(_ id: Fact.ID) async throws -> ExchangeRecord? { try await found { try await store.exchange("\(id)") } }

    func sources(
        matching filter: SourceFilter, limit: Int, after cursor: String?
    ) async throws -> RecordPage<SourceRecord> {
        try await store.sources(ListRequest(matching: filter, limit: limit, cursor: cursor))
    }

    func source(_ id: GUID) async throws -> SourceRecord? { try await found { try await store.source("\(id)") } }

    func names() async throws -> [RecordedName] { try await store.names() }

    func nameConflicts() async throws -> [NameConflict] { try await store.nameConflicts() }

    func counts(now: Int) async throws -> TransactionCounts { try await store.read { try $0.counts(now: now) } }

    func facts(matching filter: TransactionFilter?, now: Int) async throws -> [TransactionSet] {
        let scope: ExportScope = filter.map { .transactions($0, now: now) } ?? .everything
        return try await store.read { reader in
            var sets: [TransactionSet] = []
            try reader.export(scope, redactor: Redactor()) { sets.append($0) }
            return sets
        }
    }

    func verification() async throws -> (problems: [String], transactionCount: Int, factCount: Int) {
        let found = try await store.verify()
        return (found.problems, found.transactionCount, found.factCount)
    }

    func answer(_ question: AnyQuestion, now: Int) async throws -> AnyAnswer { try await at(now).answer(question, where: []) }

    private func found<Record>(_ look: () async throws -> Record) async throws -> Record? {
        do { return try await look() } catch QueryFailure.notFound { return nil }
    }
}
