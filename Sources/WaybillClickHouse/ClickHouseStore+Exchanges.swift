#if ClickHouse
import WaybillCore
package import WaybillQueries
import WaybillStore

/// Lists of exchanges, and the numbers above lists: from rows, and for outdated rows from facts.
extension ClickHouseStore {
    package func exchanges(_ request: ListRequest, within budget: Duration?) async throws -> RecordPage<ExchangeRecord>
    {
        let found = try await unlessTooMuch { try await page(request, exchangeReading(request)) }
        if let found { return found }
        return try await pageOfAll(request) { try await $0.exchanges($1, within: budget) }
    }

    package func volume(
        _ request: ListRequest, of subject: ListRequest.Subject, within budget: Duration,
        borders: @escaping @Sendable (ClosedRange<Int64>) -> [Int64]
    ) async throws -> ListVolume? {
        let found = try await unlessTooMuch {
            subject == .exchanges
                ? try await volume(exchangeReading(request), borders)
                : try await volumeOfTransactions(request, borders)
        }
        if let found { return found }
        return try await reading { try await $0.volume(request, of: subject, within: budget, borders: borders) }
    }

    package func exchangeTimes(_ request: ListRequest) async throws -> ClosedRange<Int64>? {
        let found = try await unlessTooMuch {
            let reading = try await exchangeReading(request)
            let (thread, changed) = try await memory(reading)
            return try await times(reading, thread, besides: changed)
        }
        if let found { return found }
        return try await reading { try await $0.exchangeTimes(request) }
    }

    // MARK: Exchanges

    private struct ExchangeReading: Sendable {
        var filter: ExchangeFilter
        var now: Int64
        /// SQL for transactions, for each of their exchanges, and for the times alone.
        var transactions, exchanges, times: String
        var readsOthers, looksAtFamilies: Bool
    }

    private func exchangeReading(_ request: ListRequest) async throws -> ExchangeReading {
        guard usesRows else { throw TransactionLoader.TooMuch() }
        let (filter, names, now) = try await asked(request, ExchangeFilter.self)
        let selection = RowSelection(filter)
        let conditions = try await conditions(of: selection.filters, names, now: now)
        var readsOthers = false
        if case .exchangesOutsideTransactions = selection.others { readsOthers = true }
        return ExchangeReading(
            filter: filter, now: now, transactions: conditions.sql(selection.transactions),
            exchanges: conditions.sql(selection.exchanges ?? [], about: .exchanges),
            times: conditions.sql(filter.byTime.conditions, about: .exchanges),
            readsOthers: readsOthers, looksAtFamilies: selection.transactions.looksAtFamilies)
    }

    /// Loads the exchanges outside of transactions and those of outdated rows, with further transactions.
    private func memory(
        _ reading: ExchangeReading, besides listed: (Set<GUID>) async throws -> [GUID] = { _ in [] }
    ) async throws -> (StoreThread<MemoryStore>, changed: Set<GUID>) {
        // Read first, because rows may be made meanwhile.
        let changed = try await outdated(withFamilies: reading.looksAtFamilies)
        let thread = try await WorkingSet(tables, factLimit: Self.factsOfExchanges) { loading in
            if reading.readsOthers { try await loading.loadOutsideTransactions() }
            let all = changed.union(try await listed(changed))
            try await loading.load(reading.looksAtFamilies ? try await families(of: all) : all)
        }.thread
        guard try await !thread.run({ (memory) throws in try memory.reader.hasExchangesFarAhead() }) else {
            throw TransactionLoader.TooMuch()
        }
        return (thread, changed)
    }

    private static let factsOfExchanges = 200_000

    func exchangeCountOutside() async throws -> Int {
        let found = try await WorkingSet(tables, factLimit: Self.factsOfExchanges) { loading in
            try await loading.loadOutsideTransactions()
            try await loading.load([])
        }
        return try await read(found.thread) { try $0.exchangeCount() }
    }

    private func page(_ request: ListRequest, _ reading: ExchangeReading) async throws -> RecordPage<ExchangeRecord> {
        let limit = try request.pageSize()
        let cursor = try request[.cursor].map { text in try QueryFailure.ofCursor { try ListCursor(text) } }
        let columns = ["each_opened_us", "source_ranks[\(RowConditions.sourceOfExchange)]", "each_sequences"]
        let behind = cursor.map { " AND \(ClickHouseTables.isBehind($0, columns))" } ?? ""
        let (thread, changed) = try await memory(reading) { changed in
            try await tables.transactions(
                ofExchanges: """
                    WHERE gone = 0 AND \(reading.transactions) AND \(reading.exchanges)\(behind)\(ClickHouseTables.notAmong(changed)) \
                    ORDER BY \(columns.map { "\($0) DESC" }.joined(separator: ", ")) LIMIT \(limit + 1)
                    """)
        }
        let (filter, now) = (reading.filter, reading.now)
        var page = try await thread.run(until: Interruption(after: readLimit, by: clock)) { memory, interruption in
            try memory.reader.reading(until: interruption) {
                let place = try cursor.map(memory.local)
                let page = try memory.reader.exchanges(
                    matching: filter, limit: limit, after: place?.description, now: now)
                return try memory.global(page)
            }
        }
        if page.rows.isEmpty, cursor == nil {
            let count = try await thread.run { (memory) throws in try memory.reader.exchangeCount() }
            let others = reading.readsOthers ? 0 : try await exchangeCountOutside()
            page.whyEmpty = StoreReader.whyNone(
                of: count + others + (try await tables.exchangeCount(besides: changed)))
        }
        return page
    }

    private func times(
        _ reading: ExchangeReading, _ thread: StoreThread<MemoryStore>, besides changed: Set<GUID>
    ) async throws -> ClosedRange<Int64>? {
        let (filter, now) = (reading.filter.byTime, reading.now)
        let inMemory = try await read(thread) { reader in
            var times: [Int64] = []
            try reader.forEachExchange(matching: filter, now: now) { times.append($0.exchange.openedMicroseconds) }
            return times
        }
        let inRows = try await tables.times(
            "each_opened_us",
            "\(ClickHouseTables.exchangeJoin) WHERE gone = 0 AND \(reading.times)\(ClickHouseTables.notAmong(changed))")
        return Self.range(inMemory + inRows)
    }

    private func volume(
        _ reading: ExchangeReading, _ borders: @Sendable (ClosedRange<Int64>) -> [Int64]
    ) async throws -> ListVolume? {
        let (thread, changed) = try await memory(reading)
        guard let times = try await times(reading, thread, besides: changed) else { return nil }
        var volume = ListVolume(times, borders)
        let counts = try await tables.count(
            ofExchanges: "WHERE \(reading.transactions) AND \(reading.exchanges)\(ClickHouseTables.notAmong(changed))",
            by: "\(Self.step("each_opened_us", volume.borders)), \(Self.outcomeOfExchange)")
        volume.add(counts)
        let (filter, now, steps) = (reading.filter, reading.now, volume.borders)
        volume.add(
            try await read(thread) { reader in
                var counts: [ListVolume.Count] = []
                try reader.forEachExchange(matching: filter, now: now) { record in
                    let step = steps.count { $0 <= record.exchange.openedMicroseconds }
                    counts.append((step, record.volumeOutcome.rawValue, 1))
                }
                return counts
            })
        return volume
    }

    private static let outcomeOfExchange = """
        toInt64(multiIf(each_states = 2 OR each_statuses >= 400, \(TransactionOutcome.failed.rawValue), \
        each_states IN (1, 4), \(TransactionOutcome.succeeded.rawValue), \
        each_states = 3, \(TransactionOutcome.cancelled.rawValue), \
        each_states = 5, \(TransactionOutcome.interrupted.rawValue), \(TransactionOutcome.open.rawValue)))
        """

    // MARK: Transactions

    private func volumeOfTransactions(
        _ request: ListRequest, _ borders: @Sendable (ClosedRange<Int64>) -> [Int64]
    ) async throws -> ListVolume? {
        guard usesRows else { throw TransactionLoader.TooMuch() }
        let (filter, names, now) = try await asked(request, TransactionFilter.self)
        let conditions = try await conditions(of: [filter], names, now: now)
        let (all, indexed) = (conditions.sql(filter), conditions.sql(filter.byIndex))
        let changed = try await outdated(withFamilies: filter.looksAtFamilies)
        let thread = try await memory(of: changed)
        let (byIndex, limit) = (filter.byIndex, changed.count + 1)
        let (inMemory, timed) = try await read(thread) { reader in
            (
                try reader.transactions(matching: filter, limit: limit, after: nil, now: now).rows,
                try reader.transactions(matching: byIndex, limit: limit, after: nil, now: now).rows
            )
        }
        let inRows = try await tables.times(
            "begun_us", "WHERE gone = 0 AND \(indexed)\(ClickHouseTables.notAmong(changed))")
        guard let times = Self.range(timed.map(\.begunMicroseconds) + inRows) else { return nil }
        var volume = ListVolume(times, borders)
        volume.add(
            try await tables.count(
                "WHERE gone = 0 AND \(all)\(ClickHouseTables.notAmong(changed))",
                by: "\(Self.step("begun_us", volume.borders)), toInt64(\(RowConditions.outcome(now: now)))"))
        volume.add(
            inMemory.map { row in
                (volume.borders.count { $0 <= row.begunMicroseconds }, row.outcome.rawValue, 1)
            })
        return volume
    }

    private static func range(_ times: [Int64]) -> ClosedRange<Int64>? {
        guard let first = times.min(), let last = times.max() else { return nil }
        return first...last
    }

    /// SQL for the number of borders up to a time.
    private static func step(_ column: String, _ borders: [Int64]) -> String {
        "toInt64(\(borders.map { "(\(column) >= \($0))" }.joined(separator: " + ")))"
    }
}

extension ListVolume {
    /// How many rows are in a step, which counts from 1, and have an outcome.
    fileprivate typealias Count = (step: Int, outcome: Int, count: Int)

    fileprivate mutating func add(_ more: [Count]) {
        for index in counts.indices where counts[index] == nil { counts[index] = [:] }
        for (step, outcome, count) in more where counts.indices.contains(step - 1) {
            counts[step - 1]?[TransactionOutcome(rawValue: outcome) ?? .open, default: 0] += count
        }
    }
}

extension ExchangeRecord {
    fileprivate var volumeOutcome: TransactionOutcome {
        if state == .failed || exchange.status ?? 0 >= 400 { return .failed }
        return switch state {
        case .completed, .mocked: .succeeded
        case .cancelled: .cancelled
        case .interrupted: .interrupted
        case .failed: .failed
        case .inProgress: .open
        }
    }
}

extension ClickHouseTables {
    fileprivate func transactions(ofExchanges clauses: String) async throws(WaybillError) -> [GUID] {
        let sql = "SELECT tx, each_opened_us FROM transactions FINAL \(Self.exchangeJoin) \(clauses)"
        return try await client.rows(sql, reading) { row in (try row.guid(), try row.integer(Int64.self)) }.map(\.0)
    }

    /// Returns the least and the greatest time; empty without any.
    fileprivate func times(_ column: String, _ clauses: String) async throws(WaybillError) -> [Int64] {
        try await client.rows(
            "SELECT min(\(column)), max(\(column)), count() FROM transactions FINAL \(clauses)", reading
        ) { row in
            let times = [try row.integer(Int64.self), try row.integer(Int64.self)]
            return try row.integer(UInt64.self) == 0 ? [] : times
        }.flatMap(\.self)
    }

    fileprivate func count(ofExchanges clauses: String, by group: String) async throws(WaybillError)
        -> [ListVolume.Count]
    {
        try await count("\(Self.exchangeJoin) \(clauses) AND gone = 0", by: group)
    }

    /// - Parameter group: SQL for two numbers.
    fileprivate func count(_ clauses: String, by group: String) async throws(WaybillError) -> [ListVolume.Count] {
        try await client.rows(
            "SELECT \(group), count() FROM transactions FINAL \(clauses) GROUP BY \(group)", reading
        ) { row in
            (
                Int(try row.integer(Int64.self)), Int(try row.integer(Int64.self)),
                Int(clamping: try row.integer(UInt64.self))
            )
        }
    }
}
#endif
