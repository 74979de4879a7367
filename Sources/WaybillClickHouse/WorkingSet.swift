#if ClickHouse
import WaybillCore
import WaybillQueries
import WaybillStore

/// The part of the database that is needed to judge sets: the books of their sources, and the transactions that they
/// touch. A commit reads nothing else, so it costs the same in a large database.
struct WorkingSet {
    let thread: StoreThread<MemoryStore>
    /// The installations that are bound to their first secret already.
    let installations: Set<GUID>
    /// The number of all names, which is limited.
    private let nameCount: Int
    private let tables: ClickHouseTables

    /// Throws ``TransactionLoader/TooMuch`` if a copy is cheaper.
    init(for arrivals: [ReceivedSet], _ tables: ClickHouseTables) async throws {
        var loading = WorkingSetLoader(arrivals.flatMap(\.set.sources), tables)
        try await loading.load()
        let apps = loading.apps
        try await self.init(loading, tables) { apps.contains($0.app) }
    }

    /// Throws ``TransactionLoader/TooMuch`` if a copy is cheaper.
    ///
    /// - Returns: `nil` for an erasure that is not of transactions or of an installation.
    init?(erasing scope: ErasureScope, _ tables: ClickHouseTables) async throws {
        var loading = WorkingSetLoader([], tables)
        switch scope {
        case .transactions(let ids): try await loading.load(Set(ids))
        case .installation(let id): try await loading.load(installation: id)
        case .all, .begunBefore, .networkLogs, .pending: return nil
        }
        let versions = Set(loading.books.map { NameRows.AppVersion($0.share.source) })
        try await self.init(loading, tables) { name in
            // Behind its version, a name of one launch says which.
            versions.contains { $0.app == name.app && $0.version == name.appVersion.prefix { $0 != "\u{1}" } }
        }
    }

    private init(
        _ loading: WorkingSetLoader, _ tables: ClickHouseTables, names isNeeded: (NameChange) -> Bool
    ) async throws {
        self.tables = tables
        (thread, nameCount) = (try MemoryStore.thread(), loading.names.count { !$0.isRemoved })
        installations = Set(loading.installations.keys)
        try await thread.replay(loading.names.filter(isNeeded))
        for books in loading.books { try await thread.replay([books]) }
        let (tombstones, installations) = (loading.tombstones, loading.installations)
        try await thread.run { memory throws(WaybillError) in
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

    func rehearseErasure(_ scope: ErasureScope, at wall: Int64) async throws(WaybillError) -> (
        erasure: Erasure, changes: StoreChanges
    ) {
        var (erasure, changes) = try await thread.run { memory throws(WaybillError) in
            try memory.store.rehearseErasure(scope, at: wall)
        }
        // Sources that are not here, or not whole, may use the same names.
        let gone = Dictionary(
            changes.books.map { ($0.share.source.id, $0.gone) } + changes.removedSources.map { ($0, nil) }
        ) { first, _ in first }
        var areUsed: [[String]: Bool] = [:]
        var names: [NameChange] = []
        for name in changes.names {
            let version = [name.app, name.appVersion]
            if areUsed[version] == nil { areUsed[version] = try await tables.isUsed(name, without: gone) }
            if areUsed[version] == false { names.append(name) }
        }
        changes.names = names
        return (erasure, changes)
    }
}

private struct WorkingSetLoader {
    private let shares: [TransactionSet.Share]
    private let tables: ClickHouseTables
    private(set) var names: [NameChange] = []
    private(set) var tombstones: [Tombstone] = []
    private(set) var installations: [GUID: [UInt8]] = [:]
    /// To be replayed in this order: every source with its loaded facts, then the arrivals of the sets' own sources.
    private(set) var books: [SourceBooks] = []

    private var rows: [FactID: ClickHouseTables.FactRow] = [:]

    /// More are read from a copy.
    private static let factLimit = 1_000_000

    /// ``Ingestion`` ignores an anchor that dates more parts anew.
    private static let redatedParts = 5_001

    init(_ shares: [TransactionSet.Share], _ tables: ClickHouseTables) { (self.shares, self.tables) = (shares, tables) }

    var apps: Set<String> { Set(shares.map(\.source.app)) }

    mutating func load() async throws {
        let opened = shares.flatMap { share in
            share.facts.compactMap { fact -> (part: FactID, transaction: GUID)? in
                guard case .opened(let content) = fact.content else { return nil }
                return (FactID(source: share.source.id, sequence: fact.sequence), content.transaction)
            }
        }
        let here = Set(opened.map(\.part))
        let continued = Set(
            shares.flatMap { share in
                share.facts.lazy.filter { $0.part != 0 }.map { FactID(source: share.source.id, sequence: $0.part) }
            }
        ).subtracting(here)
        let placed = try await tables.stranded(Array(continued))
        var transactions = Set(opened.map(\.transaction)).union(placed.map(\.transaction))
        for share in shares { transactions.formUnion(try await loadErased(by: share)) }
        let known = Set(shares.compactMap(\.source.installation))
        names = try await tables.names(behind: 0)
        installations = try await tables.installations(known)
        tombstones = try await tables.tombstones(of: transactions.union(known))
        try await loadFacts(of: transactions)
        try await tables.facts(strandedOf: Array(here.union(continued))) { row in rows[row.id] = row }
        for share in shares { try await loadOpenExchanges(of: share) }
        let its = Set(shares.map(\.source.id))
        let sources = try await tables.sources(its.union(rows.keys.lazy.map(\.source)))
        for share in shares { try await loadRedatedParts(by: share, known: sources[share.source.id]?.books.share) }
        place(sources, its)
    }

    /// Loads all of some transactions, and the books of further sources.
    mutating func load(_ transactions: Set<GUID>, besides sources: Set<GUID> = []) async throws {
        names = try await tables.names(behind: 0)
        try await loadFacts(of: transactions)
        let parts = rows.values.filter { if case .opened = $0.fact.content { true } else { false } }.map(\.id)
        try await tables.facts(strandedOf: parts) { row in rows[row.id] = row }
        let its = Set(rows.keys.lazy.map(\.source)).union(sources)
        place(try await tables.sources(its), its)
    }

    /// Loads all of an installation, and the other parts of its transactions.
    mutating func load(installation: GUID) async throws {
        let (mine, transactions) = try await tables.contents(of: installation)
        installations = try await tables.installations([installation])
        for source in mine { try await loadUnplaced(of: source) }
        try await load(transactions, besides: mine)
    }

    private mutating func loadFacts(of transactions: Set<GUID>) async throws {
        for some in Array(transactions).inChunks(of: ClickHouseTables.idsPerStatement) {
            try await tables.facts(where: "tx IN (\(ClickHouseTables.list(some)))") { row in rows[row.id] = row }
            if rows.count > Self.factLimit { throw TransactionLoader.TooMuch() }
        }
    }

    /// Loads facts outside transactions that a device has erased; returns the transactions of all that it has erased.
    private mutating func loadErased(by share: TransactionSet.Share) async throws -> Set<GUID> {
        let erased = share.dropped.filter { $0.reason == .erased }.sequences
        guard !erased.isEmpty else { return [] }
        var transactions: Set<GUID> = []
        for some in erased.ranges.inChunks(of: ClickHouseTables.idsPerStatement) {
            let its = ClickHouseTables.condition(share.source.id, SequenceRanges(some))
            transactions.formUnion(try await tables.transactions(of: its))
        }
        if transactions.remove(ClickHouseTables.none) != nil {
            // What belongs to an erased opening goes with it.
            try await loadUnplaced(of: share.source.id)
        }
        return transactions
    }

    /// Loads what follows an exchange outside any transaction, which may already have ended.
    private mutating func loadOpenExchanges(of share: TransactionSet.Share) async throws {
        let first = share.facts.compactMap { fact -> Int64? in
            guard fact.part == 0, case .exchangeClosed(let content) = fact.content else { return nil }
            return content.exchange
        }.min()
        guard let first else { return }
        try await loadUnplaced(of: share.source.id, where: "sequence >= \(first) AND part = 0")
    }

    /// Loads facts of a source that are stored without a transaction. `condition` is SQL.
    private mutating func loadUnplaced(of source: GUID, where condition: String = "1") async throws {
        let none = ClickHouseTables.literal(ClickHouseTables.none)
        try await tables.facts(
            where: "tx = \(none) AND source = \(ClickHouseTables.literal(source)) AND \(condition)"
        ) { row in rows[row.id] = row }
    }

    /// Loads the parts that a new anchor would date anew.
    private mutating func loadRedatedParts(by share: TransactionSet.Share, known: TransactionSet.Share?) async throws {
        let offsets = Dictionary(
            (known?.clocks ?? []).map { ($0.atMicroseconds, $0.offsetMicroseconds) }, uniquingKeysWith: max)
        let new = share.clocks.first { $0.offsetMicroseconds > offsets[$0.atMicroseconds] ?? .min }
        guard let new, let first = offsets.keys.min() else { return }
        let start = new.atMicroseconds <= first ? Int64.min : new.atMicroseconds
        for fact in try await tables.openings(of: share.source.id, from: start, limit: Self.redatedParts) {
            let id = FactID(source: share.source.id, sequence: fact.fact.sequence)
            if rows[id] == nil { rows[id] = fact }
        }
    }

    private mutating func place(_ sources: [GUID: DatabaseBooks.Source], _ its: Set<GUID>) {
        let buried = DatabaseBooks.Buried(tombstones)
        let facts = Dictionary(grouping: rows.values.filter { !buried.contains($0.transaction) }, by: \.source)
        let known = sources.values.filter { !buried.contains($0.books.share.source.installation) }
            .sorted { $0.first < $1.first }
        for source in known {
            books.append(source.head(with: facts[source.books.share.source.id] ?? []))
        }
        for source in known where its.contains(source.books.share.source.id) {
            var arrived = source.books
            arrived.share.clocks = []
            // The sets that brought them don't matter here.
            arrived.arrivals = SequenceRanges(arrived.arrivals).ranges.enumerated().map { number, range in
                SourceBooks.Arrival(id: Int64(number) + 1, first: range.lowerBound, last: range.upperBound, received: 0)
            }
            books.append(arrived)
        }
    }
}

extension ClickHouseTables {
    /// Returns the sources of an installation, and the transactions that they took part in.
    fileprivate func contents(of installation: GUID) async throws(WaybillError) -> (Set<GUID>, Set<GUID>) {
        let sources = try await client.rows(
            "SELECT DISTINCT source FROM books WHERE installation = \(Self.literal(installation))", reading
        ) { row in try row.guid() }
        var transactions: Set<GUID> = []
        for some in sources.inChunks(of: Self.idsPerStatement) {
            transactions.formUnion(try await self.transactions(of: "source IN (\(Self.list(some)))"))
        }
        transactions.remove(Self.none)
        return (Set(sources), transactions)
    }

    /// `condition` is SQL about facts by source.
    fileprivate func transactions(of condition: String) async throws(WaybillError) -> Set<GUID> {
        Set(
            try await client.rows("SELECT DISTINCT tx FROM by_source WHERE \(condition)", reading) { row in
                try row.guid()
            })
    }

    /// Whether a source that may have used a name has a part left. `nil` in `gone` means all of a source.
    fileprivate func isUsed(_ name: NameChange, without gone: [GUID: SequenceRanges?]) async throws(WaybillError)
        -> Bool
    {
        var candidates: [GUID: DatabaseBooks.Source] = [:]
        // Most shares need not be decoded, because the text of a simple name is not in them.
        let isSimple = name.app.utf8.allSatisfy { (0x20...0x7A).contains($0) && !#""'\/"#.utf8.contains($0) }
        try await books(where: isSimple ? "position(share, '\(name.app)') > 0" : "1") { row in
            let source = row.books.share.source
            let launch = SQL.launch(version: source.appVersion, source: source.id)
            if source.app == name.app, [source.appVersion, launch, launch + "\u{1}"].contains(name.appVersion) {
                candidates[source.id, default: DatabaseBooks.Source(row)].books.merge(row.books)
            }
        }
        var left: [GUID: SequenceRanges] = [:]
        for (id, var source) in candidates {
            source.finish()
            left[id] = source.expected.subtracting((gone[id] ?? SequenceRanges()) ?? source.expected)
        }
        for some in Array(left.keys).inChunks(of: Self.idsPerStatement) {
            var isThere = false
            try await client.forEachRow(
                "SELECT source, sequence FROM by_source WHERE source IN (\(Self.list(some))) AND kind < 5", reading
            ) { row in
                let (source, sequence) = (try row.guid(), try row.integer(Int64.self))
                if left[source]?.contains(sequence) == true { isThere = true }
            }
            if isThere { return true }
        }
        return false
    }

    /// Returns the latest openings of a source by its clock, with their transactions alone.
    fileprivate func openings(of source: GUID, from start: Int64, limit: Int) async throws(WaybillError) -> [FactRow] {
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
