#if ClickHouse
package import WaybillCore
package import WaybillQueries
import WaybillStore

extension ClickHouseStore: BrowsableStore {
    package func version() async throws -> Int64 {
        let state = try await tables.state()
        return state.lastArrival &+ Int64(bitPattern: state.bookCount) &+ Int64(bitPattern: state.tombstoneCount)
    }

    package func add(_ set: ReceivedSet) async throws -> Receipt { try await queue.add(set) }

    package func transaction(_ key: String) async throws -> TransactionRecord {
        let now = clock.wallMicroseconds()
        return try await unlessTooMuch {
            var ids = GUID(key).map { [$0] } ?? []
            if ids.isEmpty, let code = SupportCode(key) {
                // One more than an error lists, to report that there are more.
                ids = try await tables.transactions(with: code, limit: QueryFailure.namedTransactions + 1)
            }
            return try await read(tables.memory(ofRelatedTo: Set(ids))) { reader in
                try reader.transaction(called: key, now: now)
            }
        } orElse: {
            try await reading { try await $0.transaction(key) }
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
        return try await queue.retire(limits, at: clock.wallMicroseconds())
    }

    private static let (secondsOfLag, factsPerSource) = (5, 25)

    package func verify() async throws -> StoreVerification {
        let books = try await tables.untilComplete { try await DatabaseBooks(tables) }
        var missing = try await tables.missingFacts(of: books)
        for _ in 0..<Self.secondsOfLag where !missing.isEmpty {
            try await Task.sleep(for: .seconds(1))
            missing = try await tables.missingFacts(of: books)
        }
        let counts = books.sources.mapValues { $0.expected.count }.merging(missing.mapValues(\.count)) { $0 - $1 }
        var verification = StoreVerification()
        let sources = books.sources.sorted { $0.value.first < $1.value.first }
        for (number, some) in sources.inChunks(of: max(1, Int(factsPerRange) / Self.factsPerSource)).enumerated() {
            // The names are verified once.
            let thread = try await WorkingSet(
                books, of: Dictionary(uniqueKeysWithValues: some.map { ($0, $1) }), tables, withNames: number == 0
            ).memory()
            verification.add(try await thread.run { memory throws(WaybillError) in try memory.reader.verify(counts) })
        }
        verification.transactionCount = try await tables.transactionCount(of: books)
        // They are not those of the database.
        verification.tables = []
        return verification
    }

    package func sources(_ request: ListRequest) async throws -> RecordPage<SourceRecord> {
        let books = try await tables.untilComplete { try await DatabaseBooks(tables) }
        let thread = try await WorkingSet(books, tables).memory()
        defer { withExtendedLifetime(thread) {} }
        return try await sqlite(thread).sources(request)
    }
}
#endif
