#if ClickHouse
import WaybillCore
import WaybillQueries
import WaybillStore

/// The part of the database that a write or an export needs: the books of some sources, and the transactions that are
/// touched. It costs the same in a large database.
struct WorkingSet {
    /// Too many facts are needed, or rows lack something.
    struct TooMuch: Error {}

    let tables: ClickHouseTables
    private var names: [NameChange] = []
    private var nameCount = 0
    private(set) var tombstones: [Tombstone] = []
    /// The installations that are bound to their first secret already.
    private(set) var installations: [GUID: [UInt8]] = [:]
    /// To be replayed in this order: every source with its loaded facts, then the arrivals of the sets' own sources.
    private var books: [SourceBooks] = []
    private var ranks: [GUID: Int64] = [:]
    private var spans: [PlacedSpan] = []

    private(set) var transactions: Set<GUID> = []
    var rows: [FactID: ClickHouseTables.FactRow] = [:]
    /// Keeps the arrivals behind this place; `nil` keeps none.
    var firstArrival: Int64?

    static let factLimit = 1_000_000

    private let factLimit: Int

    typealias Load = (inout WorkingSet) async throws -> Void

    init(_ tables: ClickHouseTables, factLimit: Int = Self.factLimit) {
        (self.tables, self.factLimit) = (tables, factLimit)
    }

    init(
        _ tables: ClickHouseTables, factLimit: Int = Self.factLimit, withNames: Bool = true,
        _ load: Load
    ) async throws {
        self.init(tables, factLimit: factLimit)
        try await loadTombstones()
        try await load(&self)
        // Names are stored before facts.
        if withNames { try await loadNames() }
    }

    /// Takes the books of some sources; `nil` for all of them.
    init(
        _ books: DatabaseBooks, of sources: [GUID: DatabaseBooks.Source]? = nil, _ tables: ClickHouseTables,
        withNames: Bool = true, keepsArrivals: Bool = false
    ) {
        self.init(tables)
        firstArrival = keepsArrivals ? .min : nil
        (names, tombstones) = (withNames ? books.names : [], books.tombstones)
        let sources = sources ?? books.sources
        place(sources, Set(sources.keys))
    }

    var knownShares: [GUID: TransactionSet.Share] {
        Dictionary(books.map { ($0.share.source.id, $0.share) }) { first, _ in first }
    }

    /// - Parameter empty: A store to load into; `nil` for a new one.
    func memory(in empty: StoreThread<MemoryStore>? = nil) async throws -> StoreThread<MemoryStore> {
        let (thread, set) = (try empty ?? MemoryStore.thread(), self)
        try await thread.run { memory throws(WaybillError) in
            memory.ranks = set.ranks
            try memory.store.replay(set.names)
            try memory.store.replay(set.books)
            try memory.store.replay(set.spans)
            try memory.store.replay(set.installations)
            try memory.store.replay(set.tombstones)
            memory.store.nameCount = set.nameCount
        }
        return thread
    }

    /// Loads what sets may change.
    mutating func load(before shares: [TransactionSet.Share]) async throws {
        var (parts, here, transactions) = (Set<FactID>(), Set<FactID>(), Set<GUID>())
        for share in shares {
            for fact in share.facts where fact.part != 0 {
                let part = FactID(source: share.source.id, sequence: fact.part)
                parts.insert(part)
                guard case .opened(let opened) = fact.content else { continue }
                here.insert(part)
                transactions.insert(opened.transaction)
            }
        }
        transactions.formUnion(try await tables.stranded(Array(parts.subtracting(here))).map(\.transaction))
        for share in shares { transactions.formUnion(try await loadErased(by: share)) }
        let known = Set(shares.compactMap(\.source.installation))
        let apps = Set(shares.map(\.source.app))
        try await loadNames { apps.contains($0.app) }
        installations = try await tables.installations(known)
        tombstones = try await tables.tombstones(of: transactions.union(known))
        try await loadFacts(of: transactions)
        try await tables.facts(strandedOf: Array(parts)) { row in rows[row.id] = row }
        for share in shares { try await loadOpenExchanges(of: share) }
        let its = Set(shares.map(\.source.id))
        let sources = try await loadSpans(of: transactions, besides: its)
        for share in shares { try await loadRedatedParts(by: share, known: sources[share.source.id]?.books.share) }
        place(sources, its)
    }

    mutating func loadTombstones() async throws { tombstones = try await tables.tombstones() }

    mutating func loadNames(where isNeeded: (NameChange) -> Bool = { _ in true }) async throws {
        let all = try await tables.names()
        (names, nameCount) = (all.filter(isNeeded), all.count)
    }

    mutating func keepNamesOfSources() {
        let versions = Set(books.map { AppVersion($0.share.source) })
        names = names.filter { name in
            // Behind its version, a name of one launch says which.
            versions.contains { $0.app == name.app && $0.version == name.appVersion.prefix { $0 != "\u{1}" } }
        }
    }

    /// Loads all of some transactions, and the books of further sources.
    mutating func load(_ transactions: Set<GUID>, besides sources: Set<GUID> = []) async throws {
        try await loadParts(of: transactions)
        let sources = try await loadSpans(of: transactions, besides: sources)
        place(sources, Set(sources.keys))
    }

    private mutating func loadSpans(of transactions: Set<GUID>, besides sources: Set<GUID>) async throws
        -> [GUID: DatabaseBooks.Source]
    {
        let spans = try await tables.spans(of: transactions)
        let sources = try await tables.sources(
            sources.union(rows.keys.lazy.map(\.source)).union(spans.map(\.source)))
        self.spans = spans.counted(sources)
        return sources
    }

    mutating func loadParts(of asked: Set<GUID>) async throws {
        let new = asked.subtracting(transactions)
        transactions.formUnion(new)
        try await loadFacts(of: new)
        try await tables.facts(strandedOf: openings(of: new).map(\.part)) { row in rows[row.id] = row }
    }

    func openings(of transactions: Set<GUID>) -> [(part: FactID, content: Fact.Opened)] {
        rows.values.compactMap { row in
            guard case .opened(let opened) = row.fact.content, transactions.contains(opened.transaction) else {
                return nil
            }
            return (row.id, opened)
        }
    }

    /// Loads what loaded facts of transactions need, but no arrivals. Returns their sources.
    mutating func loadRest() async throws -> [GUID: DatabaseBooks.Source] {
        let (tables, transactions) = (tables, transactions)
        async let names = tables.names()
        async let spans = tables.spans(of: transactions)
        let sources = try await tables.sources(Set(rows.keys.lazy.map(\.source)))
        self.names = try await names
        self.spans = try await spans.counted(sources)
        place(sources, [])
        return sources
    }

    /// Loads all of an installation, and the other parts of its transactions.
    mutating func load(installation: GUID) async throws {
        let (mine, transactions) = try await tables.contents(of: installation)
        installations = try await tables.installations([installation])
        for source in mine { try await loadUnplaced(where: "source = \(ClickHouseTables.literal(source))") }
        try await load(transactions, besides: mine)
    }

    /// Loads the transactions of facts, or those that they open, with relatives, and what follows facts outside of any.
    mutating func load(
        of facts: [GUID: SequenceRanges], areOpenings: Bool, besides sources: Set<GUID> = [],
        relatives: (Set<GUID>) async throws -> Set<GUID> = { $0 }
    ) async throws {
        var (transactions, unplaced): (Set<GUID>, Set<GUID>) = ([], [])
        let ranges = facts.flatMap { source, sequences in sequences.ranges.map { (source, $0) } }
        for some in ranges.inChunks(of: ClickHouseTables.idsPerStatement) {
            let conditions = Dictionary(grouping: some, by: \.0).map { source, ranges in
                ClickHouseTables.condition(source, SequenceRanges(ranges.map(\.1)))
            }
            try await tables.forEachPlace(of: conditions.joined(separator: " OR "), areOpenings: areOpenings) {
                source, transaction in
                if let transaction { transactions.insert(transaction) } else { unplaced.insert(source) }
            }
        }
        let starts = unplaced.map { source in
            "source = \(ClickHouseTables.literal(source)) AND sequence >= \(facts[source]?.ranges.first?.lowerBound ?? 0)"
        }
        for some in starts.inChunks(of: ClickHouseTables.idsPerStatement) {
            try await loadUnplaced(where: some.joined(separator: " OR "))
        }
        if !areOpenings { transactions.formUnion(try await loadOpeningsOfUnplaced()) }
        try await load(try await relatives(transactions), besides: sources.union(facts.keys))
    }

    /// Loads exchanges that end outside any transaction; returns the transactions of facts that came before their opening.
    private mutating func loadOpeningsOfUnplaced() async throws -> [GUID] {
        let stranded = try await tables.stranded(among: rows.values)
        let exchanges = rows.values.compactMap { row -> FactID? in
            guard row.transaction == nil, case .exchangeClosed(let content) = row.fact.content else { return nil }
            return FactID(source: row.source, sequence: content.exchange)
        }
        try await tables.unplacedFacts(Array(Set(exchanges).subtracting(rows.keys)), by: "sequence") { row in
            rows[row.id] = row
        }
        return stranded.map(\.transaction)
    }

    private mutating func loadFacts(of transactions: Set<GUID>) async throws {
        for some in Array(transactions).inChunks(of: ClickHouseTables.idsPerStatement) {
            try await loadFacts(where: "tx IN (\(ClickHouseTables.list(some)))")
        }
    }

    private mutating func loadFacts(where condition: String) async throws {
        try await tables.facts(where: condition) { row in if rows.count <= factLimit { rows[row.id] = row } }
        // The client would report another error for one that is thrown while it reads.
        if rows.count > factLimit { throw WorkingSet.TooMuch() }
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
            // An erased opening takes its part along.
            try await loadUnplaced(where: "source = \(ClickHouseTables.literal(share.source.id))")
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
        let source = ClickHouseTables.literal(share.source.id)
        try await loadUnplaced(where: "source = \(source) AND sequence >= \(first) AND part = 0")
    }

    mutating func loadAllOutsideTransactions() async throws {
        try await loadOutsideTransactions()
        try await load([])
    }

    /// Loads facts that belong to no known transaction.
    mutating func loadOutsideTransactions() async throws {
        try await loadUnplaced(where: "1")
        // These came before their opening, and are in the row of its transaction.
        let stranded = Set(try await tables.stranded(among: rows.values).map(\.id))
        rows = rows.filter { !stranded.contains($0.value.part) }
    }

    /// Loads facts that are stored without a transaction. `condition` is SQL.
    private mutating func loadUnplaced(where condition: String) async throws {
        try await loadFacts(where: "\(ClickHouseTables.noTransaction) AND (\(condition))")
    }

    /// Loads the parts that a new anchor would date anew.
    private mutating func loadRedatedParts(by share: TransactionSet.Share, known: TransactionSet.Share?) async throws {
        let clocks = known?.clocks ?? []
        guard !clocks.isEmpty, let start = share.firstRedated(since: clocks) else { return }
        // An ingestion ignores an anchor that dates more parts anew.
        let limit = Ingestion.redatedPartLimit + 1
        for fact in try await tables.openings(of: share.source.id, from: start, limit: limit) {
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
            ranks[source.books.share.source.id] = source.first
        }
        for source in known where its.contains(source.books.share.source.id) {
            var arrived = source.books
            arrived.share.clocks = []
            if let firstArrival {
                arrived.arrivals.removeAll { $0.id <= firstArrival }
                books.append(arrived)
                continue
            }
            arrived.arrivals = SequenceRanges(arrived.arrivals).ranges.enumerated().map { number, range in
                SourceBooks.Arrival(id: Int64(number) + 1, first: range.lowerBound, last: range.upperBound, received: 0)
            }
            books.append(arrived)
        }
    }
}
#endif
