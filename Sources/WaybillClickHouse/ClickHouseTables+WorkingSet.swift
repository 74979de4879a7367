#if ClickHouse
import WaybillCore
import WaybillQueries
import WaybillStore

extension ClickHouseTables {
    /// Returns what loads parts of the database that have together all that an erasure erases.
    func loads(erasing scope: ErasureScope) async throws(WaybillError) -> [WorkingSet.Load] {
        let time: Int64
        switch scope {
        case .transactions(let ids): return [{ try await $0.load(Set(ids)) }]
        case .installation(let id): return [{ try await $0.load(installation: id) }]
        case .begunBefore(let date): time = date.microseconds
        case .all, .networkLogs, .pending: time = .max
        }
        let loads = try await begun(before: time).map { ids -> WorkingSet.Load in { try await $0.load(Set(ids)) } }
        return loads + [{ try await $0.loadAllOutsideTransactions() }]
    }

    /// Returns the sources of an installation, and the transactions that they took part in.
    func contents(of installation: GUID) async throws(WaybillError) -> (Set<GUID>, Set<GUID>) {
        let its = "installation = \(Self.literal(installation))"
        let sources = try await ids("SELECT DISTINCT source FROM books WHERE \(its)")
        let transactions = try await rows(
            "SELECT DISTINCT tx FROM by_source WHERE source IN (?)", of: sources
        ) { row in try row.guid() }
        return (Set(sources), Set(transactions).subtracting([Self.none]))
    }

    /// `condition` is SQL about facts by source.
    func transactions(of condition: String) async throws(WaybillError) -> Set<GUID> {
        Set(try await ids("SELECT DISTINCT tx FROM by_source WHERE \(condition)"))
    }

    /// Returns transactions that began before a time, in groups. Of some, nothing may be left.
    func begun(before time: Int64) async throws(WaybillError) -> [[GUID]] {
        try await ids(
            """
            SELECT DISTINCT tx FROM (SELECT tx FROM begun WHERE begun_us < \(time) OR begun_us = \(Int64.max) \
            UNION ALL SELECT tx FROM spans WHERE \(Self.isOfASource) AND \(time) = \(Int64.max)) ORDER BY tx
            """
        ).inChunks(of: 2_000).map(Array.init)
    }

    func transactionCount(of books: DatabaseBooks) async throws(WaybillError) -> Int {
        var (count, last) = (0, Self.none)
        try await client.forEachRow("SELECT tx, source, sequence FROM by_source WHERE kind = 1 ORDER BY tx", reading) {
            row in
            let (transaction, source, sequence) = (try row.guid(), try row.guid(), try row.integer(Int64.self))
            guard transaction != last, !books.buried.contains(transaction),
                books.sources[source]?.expected.contains(sequence) == true
            else { return }
            (count, last) = (count + 1, transaction)
        }
        return count
    }

    /// Passes on the sources and transactions of facts, or of those that open a part or have no transaction.
    func forEachPlace(of condition: String, areOpenings: Bool, _ body: (GUID, GUID?) throws -> Void)
        async throws(WaybillError)
    {
        let kind = areOpenings ? "kind = 1 OR tx = \(Self.literal(Self.none))" : "1"
        try await client.forEachRow(
            "SELECT DISTINCT source, tx FROM by_source WHERE (\(condition)) AND (\(kind))", reading
        ) { row in try body(try row.guid(), try row.optionalGUID()) }
    }

    /// Returns the names without a source that has a part left, or was heard since `wall`. `nil` in `gone` means all of a
    /// source.
    func unused(
        _ names: [NameChange], without gone: [GUID: SequenceRanges?] = [:], heardBefore wall: Int64 = .max
    ) async throws(WaybillError) -> [NameChange] {
        guard !names.isEmpty else { return [] }
        var sources: [GUID: (source: DatabaseBooks.Source, names: [[String]])] = [:]
        var unused = Set(names.map { [$0.app, $0.appVersion] })
        try await books(where: Self.shares(of: Set(names.map(\.app)))) { row in
            let source = row.books.share.source
            let launch = SQL.launch(version: source.appVersion, source: source.id)
            let its = [source.appVersion, launch, launch + "\u{1}"].map { [source.app, $0] }
            guard !unused.isDisjoint(with: its) else { return }
            if row.books.heard >= wall { return unused.subtract(its) }
            sources[source.id, default: (row, its)].source.books.merge(row.books)
        }
        // The last ones heard are the likeliest to have any.
        for some in sources.sorted(by: { $0.value.source.books.heard > $1.value.source.books.heard }).inChunks(
            of: Self.idsPerStatement)
        {
            var left: [GUID: SequenceRanges] = [:]
            for (id, (source, its)) in some where !unused.isDisjoint(with: its) {
                var source = source
                source.finish()
                left[id] = source.expected.subtracting((gone[id] ?? SequenceRanges()) ?? source.expected)
            }
            left = left.filter { !$0.value.isEmpty }
            guard !left.isEmpty else { continue }
            try await client.forEachRow(
                "SELECT source, sequence FROM by_source WHERE source IN (\(Self.list(left.keys))) AND kind < 5", reading
            ) { row in
                let (source, sequence) = (try row.guid(), try row.integer(Int64.self))
                if left[source]?.contains(sequence) == true { unused.subtract(sources[source]?.names ?? []) }
            }
        }
        return names.filter { unused.contains([$0.app, $0.appVersion]) }
    }

    /// SQL for books. Most shares of other apps need not be decoded, because the text of a simple name is in a share.
    private static func shares(of apps: Set<String>) -> String {
        let areSimple =
            apps.count <= 20
            && apps.allSatisfy { name in
                name.utf8.allSatisfy { (0x20...0x7A).contains($0) && !#""'\/"#.utf8.contains($0) }
            }
        return areSimple ? apps.map { "position(share, '\($0)') > 0" }.joined(separator: " OR ") : "1"
    }

    /// Returns the facts that arrived before a time and are still there, of each source, the first arrivals first, in groups
    /// of about `count` facts.
    func arrived(before cutoff: Int64, inGroupsOf count: Int64) async throws(WaybillError) -> [[GUID: SequenceRanges]] {
        var (first, old, retired) = ([GUID: Int64](), [GUID: SequenceRanges](), [GUID: SequenceRanges]())
        try await client.forEachRow(
            "SELECT source, arrival, arrived, retired FROM books WHERE \(Self.isOfASource) ORDER BY source, arrival",
            reading
        ) { row in
            let (source, arrival) = (try row.guid(), try row.integer(Int64.self))
            let (arrived, gone) = (try row.array(), try row.array())
            for index in stride(from: 0, to: arrived.count - 2, by: 3) where arrived[index + 2] < cutoff {
                let range = arrived[index]...max(arrived[index], arrived[index + 1])
                old[source, default: SequenceRanges()].insert(range)
                if first[source] == nil { first[source] = arrival }
            }
            for index in stride(from: 0, to: gone.count - 1, by: 2) {
                retired[source, default: SequenceRanges()].insert(gone[index]...max(gone[index], gone[index + 1]))
            }
        }
        for (source, ranges) in retired { old[source] = old[source]?.subtracting(ranges) }
        let buried = DatabaseBooks.Buried(try await tombstones())
        var (groups, size): ([[GUID: SequenceRanges]], Int64) = ([], count)
        let ids = old.filter { !$0.value.isEmpty }.keys.sorted { first[$0] ?? 0 < first[$1] ?? 0 }
        for some in ids.inChunks(of: Self.idsPerStatement) {
            let sources = try await self.sources(some)
            for id in some {
                guard let source = sources[id], let candidates = old[id],
                    !buried.contains(source.books.share.source.installation)
                else { continue }
                for range in source.expected.intersection(candidates).ranges {
                    var next = range.lowerBound
                    while next <= range.upperBound {
                        if size >= count { (groups, size) = (groups + [[:]], 0) }
                        let piece = next...min(range.upperBound, next + (count - size) - 1)
                        groups[groups.count - 1][id, default: SequenceRanges()].insert(piece)
                        (next, size) = (piece.upperBound + 1, size + piece.sequenceCount)
                    }
                }
            }
        }
        return groups
    }

    /// Returns the latest openings of a source by its clock, with their transactions alone.
    func openings(of source: GUID, from start: Int64, limit: Int) async throws(WaybillError) -> [FactRow] {
        try await client.rows(
            """
            SELECT sequence, tx, at_us FROM by_source WHERE source = \(Self.literal(source)) AND kind = 1 AND at_us >= \(start) \
            ORDER BY at_us DESC LIMIT \(limit)
            """, reading
        ) { row in
            let (sequence, transaction, at) = (try row.integer(Int64.self), try row.guid(), try row.integer(Int64.self))
            let opened = Fact.Opened(transaction: transaction, useCase: 0)
            return FactRow(
                source: source, transaction: transaction,
                fact: Fact(sequence: sequence, part: sequence, atMicroseconds: at, content: .opened(opened)))
        }
    }
}
#endif
