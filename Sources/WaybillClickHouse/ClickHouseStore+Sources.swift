#if ClickHouse
package import Foundation
package import WaybillCore
package import WaybillQueries
import WaybillStore

extension ClickHouseStore {
    package func sessions(
        _ request: ListRequest, rows: [GUID], in zone: TimeZone, within budget: Duration
    ) async throws -> SessionList {
        try await unlessTooMuch {
            try await sessions(request, rows: rows, in: zone)
        } orElse: {
            try await reading { try await $0.sessions(request, rows: rows, in: zone, within: budget) }
        }
    }

    private func sessions(_ request: ListRequest, rows ids: [GUID], in zone: TimeZone) async throws -> SessionList {
        let (filter, current) = try await currentRows(request)
        let now = current.now
        var (rows, others) = try await read(memory(of: current)) { reader in
            let matching = Set(
                try reader.transactions(among: current.changed, matching: filter, now: now).map(\.row.id))
            let all = try reader.transactionRows()
            return (all.filter { matching.contains($0.id) }, all)
        }
        var contents = RowContents()
        (contents.readsErrors, contents.readsInstallations, contents.readsProperties) = (true, true, true)
        let limit = ListTotal.limit + 1
        let first = "\(current.sql(filter)) ORDER BY begun_us DESC LIMIT \(limit)"
        try await tables.transactions(where: first, reading: contents, now: now) { rows += $0 }
        rows.sort { ($0.begun, $0.id) > ($1.begun, $1.id) }
        var list = SessionList(Array(rows.prefix(limit)), in: zone)
        if !ids.isEmpty {
            let these = "tx IN (\(ClickHouseTables.list(ids)))\(current.areCurrent)"
            try await tables.transactions(where: these, reading: RowContents(), now: now) { others += $0 }
        }
        for row in others where ids.contains(row.id) { list.sources[row.id] = row.opening.source }
        return list
    }

    /// Loads the latest transactions of sources, those that compare their clocks, and what is around gaps.
    func memory(ofDetails sources: [GUID], _ limits: SourceDetails.Limits) async throws -> StoreThread<MemoryStore> {
        let isWhole = limits.transactions > 0
        var (shown, compared): (Set<GUID>, Set<GUID>) = ([], [])
        var facts: [GUID: SequenceRanges] = [:]
        for source in sources {
            let latest = try await tables.latestTransactions(of: source, limit: SourceClocks.transactionLimit)
            shown.formUnion(latest.prefix(limits.transactions))
            compared.formUnion(
                try await tables.shared(latest, of: source).prefix(limits.clocks * SourceClocks.tries))
            guard isWhole else { continue }
            let gaps = try await read(memory(of: [], besides: [source])) { reader in
                try reader.source(source)?.gaps.prefix(limits.gaps) ?? []
            }
            for sequence in try await tables.facts(around: gaps, of: source) {
                facts[source, default: SequenceRanges()].insert(sequence...sequence)
            }
        }
        // A row tells of children.
        shown.formUnion(try await tables.children(of: shown).map(\.id))
        do { shown.formUnion(try await tables.related(to: compared)) } catch is WorkingSet.TooMuch {}
        return try await WorkingSet(tables) { loading in
            loading.firstArrival = .min
            try await loading.load(of: facts, areOpenings: false, besides: Set(sources)) { $0.union(shown) }
        }.memory()
    }
}

extension ClickHouseTables {
    /// Returns the last transactions that a source took part in, the last one first.
    fileprivate func latestTransactions(of source: GUID, limit: Int) async throws(WaybillError) -> [GUID] {
        try await ids(
            """
            SELECT tx FROM by_source WHERE source = \(Self.literal(source)) AND kind = 1 \
            ORDER BY sequence DESC LIMIT 1 BY sequence LIMIT \(limit)
            """)
    }

    /// Returns those of some transactions that have other sources, too, in the same order.
    fileprivate func shared(_ transactions: [GUID], of source: GUID) async throws(WaybillError) -> [GUID] {
        let shared = try await rows(
            "SELECT DISTINCT tx FROM facts WHERE tx IN (?) AND kind = 1 AND source != \(Self.literal(source))",
            of: transactions
        ) { row in try row.guid() }
        return transactions.filter(Set(shared).contains)
    }

    /// Returns the openings of parts before and after gaps, and the latest fact.
    fileprivate func facts(around gaps: some Sequence<SourceRecord.Gap>, of source: GUID) async throws(WaybillError)
        -> [Int64]
    {
        let its = "SELECT sequence FROM by_source WHERE source = \(Self.literal(source))"
        var selections = ["\(its) ORDER BY at_us DESC LIMIT 1"]
        for gap in gaps {
            selections.append("\(its) AND kind = 1 AND sequence < \(gap.first) ORDER BY sequence DESC LIMIT 1")
            selections.append("\(its) AND kind = 1 AND sequence > \(gap.last) ORDER BY sequence LIMIT 1")
        }
        var sequences: [Int64] = []
        for selection in selections {
            sequences += try await client.rows(selection, reading) { row in try row.integer() }
        }
        return sequences
    }
}
#endif
