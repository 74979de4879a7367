#if ClickHouse
import WaybillCore
package import WaybillQueries
import WaybillStore

/// Lists of exchanges, and the numbers above lists: from rows, and for outdated rows from facts.
extension ClickHouseStore {
    package func exchanges(_ request: ListRequest, within budget: Duration?) async throws -> RecordPage<ExchangeRecord>
    {
        try await unlessTooMuch {
            try await page(request, exchangeReading(request))
        } orElse: {
            try await pageOfAll(request) { try await $0.exchanges($1, within: budget) }
        }
    }

    package func volume(
        _ request: ListRequest, of subject: ListRequest.Subject, within budget: Duration,
        borders: @escaping @Sendable (ClosedRange<Int64>) -> [Int64]
    ) async throws -> ListVolume? {
        try await unlessTooMuch {
            let rows = try await subject == .exchanges ? timedExchanges(request) : timedTransactions(request)
            func inMemory(_ borders: @escaping @Sendable (ClosedRange<Int64>) -> [Int64]) async throws -> ListVolume? {
                try await read(rows.memory) { reader in
                    try reader.volume(request, of: subject, now: rows.now, .unlimited, borders)
                }
            }
            let times = [try await inMemory { _ in [] }?.times, try await tables.times(of: rows)].compactMap(\.self)
            guard let first = times.map(\.lowerBound).min(), let last = times.map(\.upperBound).max() else {
                return nil
            }
            var volume = ListVolume(first...last, borders)
            guard !volume.counts.isEmpty else { return volume }
            let known = volume.borders
            volume.counts = try await inMemory { _ in known }?.counts ?? volume.counts.map { _ in [:] }
            try await tables.count(rows, in: &volume)
            return volume
        } orElse: {
            try await reading { try await $0.volume(request, of: subject, within: budget, borders: borders) }
        }
    }

    // MARK: Exchanges

    private struct ExchangeReading: Sendable {
        var filter: ExchangeFilter
        var selection: RowSelection
        var current: CurrentRows

        var readsOthers: Bool {
            if case .exchangesOutsideTransactions = selection.others { true } else { false }
        }

        var sql: String {
            let exchanges = current.conditions.sql(selection.exchanges ?? [], about: .exchanges)
            return "\(current.sql(selection.transactions)) AND \(exchanges)"
        }
    }

    private func exchangeReading(_ request: ListRequest) async throws -> ExchangeReading {
        let (filter, names, now) = try await asked(request, ExchangeFilter.self)
        let selection = RowSelection(filter)
        let current = try await currentRows(
            selection.filters, withFamilies: selection.transactions.looksAtFamilies, names, now: now)
        return ExchangeReading(filter: filter, selection: selection, current: current)
    }

    /// Loads the exchanges outside of transactions and those of outdated rows, with further transactions.
    private func memory(
        _ reading: ExchangeReading, besides listed: [GUID] = []
    ) async throws -> StoreThread<MemoryStore> {
        let thread = try await WorkingSet(tables, factLimit: Self.factsOfExchanges) { loading in
            if reading.readsOthers { try await loading.loadOutsideTransactions() }
            let all = reading.current.changed.union(listed)
            let withFamilies = reading.selection.transactions.looksAtFamilies
            try await loading.load(withFamilies ? try await families(of: all) : all)
        }.memory()
        guard try await !thread.run({ (memory) throws in try memory.reader.hasExchangesFarAhead() }) else {
            throw WorkingSet.TooMuch()
        }
        return thread
    }

    private static let factsOfExchanges = 200_000

    func exchangeCountOutside() async throws -> Int {
        let others = try await WorkingSet(tables, factLimit: Self.factsOfExchanges) {
            try await $0.loadAllOutsideTransactions()
        }
        return try await read(others.memory()) { try $0.exchangeCount() }
    }

    private func page(_ request: ListRequest, _ reading: ExchangeReading) async throws -> RecordPage<ExchangeRecord> {
        let limit = try request.pageSize()
        let cursor = try request[.cursor].map { text in try QueryFailure.ofCursor { try ListCursor(text) } }
        let columns = ["each_opened_us", "source_ranks[\(RowConditions.sourceOfExchange)]", "each_sequences"]
        let behind = cursor.map { " AND \(ClickHouseTables.isBehind($0, columns))" } ?? ""
        let order = columns.map { "\($0) DESC" }.joined(separator: ", ")
        let listed = try await tables.transactions(
            ofExchanges: "\(reading.sql)\(behind) ORDER BY \(order) LIMIT \(limit + 1)")
        let thread = try await memory(reading, besides: listed)
        let (filter, now) = (reading.filter, reading.current.now)
        var page = try await readMemory(thread) { memory in
            let place = try cursor.map(memory.local)
            return try memory.global(
                memory.reader.exchanges(matching: filter, limit: limit, after: place?.description, now: now))
        }
        if page.rows.isEmpty, cursor == nil {
            let count = try await thread.run { (memory) throws in try memory.reader.exchangeCount() }
            let others = reading.readsOthers ? 0 : try await exchangeCountOutside()
            page.whyEmpty = StoreReader.whyNone(
                of: count &+ others &+ (try await tables.exchangeCount(reading.current)))
        }
        return page
    }

    // MARK: Times

    private func timedExchanges(_ request: ListRequest) async throws -> TimedRows {
        let reading = try await exchangeReading(request)
        let (byTime, current) = (reading.filter.byTime.conditions, reading.current)
        return TimedRows(
            table: "transactions FINAL \(ClickHouseTables.exchangeJoin)", time: "each_opened_us",
            outcome: """
                toInt64(multiIf(each_states = 2 OR each_statuses >= 400, \(TransactionOutcome.failed.rawValue), \
                each_states IN (1, 4), \(TransactionOutcome.succeeded.rawValue), \
                each_states = 3, \(TransactionOutcome.cancelled.rawValue), \
                each_states = 5, \(TransactionOutcome.interrupted.rawValue), \(TransactionOutcome.open.rawValue)))
                """,
            isTimed: current.conditions.sql(byTime, about: .exchanges) + current.areCurrent, isListed: reading.sql,
            memory: try await memory(reading), now: current.now)
    }

    private func timedTransactions(_ request: ListRequest) async throws -> TimedRows {
        let (filter, current) = try await currentRows(request)
        return TimedRows(
            table: "transactions FINAL", time: "begun_us",
            outcome: "toInt64(\(RowConditions.outcome(now: current.now)))", isTimed: current.sql(filter.byIndex),
            isListed: current.sql(filter), memory: try await memory(of: current), now: current.now)
    }
}

private struct TimedRows: Sendable {
    var table, time, outcome: String
    /// SQL for rows whose times count, and for counted ones.
    var isTimed, isListed: String
    /// The other rows, from facts.
    var memory: StoreThread<MemoryStore>
    var now: Int64
}

extension ClickHouseTables {
    fileprivate func transactions(ofExchanges clauses: String) async throws(WaybillError) -> [GUID] {
        let sql =
            "SELECT tx, each_opened_us FROM transactions FINAL \(Self.exchangeJoin) WHERE gone = 0 AND \(clauses)"
        return try await client.rows(sql, reading) { row in (try row.guid(), try row.integer(Int64.self)) }.map(\.0)
    }

    fileprivate func times(of rows: TimedRows) async throws(WaybillError) -> ClosedRange<Int64>? {
        try await client.rows(
            "SELECT min(\(rows.time)), max(\(rows.time)), count() FROM \(rows.table) WHERE gone = 0 AND \(rows.isTimed)",
            reading
        ) { row in
            let (first, last): (Int64, Int64) = (try row.integer(), try row.integer())
            return try row.integer(UInt64.self) == 0 ? nil : first...max(first, last)
        }.first ?? nil
    }

    fileprivate func count(_ rows: TimedRows, in volume: inout ListVolume) async throws(WaybillError) {
        // Steps count from 1.
        let step = "toInt64(\(volume.borders.map { "(\(rows.time) >= \($0))" }.joined(separator: " + ")))"
        try await client.forEachRow(
            """
            SELECT \(step), \(rows.outcome), count() FROM \(rows.table) WHERE gone = 0 AND \(rows.isListed) \
            GROUP BY \(step), \(rows.outcome)
            """, reading
        ) { row in
            let (step, outcome): (Int64, Int64) = (try row.integer() - 1, try row.integer())
            let count = Int(clamping: try row.integer(UInt64.self))
            guard volume.counts.indices.contains(Int(step)) else { return }
            volume.counts[Int(step)]?[TransactionOutcome(rawValue: Int(outcome)) ?? .open, default: 0] &+= count
        }
    }
}
#endif
