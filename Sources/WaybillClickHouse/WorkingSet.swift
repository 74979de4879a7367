#if ClickHouse
import WaybillCore
import WaybillQueries
import WaybillStore

/// The part of the database that a write or an export needs: the books of some sources, and the transactions that are
/// touched. It costs the same in a large database.
struct WorkingSet {
    let thread: StoreThread<MemoryStore>
    /// The installations that are bound to their first secret already.
    let installations: Set<GUID>
    let shares: [GUID: TransactionSet.Share]
    private let nameCount: Int
    private let tables: ClickHouseTables

    init(for arrivals: [ReceivedSet], _ tables: ClickHouseTables) async throws {
        var loading = WorkingSetLoader(arrivals.flatMap(\.set.sources), tables, factLimit: .max)
        try await loading.load()
        let apps = loading.apps
        try await self.init(loading, tables) { apps.contains($0.app) }
    }

    init(
        _ tables: ClickHouseTables, factLimit: Int = WorkingSetLoader.factLimit,
        names isNeeded: (NameChange) -> Bool = { _ in true },
        _ load: (inout WorkingSetLoader) async throws -> Void
    ) async throws {
        var loading = WorkingSetLoader([], tables, factLimit: factLimit)
        try await loading.loadTombstones()
        try await load(&loading)
        try await self.init(loading, tables, names: isNeeded)
    }

    /// Calls `body` with parts of the database that have together all that an erasure erases.
    static func forEach(
        erasing scope: ErasureScope, _ tables: ClickHouseTables, _ body: (WorkingSet) async throws -> Void
    ) async throws {
        var groups: [[GUID]] = []
        switch scope {
        case .transactions(let ids): groups = [ids]
        case .installation(let id):
            return try await body(WorkingSet(erasingFrom: tables) { try await $0.load(installation: id) })
        case .begunBefore(let date): groups = try await tables.begun(before: date.microseconds)
        case .all, .networkLogs, .pending: groups = try await tables.begun(before: .max)
        }
        for ids in groups { try await body(WorkingSet(erasingFrom: tables) { try await $0.load(Set(ids)) }) }
        guard case .transactions = scope else {
            return try await body(
                WorkingSet(erasingFrom: tables) { loading in
                    try await loading.loadOutsideTransactions()
                    try await loading.load([])
                })
        }
    }

    private init(
        erasingFrom tables: ClickHouseTables, _ load: (inout WorkingSetLoader) async throws -> Void
    ) async throws {
        var versions: Set<AppVersion> = []
        try await self.init(tables, factLimit: .max) { name in
            // Behind its version, a name of one launch says which.
            versions.contains { $0.app == name.app && $0.version == name.appVersion.prefix { $0 != "\u{1}" } }
        } _: { loading in
            try await load(&loading)
            versions = Set(loading.books.map { AppVersion($0.share.source) })
        }
    }

    init(retiring facts: [GUID: SequenceRanges], _ tables: ClickHouseTables) async throws {
        try await self.init(tables, factLimit: .max) { _ in
            false
        } _: { loading in
            loading.firstArrival = .min
            try await loading.load(of: facts, areOpenings: true)
        }
    }

    /// - Parameter memory: An empty store to load into; `nil` for a new one.
    init(
        _ loading: WorkingSetLoader, _ tables: ClickHouseTables, in memory: StoreThread<MemoryStore>? = nil,
        names isNeeded: (NameChange) -> Bool
    ) async throws {
        self.tables = tables
        (thread, nameCount) = (try memory ?? MemoryStore.thread(), loading.names.count { !$0.isRemoved })
        installations = Set(loading.installations.keys)
        shares = Dictionary(loading.books.map { ($0.share.source.id, $0.share) }) { first, _ in first }
        try await thread.replay(loading.names.filter(isNeeded))
        try await thread.replay(loading.books)
        let (tombstones, installations, ranks) = (loading.tombstones, loading.installations, loading.ranks)
        let spans = loading.spans
        try await thread.run { memory throws(WaybillError) in
            memory.ranks = ranks
            try memory.store.replay(spans)
            try memory.store.replay(installations)
            try memory.store.replay(tombstones)
        }
    }

    func rehearse(_ arrivals: [ReceivedSet], factsPerTransaction limit: Int?) async throws(WaybillError) -> (
        results: [Result<Receipt, WaybillError>], changes: StoreChanges
    ) {
        let nameCount = nameCount
        return try await thread.run { memory throws(WaybillError) in
            memory.store.nameCount = nameCount
            return try memory.store.rehearse(arrivals, factsPerTransaction: limit)
        }
    }

    func rehearse<Value: Sendable>(
        _ body: @escaping @Sendable (Store) throws(WaybillError) -> (Value, [TransactionSet.Share])
    ) async throws(WaybillError) -> (value: Value, changes: StoreChanges) {
        let nameCount = nameCount
        return try await thread.run { memory throws(WaybillError) in
            memory.store.nameCount = nameCount
            return try memory.store.rehearse { () throws(WaybillError) in try body(memory.store) }
        }
    }

    func rehearseErasure(_ scope: ErasureScope, at wall: Int64) async throws(WaybillError) -> (
        erasure: Erasure, changes: StoreChanges
    ) {
        var (erasure, changes) = try await thread.run { memory throws(WaybillError) in
            try memory.store.rehearse { () throws(WaybillError) in (try memory.store.eraseRows(scope, at: wall), []) }
        }
        // Sources that are not here, or not whole, may use the same names.
        let gone = Dictionary(
            changes.books.map { ($0.share.source.id, $0.gone) } + changes.removedSources.map { ($0, nil) }
        ) { first, _ in first }
        changes.names = try await tables.unused(changes.names, without: gone)
        return (erasure, changes)
    }
}

extension ClickHouseTables {
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
    func forEachPlace(of condition: String, areOpenings: Bool, _ body: (GUID, GUID) throws -> Void)
        async throws(WaybillError)
    {
        let kind = areOpenings ? "kind = 1 OR tx = \(Self.literal(Self.none))" : "1"
        try await client.forEachRow(
            "SELECT DISTINCT source, tx FROM by_source WHERE (\(condition)) AND (\(kind))", reading
        ) { row in try body(try row.guid(), try row.guid()) }
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
