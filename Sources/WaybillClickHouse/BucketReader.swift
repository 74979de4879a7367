#if ClickHouse
import WaybillCore
import WaybillQueries
import WaybillStore

/// A range of transactions with all of their facts, or a share of the facts outside transactions.
/// Servers store facts by ID, so a range reads no others. If many IDs begin alike, a hash divides the range.
struct Bucket: Sendable {
    /// The first eight bytes of IDs; `nil` for facts outside transactions.
    var ids: ClosedRange<UInt64>?
    /// The share that a hash of the ID selects.
    var share: (number: UInt64, count: UInt64) = (0, 1)

    func contains(_ part: StrandedPart) -> Bool {
        ids?.contains(part.transaction.high) == true && part.hash % share.count == share.number
    }
}

/// A part whose facts are stored without a transaction, because they arrived before its opening.
struct StrandedPart: Sendable {
    var id: FactID
    var transaction: GUID
    var hash: UInt64
}

extension ClickHouseTables {
    private static let noTransaction = "tx = \(literal(none))"
    private static let high = "reinterpretAsUInt64(reverse(substring(tx, 1, 8)))"
    /// The maximum number of ranges, because a sample's quantiles are inexact. A hash divides ranges further.
    private static let rangeLimit: Int64 = 256
    private static let partsPerStatement = 500

    /// Divides all facts into buckets of about `count` facts, and of at most twice as many.
    func buckets(ofAbout count: Int64) async throws(WaybillError) -> [Bucket] {
        let inTransactions = "NOT (\(Self.noTransaction))"
        let total = try await self.count(inTransactions)
        let rangeCount = min(Self.rangeLimit, total / count + 1)
        let levels = (1..<max(2, rangeCount)).map { "\(Double($0) / Double(rangeCount))" }.joined(separator: ", ")
        var bounds: Set<UInt64> = []
        if rangeCount > 1 {
            try await client.forEachRow(
                "SELECT arrayMap(x -> toUInt64(x), quantiles(\(levels))(\(Self.high))) FROM facts WHERE \(inTransactions)",
                reading
            ) { row in bounds = Set(try row.array().map { UInt64(bitPattern: $0) }) }
        }
        let starts = [0] + bounds.subtracting([0]).sorted()
        let ends = starts.dropFirst().map { $0 - 1 } + [.max]
        var counts: [Int: Int64] = [0: total]
        if starts.count > 1 {
            let list = starts.dropFirst().map { "\($0)" }.joined(separator: ", ")
            counts = [:]
            try await client.forEachRow(
                "SELECT toUInt64(arrayFirstIndex(b -> b > \(Self.high), [\(list)])) AS range, count() FROM facts WHERE \(inTransactions) GROUP BY range",
                reading
            ) { row in
                // Ranges count from 1, and 0 means the last one.
                let (range, count) = (try row.integer(UInt64.self), try row.integer(UInt64.self))
                counts[range == 0 ? starts.count - 1 : Int(clamping: range) - 1] = Int64(clamping: count)
            }
        }
        var buckets = try await bucketsOutsideTransactions(ofAbout: count)
        for (index, (start, end)) in zip(starts, ends).enumerated() where counts[index] ?? 0 > 0 {
            buckets += Self.buckets(start...end, of: counts[index] ?? 0, ofAbout: count)
        }
        return buckets
    }

    func bucketsOutsideTransactions(ofAbout count: Int64) async throws(WaybillError) -> [Bucket] {
        let factCount = try await self.count(Self.noTransaction)
        return factCount == 0 ? [] : Self.buckets(nil, of: factCount, ofAbout: count)
    }

    private static func buckets(
        _ ids: ClosedRange<UInt64>?, of factCount: Int64, ofAbout count: Int64
    ) -> [Bucket] {
        let shares = UInt64(clamping: factCount / (2 * count) + 1)
        return (0..<shares).map { Bucket(ids: ids, share: ($0, shares)) }
    }

    /// Counts rows of facts, including facts that were inserted twice.
    func count(_ condition: String) async throws(WaybillError) -> Int64 {
        try await client.rows("SELECT count() FROM facts WHERE \(condition)", reading) { row in
            Int64(clamping: try row.integer(UInt64.self))
        }.first ?? 0
    }

    func strandedParts() async throws(WaybillError) -> [StrandedPart] {
        let parts = try await client.rows(
            "SELECT source, part FROM facts WHERE \(Self.noTransaction) AND part > 0 GROUP BY source, part", reading
        ) { row in FactID(source: try row.guid(), sequence: try row.integer()) }
        return try await stranded(parts)
    }

    func stranded(_ parts: [FactID]) async throws(WaybillError) -> [StrandedPart] {
        var stranded: [StrandedPart] = []
        for some in parts.inChunks(of: Self.partsPerStatement) {
            try await client.forEachRow(
                """
                SELECT source, sequence, tx, cityHash64(tx) FROM by_source WHERE kind = 1 \
                AND (\(Self.condition("sequence", some)))
                """, reading
            ) { row in
                stranded.append(
                    StrandedPart(
                        id: FactID(source: try row.guid(), sequence: try row.integer()),
                        transaction: try row.guid(), hash: try row.integer()))
            }
        }
        return stranded
    }

    func facts(strandedOf parts: [FactID], _ body: (FactRow) throws -> Void) async throws(WaybillError) {
        let some = try await unplacedParts(of: Set(parts.map(\.source)))
        guard !some.isEmpty else { return }
        try await unplacedFacts(Array(Set(parts).intersection(some)), by: "part", body)
    }

    private func unplacedParts(of sources: Set<GUID>) async throws(WaybillError) -> [FactID] {
        var parts: [FactID] = []
        for some in Array(sources).inChunks(of: Self.idsPerStatement) {
            parts += try await client.rows(
                """
                SELECT source, part FROM facts WHERE \(Self.noTransaction) AND source IN (\(Self.list(some))) \
                AND part > 0 GROUP BY source, part
                """, reading
            ) { row in FactID(source: try row.guid(), sequence: try row.integer()) }
        }
        return parts
    }

    func strandedParts(of sources: Set<GUID>) async throws(WaybillError) -> [StrandedPart] {
        try await stranded(try await unplacedParts(of: sources))
    }

    /// Passes on facts that are stored without a transaction. `column` is `sequence`, or `part` for all of a part.
    func unplacedFacts(_ ids: [FactID], by column: String, _ body: (FactRow) throws -> Void) async throws(WaybillError)
    {
        for some in ids.inChunks(of: Self.partsPerStatement) {
            try await facts(where: "\(Self.noTransaction) AND (\(Self.condition(column, some)))", body)
        }
    }

    /// Passes on the facts of a bucket. Facts of stranded parts come first, and may be repeated.
    func facts(
        of bucket: Bucket, _ stranded: [FactID: StrandedPart],
        _ body: (FactRow, _ isStranded: Bool) throws -> Void
    ) async throws(WaybillError) {
        try await facts(strandedOf: stranded.values.filter(bucket.contains).map(\.id)) { row in try body(row, true) }
        try await facts(where: Self.condition(bucket)) { row in
            let part = FactID(source: row.source, sequence: row.fact.part)
            if bucket.ids == nil, stranded[part] != nil { return }
            try body(row, false)
        }
    }

    fileprivate static func condition(_ bucket: Bucket) -> String {
        var conditions: [String] = []
        if let ids = bucket.ids {
            conditions.append("tx >= \(literal(GUID(high: ids.lowerBound, low: 0)))")
            conditions.append("tx <= \(literal(GUID(high: ids.upperBound, low: .max)))")
            conditions.append("NOT (\(noTransaction))")
        } else {
            conditions.append(noTransaction)
        }
        if bucket.share.count > 1 {
            let key = bucket.ids == nil ? "source" : "tx"
            conditions.append("cityHash64(\(key)) % \(bucket.share.count) = \(bucket.share.number)")
        }
        return conditions.joined(separator: " AND ")
    }

    private static func condition(_ column: String, _ parts: some Collection<FactID>) -> String {
        Dictionary(grouping: parts, by: \.source).map { source, parts in
            let sequences = parts.map { "\($0.sequence)" }.joined(separator: ", ")
            return "source = \(literal(source)) AND \(column) IN (\(sequences))"
        }.joined(separator: " OR ")
    }
}

/// Reads the database one bucket after the other. Each bucket is a temporary store in memory.
struct BucketReader {
    /// Facts per bucket, which take some 20 MB.
    static let factCount: Int64 = 200_000

    private let tables: ClickHouseTables
    let books: DatabaseBooks
    private let stranded: [FactID: StrandedPart]
    private var buckets: ArraySlice<Bucket>
    private let isWhole: Bool
    private var isFirst = true
    private var count: Int64 = 0

    init(_ tables: ClickHouseTables, factsEach count: Int64, isWhole: Bool = true) async throws {
        let books = try await DatabaseBooks(tables, try await tables.state())
        try await self.init(tables, books, factsEach: count, isWhole: isWhole)
    }

    /// - Parameters:
    ///   - books: The books, which are read first, because facts that arrive later must not count.
    ///   - isWhole: Whether to read more than the facts outside of transactions.
    init(
        _ tables: ClickHouseTables, _ books: DatabaseBooks, factsEach count: Int64, isWhole: Bool = true
    ) async throws {
        (self.tables, self.books, self.isWhole) = (tables, books, isWhole)
        buckets =
            isWhole
            ? try await tables.buckets(ofAbout: count)[...]
            : try await tables.bucketsOutsideTransactions(ofAbout: count)[...]
        stranded = Dictionary(
            try await tables.strandedParts().map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns `nil` after the last bucket. Throws ``DatabaseBooks/Incomplete`` if facts in the books are missing.
    mutating func next() async throws -> StoreThread<MemoryStore>? {
        guard let bucket = buckets.popFirst() else {
            guard isWhole else { return nil }
            let expected = books.sources.values.reduce(0) { $0 + $1.expected.count }
            guard count == expected else { throw DatabaseBooks.Incomplete() }
            return nil
        }
        let thread = try MemoryStore.thread()
        try await thread.replay(books.names)
        if isFirst {
            try await thread.replay(books.sources.values.filter(\.expected.isEmpty).map(\.head))
            isFirst = false
        }
        count += try await load(bucket, into: thread)
        return thread
    }

    mutating func next<Value: Sendable>(
        until interruption: Interruption, _ body: @escaping @Sendable (StoreReader) throws -> Value
    ) async throws -> Value? {
        try await next()?.run(until: interruption) { bucket, interruption in
            try bucket.reader.reading(until: interruption) { try body(bucket.reader) }
        }
    }

    /// Loads all into one store. Throws `.refused` above a limit of facts.
    static func all(_ tables: ClickHouseTables, limit: Int64) async throws -> StoreThread<MemoryStore> {
        let reader = try await BucketReader(tables, factsEach: factCount)
        let sources = reader.books.sources.values.sorted { $0.first < $1.first }
        let expected = sources.reduce(0) { $0 + $1.expected.count }
        guard expected <= limit else { throw tables.tooMuch }
        let thread = try MemoryStore.thread()
        try await thread.replay(reader.books.names)
        try await thread.replay(sources.map(\.head))
        var count: Int64 = 0
        for bucket in reader.buckets { count += try await reader.load(bucket, into: thread) }
        guard count == expected else { throw DatabaseBooks.Incomplete() }
        try await thread.replay(
            sources.map { source in
                var books = source.books
                books.share.clocks = []
                return books
            })
        let (tombstones, last) = (reader.books.tombstones, reader.books.state.lastArrival)
        let ranks = reader.books.sources.mapValues(\.first)
        try await thread.run { memory throws(WaybillError) in
            memory.ranks = ranks
            try memory.store.replay(tombstones)
            try memory.store.advanceArrivals(to: last)
        }
        return thread
    }

    private func load(_ bucket: Bucket, into thread: StoreThread<MemoryStore>) async throws -> Int64 {
        let (stream, batches) = AsyncThrowingStream<[SourceBooks], any Error>.makeStream()
        async let written: Void = Self.write(stream, to: thread)
        var batch = FactBatch(books)
        do {
            try await tables.facts(of: bucket, stranded) { row, isStranded in
                if let full = batch.add(row, isStranded: isStranded) { batches.yield(full) }
            }
        } catch {
            batches.finish(throwing: error)
            try await written
            throw error
        }
        batches.yield(batch.take())
        batches.finish()
        try await written
        if bucket.ids != nil {
            let spans = try await tables.spans(where: ClickHouseTables.condition(bucket)).counted(books.sources)
            try await thread.run { memory throws(WaybillError) in try memory.store.replay(spans) }
        }
        return batch.count
    }

    private static func write(
        _ batches: AsyncThrowingStream<[SourceBooks], any Error>, to thread: StoreThread<MemoryStore>
    ) async throws {
        for try await batch in batches {
            try await thread.replay(batch)
        }
    }
}

private struct FactBatch {
    private let books: DatabaseBooks
    private var batch: [SourceBooks] = []
    private var size = 0
    private var known: [GUID: Set<Int64>] = [:]
    private var told: Set<GUID> = []
    private(set) var count: Int64 = 0

    private static let size = 10_000

    init(_ books: DatabaseBooks) { self.books = books }

    mutating func add(_ row: ClickHouseTables.FactRow, isStranded: Bool) -> [SourceBooks]? {
        guard let source = books.sources[row.source], source.expected.contains(row.fact.sequence) else { return nil }
        if isStranded {
            known[row.source, default: []].insert(row.fact.sequence)
        } else if known[row.source]?.contains(row.fact.sequence) == true {
            return nil
        }
        count += 1
        guard !books.buried.contains(row.transaction) else { return nil }
        if batch.last?.share.source.id != row.source {
            var head = source.head
            if !told.insert(row.source).inserted {
                (head.share.clocks, head.share.dropped) = ([], [])
            }
            batch.append(head)
        }
        batch[batch.count - 1].share.facts.append(row.fact)
        size += 1
        return size == Self.size ? take() : nil
    }

    mutating func take() -> [SourceBooks] {
        defer { (batch, size) = ([], 0) }
        return batch
    }
}

extension ClickHouseTables {
    func nameStore() async throws -> StoreThread<MemoryStore> {
        let thread = try MemoryStore.thread()
        try await thread.replay(try await names(behind: 0))
        return thread
    }

    /// - Throws: ``DatabaseBooks/Incomplete`` if a server lacks facts of the books.
    func checkFacts(of books: DatabaseBooks) async throws {
        guard try await missingFacts(of: books).isEmpty else { throw DatabaseBooks.Incomplete() }
    }

    /// Returns the facts that the books name and servers lack.
    func missingFacts(of books: DatabaseBooks) async throws -> [GUID: SequenceRanges] {
        var missing = books.sources.mapValues(\.expected).filter { !$0.value.isEmpty }
        func remove(_ found: [GUID: SequenceRanges]) {
            for (source, ranges) in found { missing[source] = missing[source]?.subtracting(ranges) }
            missing = missing.filter { !$0.value.isEmpty }
        }
        var found: [GUID: SequenceRanges] = [:]
        try await client.forEachRow(
            "SELECT source, min(sequence), max(sequence), uniqExact(sequence) FROM facts GROUP BY source", reading
        ) { row in
            let (source, first, last) = (try row.guid(), try row.integer(Int64.self), try row.integer(Int64.self))
            let count = Int64(clamping: try row.integer(UInt64.self))
            // Most sources have no gap.
            if first <= last, last.subtractingReportingOverflow(first).partialValue == count - 1 {
                found[source] = SequenceRanges([first...last])
            }
        }
        remove(found)
        guard !missing.isEmpty else { return [:] }
        found = [:]
        let isFew = missing.count <= Self.idsPerStatement
        try await client.forEachRow(
            """
            SELECT source, sequence FROM facts WHERE \(isFew ? "source IN (\(Self.list(missing.keys)))" : "1") \
            ORDER BY source, sequence
            """, reading
        ) { row in
            let (source, sequence) = (try row.guid(), try row.integer(Int64.self))
            found[source, default: SequenceRanges()].insert(sequence...sequence)
        }
        remove(found)
        return missing
    }
}
#endif
