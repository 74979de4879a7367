#if ClickHouse
package import Foundation
package import WaybillCore
package import WaybillExport
package import WaybillQueries
import WaybillStore

extension ClickHouseStore: RecordStore {
    package func add(_ set: ReceivedSet) async throws -> Receipt { try await queue.add(set) }

    package func transactions(_ request: ListRequest, within budget: Duration?) async throws -> RecordPage<
        TransactionSummary
    > {
        try await reading { try await $0.transactions(request, within: budget) }
    }

    package func transaction(_ key: String) async throws -> TransactionRecord {
        if try await isReadInPieces(), let transaction = try await transactionInMemory(key) { return transaction }
        return try await reading { try await $0.transaction(key) }
    }

    package func exchanges(_ request: ListRequest, within budget: Duration?) async throws -> RecordPage<ExchangeRecord>
    {
        try await reading { try await $0.exchanges(request, within: budget) }
    }

    package func exchange(_ key: String) async throws -> ExchangeRecord {
        try await reading { try await $0.exchange(key) }
    }

    package func bodies(of exchanges: [FactID], limit: Int) async throws -> (
        bodies: [FactID: ExchangeBodies], isCut: Bool
    ) {
        try await reading { try await $0.bodies(of: exchanges, limit: limit) }
    }

    package func sources(_ request: ListRequest) async throws -> RecordPage<SourceRecord> {
        try await reading { try await $0.sources(request) }
    }

    package func nameConflicts(_ request: ListRequest) async throws -> RecordPage<NameConflict> {
        try await reading { try await $0.nameConflicts(request) }
    }

    /// - Returns: `nil` if too many related facts are needed.
    private func transactionInMemory(_ key: String) async throws -> TransactionRecord? {
        let now = clock.wallMicroseconds()
        do {
            return try await tables.untilComplete {
                var loader = try await TransactionLoader(tables)
                var ids = GUID(key).map { [$0] } ?? []
                if ids.isEmpty, let code = SupportCode(key) {
                    // One more than an error lists, to report that there are more.
                    ids = try await tables.transactions(with: code, limit: QueryFailure.namedTransactions + 1)
                }
                return try await loader.store(of: ids).run(until: Interruption(after: readLimit, by: clock)) {
                    memory, interruption in
                    try memory.reader.reading(until: interruption) {
                        try memory.reader.transaction(called: key, now: now)
                    }
                }
            }
        } catch is TransactionLoader.TooMuch {
            return nil
        }
    }

    /// Hides the data first, then deletes its rows on all servers. ClickHouse removes the files after eight minutes.
    /// Throws `.store` if a server is down or slow. Any later erasure completes the deletion.
    package func erase(_ scope: ErasureScope) async throws -> Erasure {
        try await queue.erase(scope, at: clock.wallMicroseconds())
    }

    /// - Throws: `.setting` for a limit on bytes, which a database does not support.
    package func retire(_ limits: RetirementLimits) async throws -> Int {
        guard limits.maximumByteCount == nil else {
            throw WaybillError(
                .setting, "A size is none of a ClickHouse database: give an age, or a number of transactions.")
        }
        let now = clock.wallMicroseconds()
        return try await queue.retire(
            { store throws(WaybillError) in
                var count = 0
                if let age = limits.maximumAge { count += try store.retire(receivedBefore: now - age.microseconds) }
                if let transactions = limits.maximumTransactionCount {
                    count += try store.retire(beyondTransactions: transactions)
                }
                return count
            }, at: now)
    }

    package func verify() async throws -> StoreVerification {
        var verification = try await reading { try await $0.verify() }
        // The size of the copy is not the size of the database.
        verification.tables = []
        return verification
    }
}

extension ClickHouseStore: BrowsableStore {
    package func details(of sources: [GUID], upTo limits: SourceDetails.Limits) async throws -> [GUID: SourceDetails] {
        try await reading { try await $0.details(of: sources, upTo: limits) }
    }

    package func source(_ key: String) async throws -> SourceRecord { try await reading { try await $0.source(key) } }

    package func apps(limit: Int) async throws -> [String] { try await reading { try await $0.apps(limit: limit) } }

    package func names() async throws -> [RecordedName] { try await reading { try await $0.names() } }

    package func nameConflictCount() async throws -> Int { try await reading { try await $0.nameConflictCount() } }

    package func firstStarts() async throws -> [AppVersion: Date] { try await reading { try await $0.firstStarts() } }

    package func version() async throws -> Int64 {
        let state = try await loader.current().state
        return state.lastArrival &+ Int64(bitPattern: state.bookCount) &+ Int64(bitPattern: state.tombstoneCount)
    }

    package func errorCounts(of transactions: [GUID]) async throws -> [GUID: Int] {
        try await reading { try await $0.errorCounts(of: transactions) }
    }

    package func neighbors(of transaction: GUID) async throws -> (
        before: TransactionSummary?, after: TransactionSummary?
    ) {
        try await reading { try await $0.neighbors(of: transaction) }
    }

    package func delivery(hours: Int) async throws -> DeliveryState {
        try await reading { try await $0.delivery(hours: hours) }
    }

    package func quarantined(limit: Int) async throws -> [QuarantinedFact] {
        try await reading { try await $0.quarantined(limit: limit) }
    }
}

extension ClickHouseStore: ExportingStore {
    package func export(_ facts: ExportedFacts, as format: TextFormat) async throws -> ExportStream {
        let (replica, store) = try await current()
        let export = try await store.export(facts, as: format)
        // The copy must exist until the export ends.
        return ExportStream(cursor: export.cursor) {
            defer { withExtendedLifetime(replica) {} }
            return try await export.next()
        }
    }

    package func export(
        _ exchanges: ListRequest, as document: ExchangeExport, to put: @escaping @Sendable ([UInt8]) throws -> Void
    ) async throws -> (factCount: Int, note: String?) {
        try await reading { try await $0.export(exchanges, as: document, to: put) }
    }

    package func report(_ request: ListRequest) async throws -> TransactionReport {
        try await reading { try await $0.report(request) }
    }
}
#endif
