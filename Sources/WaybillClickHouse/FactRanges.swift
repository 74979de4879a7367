#if ClickHouse
import WaybillCore
import WaybillQueries
import WaybillStore

/// The facts of some transactions, or those outside transactions of some sources.
struct FactRange: Sendable {
    var isOutside: Bool
    /// The IDs of transactions, or of sources, behind the first one up to the second one.
    var (after, last): (GUID, GUID)

    var sql: String {
        let column = isOutside ? "source" : "tx"
        let its = "\(column) > \(ClickHouseTables.literal(after)) AND \(column) <= \(ClickHouseTables.literal(last))"
        return isOutside ? "\(ClickHouseTables.noTransaction) AND \(its)" : its
    }

    func contains(_ part: StrandedPart) -> Bool {
        !isOutside && part.transaction > after && part.transaction <= last
    }
}

/// A part whose facts are stored without a transaction, because they arrived before its opening.
struct StrandedPart: Sendable {
    var id: FactID
    var transaction: GUID
}

/// Reads all facts of the database, a range of them at a time.
struct FactRangeReader {
    /// The number of facts in a range, which take some 30 MB. A transaction is never divided.
    static let factCount: Int64 = 50_000

    private let tables: ClickHouseTables
    let books: DatabaseBooks
    private let stranded: [FactID: StrandedPart]
    private var ranges: ArraySlice<FactRange>
    /// The number of facts to come; `nil` if not all of the books are read.
    private var missing: Int64?

    /// - Parameters:
    ///   - books: The books, which are read before facts, because facts that arrive later must not count.
    ///   - isWhole: Whether to read more than the facts outside transactions.
    init(
        _ tables: ClickHouseTables, _ books: DatabaseBooks? = nil, factsEach count: Int64 = factCount,
        isWhole: Bool = true
    ) async throws {
        self.tables = tables
        if let books { self.books = books } else { self.books = try await DatabaseBooks(tables) }
        // Spans refer to exchanges outside transactions.
        var ranges = try await tables.ranges(areOutside: true, ofAbout: count)
        if isWhole { ranges += try await tables.ranges(areOutside: false, ofAbout: count) }
        self.ranges = ranges[...]
        missing = isWhole ? self.books.factCount : nil
        stranded = Dictionary(
            ranges.isEmpty ? [] : try await tables.strandedParts().map { ($0.id, $0) },
            uniquingKeysWith: { first, _ in first })
    }

    /// Returns facts with the heads of their sources, and spans; `nil` after the last range.
    /// Throws ``DatabaseBooks/Incomplete`` if facts in the books are missing.
    mutating func next() async throws -> (facts: [SourceBooks], spans: [PlacedSpan])? {
        guard let range = ranges.popFirst() else {
            guard missing ?? 0 == 0 else { throw DatabaseBooks.Incomplete() }
            return nil
        }
        var (facts, source) = ([SourceBooks](), DatabaseBooks.Source?.none)
        func add(_ row: ClickHouseTables.FactRow) {
            if source?.books.share.source.id != row.source { source = books.sources[row.source] }
            guard let source, source.expected.contains(row.fact.sequence) else { return }
            if let count = missing { missing = count - 1 }
            guard !books.buried.contains(row.transaction) else { return }
            if facts.last?.share.source.id != row.source { facts.append(source.head) }
            facts[facts.count - 1].share.facts.append(row.fact)
        }
        let its = stranded.values.filter(range.contains).map(\.id)
        try await tables.unplacedFacts(its, by: "part", add)
        try await tables.facts(where: range.sql) { row in
            if !range.isOutside || stranded[row.part] == nil { add(row) }
        }
        let spans = range.isOutside ? [] : try await tables.spans(where: range.sql).counted(books.sources)
        return (facts, spans)
    }
}

extension ClickHouseStore {
    /// Loads all into one store. Throws `.refused` above a limit of facts.
    func everything() async throws -> StoreThread<MemoryStore> {
        try await tables.untilComplete {
            var reader = try await FactRangeReader(tables, factsEach: factsPerRange)
            let books = reader.books
            guard books.factCount <= factLimit else { throw tables.tooMuch }
            let thread = try await MemoryStore.thread(with: books.names)
            let sources = books.sources.values.sorted { $0.first < $1.first }
            try await thread.replay(sources.map(\.head))
            while let (found, spans) = try await reader.next() {
                var facts = found
                for index in facts.indices { facts[index].share.clocks = [] }
                try await thread.replay(facts, spans)
            }
            // A store accepts no facts that its arrivals name already.
            try await thread.replay(
                sources.map { source in
                    var books = source.books
                    books.share.clocks = []
                    return books
                })
            try await thread.run { memory throws(WaybillError) in
                memory.ranks = books.sources.mapValues(\.first)
                try memory.store.replay(books.tombstones)
                try memory.store.advanceArrivals(to: books.lastArrival)
            }
            return thread
        }
    }
}

extension ClickHouseTables {
    /// Divides facts into ranges of at most `count`, unless a transaction or a source has more.
    fileprivate func ranges(areOutside: Bool, ofAbout count: Int64) async throws(WaybillError) -> [FactRange] {
        let key = areOutside ? "source" : "tx"
        let condition = areOutside ? Self.noTransaction : "NOT (\(Self.noTransaction))"
        var (ranges, size) = ([FactRange](), Int64(0))
        var (after, last) = (Self.none, Self.none)
        try await client.forEachRow(
            "SELECT \(key), count() FROM facts WHERE \(Self.isOfASource) AND \(condition) GROUP BY \(key) ORDER BY \(key)",
            reading
        ) { row in
            let (id, its) = (try row.guid(), Int64(clamping: try row.integer(UInt64.self)))
            if size > 0, its > count - size {
                ranges.append(FactRange(isOutside: areOutside, after: after, last: last))
                (after, size) = (last, 0)
            }
            (last, size) = (id, its > count ? count : size + its)
        }
        if areOutside, size == 0 { return [] }
        // Transactions may have nothing but spans.
        let end = GUID(high: .max, low: .max)
        return ranges + [FactRange(isOutside: areOutside, after: after, last: end)]
    }

    func hasFactsOutsideTransactions() async throws(WaybillError) -> Bool {
        try await !ids("SELECT source FROM facts WHERE \(Self.isOfASource) AND \(Self.noTransaction) LIMIT 1").isEmpty
    }

    // MARK: Facts without a transaction

    static let noTransaction = "tx = \(literal(none))"
    private static let partsPerStatement = 500

    /// Returns the parts of some sources whose facts arrived before their opening; `nil` for all sources.
    func strandedParts(of sources: Set<GUID>? = nil) async throws(WaybillError) -> [StrandedPart] {
        try await stranded(try await unplacedParts(of: sources))
    }

    func stranded(among rows: some Sequence<FactRow>) async throws(WaybillError) -> [StrandedPart] {
        let parts = Set(rows.filter { $0.transaction == nil && $0.fact.part != 0 }.map(\.part))
        return try await stranded(Array(parts))
    }

    /// Returns those of some parts whose opening has arrived.
    func stranded(_ parts: [FactID]) async throws(WaybillError) -> [StrandedPart] {
        var stranded: [StrandedPart] = []
        for some in parts.inChunks(of: Self.partsPerStatement) {
            stranded += try await client.rows(
                "SELECT source, sequence, tx FROM by_source WHERE kind = 1 AND (\(Self.condition("sequence", some)))",
                reading
            ) { row in
                StrandedPart(id: try row.fact(), transaction: try row.guid())
            }
        }
        return stranded
    }

    func facts(strandedOf parts: [FactID], _ body: (FactRow) throws -> Void) async throws(WaybillError) {
        let some = try await unplacedParts(of: Set(parts.map(\.source)))
        guard !some.isEmpty else { return }
        try await unplacedFacts(Array(Set(parts).intersection(some)), by: "part", body)
    }

    private func unplacedParts(of sources: Set<GUID>?) async throws(WaybillError) -> [FactID] {
        let its = "SELECT DISTINCT source, part FROM facts WHERE \(Self.noTransaction) AND part > 0"
        guard let sources else { return try await client.rows(its, reading) { row in try row.fact() } }
        return try await rows("\(its) AND source IN (?)", of: sources) { row in try row.fact() }
    }

    /// Passes on facts that are stored without a transaction. `column` is `sequence`, or `part` for all of a part.
    func unplacedFacts(_ ids: [FactID], by column: String, _ body: (FactRow) throws -> Void) async throws(WaybillError)
    {
        for some in ids.inChunks(of: Self.partsPerStatement) {
            try await facts(where: "\(Self.noTransaction) AND (\(Self.condition(column, some)))", body)
        }
    }

    private static func condition(_ column: String, _ parts: some Collection<FactID>) -> String {
        Dictionary(grouping: parts, by: \.source).map { source, parts in
            let sequences = parts.map { "\($0.sequence)" }.joined(separator: ", ")
            return "source = \(literal(source)) AND \(column) IN (\(sequences))"
        }.joined(separator: " OR ")
    }
}
#endif
