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
            guard let times = try await tables.times(of: rows) else { return nil }
            var volume = ListVolume(times, borders)
            volume.add(try await tables.counts(of: rows, by: volume.borders))
            return volume
        } orElse: {
            try await reading { try await $0.volume(request, of: subject, within: budget, borders: borders) }
        }
    }

    package func exchangeTimes(_ request: ListRequest) async throws -> ClosedRange<Int64>? {
        try await unlessTooMuch {
            try await tables.times(of: timedExchanges(request))
        } orElse: {
            try await reading { try await $0.exchangeTimes(request) }
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
        let (filter, byTime, current) = (reading.filter, reading.filter.byTime, reading.current)
        let (timed, listed) = try await read(memory(reading)) { reader in
            var (timed, listed) = ([Int64](), [(Int64, TransactionOutcome)]())
            try reader.forEachExchange(matching: byTime, now: current.now) {
                timed.append($0.exchange.openedMicroseconds)
            }
            try reader.forEachExchange(matching: filter, now: current.now) {
                listed.append(($0.exchange.openedMicroseconds, $0.volumeOutcome))
            }
            return (timed, listed)
        }
        return TimedRows(
            table: "transactions FINAL \(ClickHouseTables.exchangeJoin)", time: "each_opened_us",
            outcome: """
                toInt64(multiIf(each_states = 2 OR each_statuses >= 400, \(TransactionOutcome.failed.rawValue), \
                each_states IN (1, 4), \(TransactionOutcome.succeeded.rawValue), \
                each_states = 3, \(TransactionOutcome.cancelled.rawValue), \
                each_states = 5, \(TransactionOutcome.interrupted.rawValue), \(TransactionOutcome.open.rawValue)))
                """,
            isTimed: current.conditions.sql(byTime.conditions, about: .exchanges) + current.areCurrent,
            isListed: reading.sql, timed: timed, listed: listed)
    }

    private func timedTransactions(_ request: ListRequest) async throws -> TimedRows {
        let (filter, current) = try await currentRows(request)
        let (byIndex, limit) = (filter.byIndex, current.changed.count + 1)
        let (timed, listed) = try await read(memory(of: current)) { reader in
            (
                try reader.transactions(matching: byIndex, limit: limit, after: nil, now: current.now).rows,
                try reader.transactions(matching: filter, limit: limit, after: nil, now: current.now).rows
            )
        }
        return TimedRows(
            table: "transactions FINAL", time: "begun_us",
            outcome: "toInt64(\(RowConditions.outcome(now: current.now)))", isTimed: current.sql(byIndex),
            isListed: current.sql(filter), timed: timed.map(\.begunMicroseconds),
            listed: listed.map { ($0.begunMicroseconds, $0.outcome) })
    }
}

/// The rows of a list: SQL for current ones, and the others from memory.
private struct TimedRows: Sendable {
    var table, time, outcome: String
    /// SQL for rows whose times count, and for counted ones.
    var isTimed, isListed: String
    var timed: [Int64]
    var listed: [(Int64, TransactionOutcome)]
}

extension ListVolume {
    /// How many rows are in a step, which counts from 1, and have an outcome.
    fileprivate typealias Count = (step: Int, outcome: Int, count: Int)

    fileprivate mutating func add(_ more: [Count]) {
        counts = counts.map { _ in [:] }
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
        let sql =
            "SELECT tx, each_opened_us FROM transactions FINAL \(Self.exchangeJoin) WHERE gone = 0 AND \(clauses)"
        return try await client.rows(sql, reading) { row in (try row.guid(), try row.integer(Int64.self)) }.map(\.0)
    }

    /// Returns the least and the greatest time; `nil` without any.
    fileprivate func times(of rows: TimedRows) async throws(WaybillError) -> ClosedRange<Int64>? {
        let inRows = try await client.rows(
            "SELECT min(\(rows.time)), max(\(rows.time)), count() FROM \(rows.table) WHERE gone = 0 AND \(rows.isTimed)",
            reading
        ) { row in
            let times = [try row.integer(Int64.self), try row.integer(Int64.self)]
            return try row.integer(UInt64.self) == 0 ? [] : times
        }
        let times = rows.timed + inRows.joined()
        guard let first = times.min(), let last = times.max() else { return nil }
        return first...last
    }

    fileprivate func counts(of rows: TimedRows, by borders: [Int64]) async throws(WaybillError) -> [ListVolume.Count] {
        let step = "toInt64(\(borders.map { "(\(rows.time) >= \($0))" }.joined(separator: " + ")))"
        let counts = try await client.rows(
            """
            SELECT \(step), \(rows.outcome), count() FROM \(rows.table) WHERE gone = 0 AND \(rows.isListed) \
            GROUP BY \(step), \(rows.outcome)
            """, reading
        ) { row in
            (
                step: Int(try row.integer(Int64.self)), outcome: Int(try row.integer(Int64.self)),
                count: Int(clamping: try row.integer(UInt64.self))
            )
        }
        return counts
            + rows.listed.map { time, outcome in (borders.count { $0 <= time }, outcome.rawValue, 1) }
    }
}
#endif
