#if ClickHouse
import WaybillCore
import WaybillQueries
import WaybillStore

extension ClickHouseStore {
    /// With more outdated rows, buckets are cheaper.
    private static let changedLimit = 10_000

    /// - Returns: `nil` if the question needs more than rows, or the answer is empty, which other transactions may explain.
    func answerByRows(_ question: AnyQuestion, where parameters: [(name: String, value: String)]) async throws
        -> AnyAnswer?
    {
        guard tables.keepsRows, readsRows else { return nil }
        let now = clock.wallMicroseconds()
        let meant = try await BucketReader.readNames(tables) { reader in
            try question.meant(by: parameters, reader, now: now)
        }
        guard !meant.isCertified, let filter = meant.rowFilter,
            let condition = ClickHouseTables.condition(filter, now: now)
        else { return nil }
        return try await TransactionLoader.unlessTooMuch {
            do {
                let answer = try await tables.untilComplete { () async throws -> AnyAnswer in
                    try await self.answer(meant, where: condition, now: now)
                }
                return answer.whyEmpty == nil ? answer : nil
            } catch is QueryFailure { return nil }
        }
    }

    private func answer(_ meant: AnyQuestion, where condition: String, now: Int64) async throws -> AnyAnswer {
        // Read first, because rows may be made meanwhile.
        let changed = try await tables.changedTransactions(limit: Self.changedLimit)
        if answersOften, !changed.isEmpty { queue.keeper.wake() }
        var loading = WorkingSetLoader([], tables)
        try await loading.loadTombstones()
        try await loading.load(changed)
        let thread = try await WorkingSet(loading, tables) { _ in true }.thread
        let interruption = Interruption(after: readLimit, by: clock)
        func partial(of rows: [TransactionRow]?) async throws -> PartialAnswer {
            try await thread.run(until: interruption) { memory, interruption in
                try memory.reader.reading(until: interruption) {
                    try QueryFailure.ofQuestion { try meant.partial(from: memory.reader, of: rows, now: now) }
                }
            }
        }
        var all = try await partial(of: nil)
        let contents = try await thread.run { (memory) throws in try meant.rowContents(memory.reader) }
        try await tables.transactions(where: condition, reading: contents, now: now) { rows in
            try all.merge(try await partial(of: rows.filter { !changed.contains($0.id) }))
        }
        return try QueryFailure.ofQuestion { try all.answer() }
    }
}
#endif
