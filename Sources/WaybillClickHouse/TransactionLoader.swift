#if ClickHouse
import WaybillCore
import WaybillQueries
import WaybillStore

/// Loads a transaction with its family, and with other exchanges of its clients, which align the clocks.
struct TransactionLoader {
    /// Too many facts are needed, or rows lack something.
    struct TooMuch: Error {}

    private let tables: ClickHouseTables
    private var loaded: Set<GUID> = []
    private var listed: Set<GUID> = []
    private var facts: WorkingSet

    private static let (transactionLimit, factLimit) = (10_000, 200_000)
    private static let exchangeCount = 300

    init(_ tables: ClickHouseTables, factLimit: Int = Self.factLimit) {
        self.tables = tables
        facts = WorkingSet(tables, factLimit: factLimit)
    }

    /// - Throws: ``TooMuch``, or ``DatabaseBooks/Incomplete`` if a server lacks facts of the sources.
    mutating func store(of transactions: [GUID]) async throws -> StoreThread<MemoryStore> {
        _ = try await related(to: Set(transactions))
        return try await store(of: Set(transactions))
    }

    /// Loads transactions with all that their spans refer to, and returns their IDs.
    mutating func related(to asked: Set<GUID>) async throws -> Set<GUID> {
        try await loadWithFamily(asked)
        for (exchange, time) in causes(of: asked) { try await loadExchanges(of: exchange.source, around: time) }
        return loaded
    }

    /// Loads more transactions, and compares no clocks.
    mutating func store(listing transactions: Set<GUID>) async throws -> StoreThread<MemoryStore> {
        let new = transactions.subtracting(listed)
        listed.formUnion(new)
        try await loadWithFamily(new)
        return try await store(of: listed)
    }

    private mutating func loadWithFamily(_ transactions: Set<GUID>) async throws {
        try await load(transactions)
        try await loadFamily(of: transactions)
    }

    private mutating func load(_ transactions: Set<GUID>) async throws {
        let new = transactions.subtracting(loaded)
        loaded.formUnion(new)
        try await facts.loadParts(of: new)
    }

    // MARK: Family

    private mutating func loadFamily(of asked: Set<GUID>) async throws {
        var above: Set<GUID> = []
        var next = Set(facts.openings(of: asked).compactMap(\.content.parent)).subtracting(asked)
        for _ in 0...ParentWalk.limit where !next.isEmpty {
            try await load(next)
            above.formUnion(next)
            next = Set(facts.openings(of: next).compactMap(\.content.parent)).subtracting(above).subtracting(asked)
        }
        // Ancestors show how many children they have.
        var (level, beside, met) = (asked, above, asked.union(above))
        for _ in 0...ParentWalk.limit where !level.isEmpty {
            let children = try await tables.children(of: level.union(beside))
            try await load(Set(children.map(\.id)))
            level = Set(children.filter { level.contains($0.parent) }.map(\.id)).subtracting(met)
            met.formUnion(level)
            beside = []
            if loaded.count > Self.transactionLimit { throw TooMuch() }
        }
    }

    // MARK: Clocks

    /// The exchanges that caused parts, with their opening times by their sources' clocks.
    private func causes(of asked: Set<GUID>) -> [(exchange: FactID, time: Int64)] {
        Set(facts.openings(of: asked).compactMap(\.content.cause)).compactMap { cause in
            facts.rows[cause].map { (cause, $0.fact.atMicroseconds) }
        }
    }

    private mutating func loadExchanges(of source: GUID, around time: Int64) async throws {
        let window = OffsetSamples.windowMicroseconds
        var found: [ClickHouseTables.FactRow] = []
        for (times, isBackwards) in [(time - window...time, true), (time...time + window, false)] {
            found += try await tables.exchanges(
                of: source, times, isBackwards: isBackwards, limit: Self.exchangeCount)
        }
        let unplaced = found.filter { $0.transaction == nil }
        var transactions = Set(found.compactMap(\.transaction))
        let parts = Set(unplaced.filter { $0.fact.part > 0 }.map { FactID(source: source, sequence: $0.fact.part) })
        transactions.formUnion(try await tables.stranded(Array(parts)).map(\.transaction))
        // Exchanges outside of transactions count among the nearest, too.
        for row in unplaced { facts.rows[row.id] = row }
        try await load(transactions)
    }

    /// - Parameter asked: Transactions that must be whole.
    private func store(of asked: Set<GUID>) async throws -> StoreThread<MemoryStore> {
        var loading = facts
        try await loading.loadTombstones()
        let sources = try await loading.loadRest(of: loaded)
        // Without a quorum, a server may lack parts.
        let doubtful = tables.keepsRows ? [] : Array(sources.keys)
        let counts = try await tables.factCounts(of: doubtful)
        for id in doubtful where counts[id] ?? 0 < sources[id]?.expected.count ?? 0 {
            throw DatabaseBooks.Incomplete()
        }
        func isExpected(_ fact: FactID) -> Bool { sources[fact.source]?.expected.contains(fact.sequence) == true }
        // They may lack no fact between the first and the last one, and none that has arrived since.
        let its = facts.rows.filter { isExpected($0.key) && $0.value.transaction.map(asked.contains) == true }
        for fact in try await tables.facts(of: loaded, asked, between: Array(its.values))
        where facts.rows[fact] == nil && isExpected(fact) {
            throw DatabaseBooks.Incomplete()
        }
        return try await loading.memory()
    }
}

extension ClickHouseTables {
    func transactions(with code: SupportCode, limit: Int) async throws(WaybillError) -> [GUID] {
        let its = RowConditions.has(code, "tx")
        return try await ids("SELECT tx FROM facts WHERE \(its) GROUP BY tx ORDER BY tx LIMIT \(limit)")
    }

    func children(of parents: Set<GUID>) async throws(WaybillError) -> [(parent: GUID, id: GUID)] {
        try await rows(
            "SELECT DISTINCT parent, child FROM children WHERE parent IN (?)", of: parents
        ) { row in (parent: try row.guid(), id: try row.guid()) }
    }

    /// The first exchanges of a source between two times, by its clock, or the last ones if `isBackwards`.
    fileprivate func exchanges(of source: GUID, _ times: ClosedRange<Int64>, isBackwards: Bool, limit: Int)
        async throws(WaybillError) -> [FactRow]
    {
        let its = "source = \(Self.literal(source))"
        let places = try await client.rows(
            """
            SELECT sequence, tx FROM by_source WHERE \(its) AND kind = 5 AND at_us >= \(times.lowerBound) AND at_us <= \(times.upperBound) \
            ORDER BY at_us\(isBackwards ? " DESC" : "") LIMIT 1 BY sequence LIMIT \(limit)
            """, reading
        ) { row in (sequence: try row.integer(Int64.self), transaction: try row.guid()) }
        var found: [FactRow] = []
        guard !places.isEmpty else { return found }
        let sequences = places.map { "\($0.sequence)" }.joined(separator: ", ")
        let transactions = Self.list(Set(places.map(\.transaction)))
        try await facts(where: "tx IN (\(transactions)) AND \(its) AND sequence IN (\(sequences))") { row in
            found.append(row)
        }
        return found
    }

    fileprivate func factCounts(of sources: some Collection<GUID>) async throws(WaybillError) -> [GUID: Int64] {
        let counts = try await rows(
            "SELECT source, uniqExact(sequence) FROM by_source WHERE source IN (?) GROUP BY source", of: sources
        ) { row in (try row.guid(), Int64(clamping: try row.integer(UInt64.self))) }
        return Dictionary(counts) { first, _ in first }
    }

    fileprivate func facts(
        of transactions: Set<GUID>, _ some: Set<GUID>, between given: [FactRow]
    ) async throws(WaybillError) -> [FactID] {
        let ranges = Dictionary(grouping: given) { [$0.source, $0.transaction] }.values.map { facts in
            let sequences = facts.map(\.fact.sequence)
            let first = sequences.min() ?? 0
            return Self.condition(facts[0].source, SequenceRanges([first...max(first, sequences.max() ?? first)]))
        }
        let lists = Array(transactions).inChunks(of: Self.idsPerStatement).map {
            "facts WHERE tx IN (\(Self.list($0)))"
        }
        let between = ranges.inChunks(of: Self.idsPerStatement).map {
            "by_source WHERE tx IN (\(Self.list(some))) AND (\($0.joined(separator: " OR ")))"
        }
        var facts: [FactID] = []
        for place in lists + between {
            facts += try await client.rows("SELECT source, sequence FROM \(place)", reading) { row in
                try row.fact()
            }
        }
        return facts
    }
}
#endif
