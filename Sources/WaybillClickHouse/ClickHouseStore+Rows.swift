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
        let found = try await BucketReader.readNames(tables) { reader in
            let meant = try question.meant(by: parameters, reader, now: now)
            guard let selection = meant.rowSelection else { return nil as RowReading? }
            return try RowReading(meant, selection, RowConditions(of: selection.filters, reader, now: now), now: now)
        }
        guard let found, !found.question.isCertified else { return nil }
        return try await TransactionLoader.unlessTooMuch {
            do {
                let answer = try await tables.untilComplete { try await self.answer(found) }
                return answer.whyEmpty == nil ? answer : nil
            } catch is QueryFailure { return nil }
        }
    }

    private func answer(_ reading: RowReading) async throws -> AnyAnswer {
        // Read first, because rows may be made meanwhile.
        let changed = try await tables.changedTransactions(limit: Self.changedLimit)
        if answersOften, !changed.isEmpty { queue.keeper.wake() }
        var loading = WorkingSetLoader([], tables)
        try await loading.loadTombstones()
        try await loading.load(changed)
        let thread = try await WorkingSet(loading, tables) { _ in true }.thread
        let (interruption, question, now) = (Interruption(after: readLimit, by: clock), reading.question, reading.now)
        @Sendable func partial(_ reader: StoreReader, of rows: [TransactionRow]?) throws -> PartialAnswer {
            try QueryFailure.ofQuestion { try question.partial(from: reader, of: rows, now: now) }
        }
        func partial(of rows: [TransactionRow]?) async throws -> PartialAnswer {
            try await thread.run(until: interruption) { memory, interruption in
                try memory.reader.reading(until: interruption) { try partial(memory.reader, of: rows) }
            }
        }
        var all = try await partial(of: nil)
        let contents = try await thread.run { (memory) throws in try question.rowContents(memory.reader) }
        func add(_ rows: [TransactionRow]) async throws {
            try all.merge(try await partial(of: rows.filter { !changed.contains($0.id) }))
        }
        if let exchanges = reading.exchanges {
            try await tables.exchanges(where: reading.condition, exchanges, eachGroup: add)
        } else {
            try await tables.transactions(
                where: reading.condition, reading: contents, isChosen: reading.isChosen, now: now, eachGroup: add)
        }
        if case .exchangesOutsideTransactions = reading.others {
            var outside = try await BucketReader(outsideTransactions: tables, factsEach: factsPerBucket)
            while let some = try await outside.next(until: interruption, { reader in try partial(reader, of: nil) }) {
                try all.merge(some)
            }
        }
        return try QueryFailure.ofQuestion { try all.answer() }
    }
}

/// A question with its rows in SQL.
private struct RowReading: Sendable {
    var question: AnyQuestion
    var now: Int64
    var condition: String
    var isChosen = "1"
    var exchanges: String?
    var others: RowSelection.Others

    /// Returns `nil` if rows lack a property in the filters.
    init?(_ question: AnyQuestion, _ selection: RowSelection, _ conditions: RowConditions, now: Int64) {
        guard let chosen = conditions.sql(selection.transactions) else { return nil }
        (self.question, self.now, condition, others) = (question, now, chosen, selection.others)
        switch selection.others {
        case .none, .exchangesOutsideTransactions: break
        case .matching(let filter):
            guard let all = conditions.sql(filter) else { return nil }
            (condition, isChosen) = (all, "toUInt8(\(chosen))")
        case .withExchanges: (condition, isChosen) = ("(\(chosen) OR notEmpty(exchange_parts))", "toUInt8(\(chosen))")
        }
        if let conditionsOfExchanges = selection.exchanges {
            guard let sql = conditions.sql(conditionsOfExchanges, about: .exchanges) else { return nil }
            exchanges = sql
        }
    }
}

extension RowConditions {
    init(of filters: [TransactionFilter], _ reader: StoreReader, now: Int64) throws(WaybillError) {
        self.now = now
        for name in filters.flatMap(\.events) { events[name] = try reader.meanings(ofEvent: name) }
    }
}
#endif
