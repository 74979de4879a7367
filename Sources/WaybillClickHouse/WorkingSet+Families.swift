#if ClickHouse
import WaybillCore
import WaybillQueries
import WaybillStore

/// Transactions with their families, and with other exchanges of their clients, which align the clocks.
extension WorkingSet {
    static let factsOfFamilies = 200_000
    private static let (transactionLimit, exchangeCount) = (10_000, 300)

    /// Loads transactions with all that their spans refer to.
    mutating func loadRelated(to asked: Set<GUID>) async throws {
        try await loadWithFamily(asked)
        for (exchange, time) in causes(of: asked) { try await loadExchanges(of: exchange.source, around: time) }
    }

    /// Loads transactions, and compares no clocks.
    mutating func loadWithFamily(_ asked: Set<GUID>) async throws {
        try await loadParts(of: asked)
        var above: Set<GUID> = []
        var next = Set(openings(of: asked).compactMap(\.content.parent)).subtracting(asked)
        for _ in 0...ParentWalk.limit where !next.isEmpty {
            try await loadParts(of: next)
            above.formUnion(next)
            next = Set(openings(of: next).compactMap(\.content.parent)).subtracting(above).subtracting(asked)
        }
        // Ancestors show how many children they have.
        var (level, beside, met) = (asked, above, asked.union(above))
        for _ in 0...ParentWalk.limit where !level.isEmpty {
            let children = try await tables.children(of: level.union(beside))
            try await loadParts(of: Set(children.map(\.id)))
            level = Set(children.filter { level.contains($0.parent) }.map(\.id)).subtracting(met)
            met.formUnion(level)
            beside = []
            if transactions.count > Self.transactionLimit { throw TooMuch() }
        }
    }

    // MARK: Clocks

    /// The exchanges that caused parts, with their opening times by their sources' clocks.
    private func causes(of asked: Set<GUID>) -> [(exchange: FactID, time: Int64)] {
        Set(openings(of: asked).compactMap(\.content.cause)).compactMap { cause in
            rows[cause].map { (cause, $0.fact.atMicroseconds) }
        }
    }

    private mutating func loadExchanges(of source: GUID, around time: Int64) async throws {
        let window = OffsetSamples.windowMicroseconds
        var found: [ClickHouseTables.FactRow] = []
        for (times, isBackwards) in [(time - window...time, true), (time...time + window, false)] {
            found += try await tables.exchanges(
                of: source, times, isBackwards: isBackwards, limit: Self.exchangeCount)
        }
        // Exchanges outside of transactions count among the nearest, too.
        for row in found where row.transaction == nil { rows[row.id] = row }
        let stranded = try await tables.stranded(among: found)
        try await loadParts(of: Set(found.compactMap(\.transaction) + stranded.map(\.transaction)))
    }

    /// - Parameter asked: Transactions that must be whole.
    /// - Throws: ``DatabaseBooks/Incomplete`` if a server lacks facts of the sources.
    mutating func memory(whole asked: Set<GUID>) async throws -> StoreThread<MemoryStore> {
        try await loadTombstones()
        let sources = try await loadRest()
        // Without a quorum, a server may lack parts.
        let doubtful = tables.keepsRows ? [] : Array(sources.keys)
        let counts = try await tables.factCounts(of: doubtful)
        for id in doubtful where counts[id] ?? 0 < sources[id]?.expected.count ?? 0 {
            throw DatabaseBooks.Incomplete()
        }
        func isExpected(_ fact: FactID) -> Bool { sources[fact.source]?.expected.contains(fact.sequence) == true }
        // They may lack no fact between the first and the last one, and none that has arrived since.
        let its = rows.filter { isExpected($0.key) && $0.value.transaction.map(asked.contains) == true }
        for fact in try await tables.facts(of: transactions, asked, between: Array(its.values))
        where rows[fact] == nil && isExpected(fact) {
            throw DatabaseBooks.Incomplete()
        }
        return try await memory()
    }
}

extension ClickHouseTables {
    func memory(ofRelatedTo asked: Set<GUID>) async throws -> StoreThread<MemoryStore> {
        var set = WorkingSet(self, factLimit: WorkingSet.factsOfFamilies)
        try await set.loadRelated(to: asked)
        return try await set.memory(whole: asked)
    }

    func memory(listing asked: Set<GUID>) async throws -> StoreThread<MemoryStore> {
        var set = WorkingSet(self, factLimit: WorkingSet.factsOfFamilies)
        try await set.loadWithFamily(asked)
        return try await set.memory(whole: asked)
    }

    func related(to asked: Set<GUID>) async throws -> Set<GUID> {
        var set = WorkingSet(self, factLimit: WorkingSet.factsOfFamilies)
        try await set.loadRelated(to: asked)
        return set.transactions
    }

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
