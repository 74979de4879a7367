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
    /// The sample's rate as 1/n. Samples contain no facts outside transactions.
    var sampledOneIn = 1

    func contains(_ part: StrandedPart) -> Bool {
        ids?.contains(part.transaction.high) == true && part.hash % share.count == share.number
            && part.transaction.isOne(in: sampledOneIn)
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
    func buckets(ofAbout count: Int64, sampledOneIn: Int = 1) async throws(WaybillError) -> [Bucket] {
        let count = count * Int64(sampledOneIn)
        let total = try await self.count("NOT (\(Self.noTransaction))")
        let rangeCount = min(Self.rangeLimit, total / count + 1)
        let levels = (1..<max(2, rangeCount)).map { "\(Double($0) / Double(rangeCount))" }.joined(separator: ", ")
        var bounds: Set<UInt64> = []
        if rangeCount > 1 {
            try await client.forEachRow(
                "SELECT arrayMap(x -> toUInt64(x), quantiles(\(levels))(\(Self.high))) FROM facts WHERE NOT (\(Self.noTransaction))",
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
                "SELECT toUInt64(arrayFirstIndex(b -> b > \(Self.high), [\(list)])) AS range, count() FROM facts WHERE NOT (\(Self.noTransaction)) GROUP BY range",
                reading
            ) { row in
                // Ranges count from 1, and 0 means the last one.
                let (range, count) = (try row.integer(UInt64.self), try row.integer(UInt64.self))
                counts[range == 0 ? starts.count - 1 : Int(clamping: range) - 1] = Int64(clamping: count)
            }
        }
        func divided(_ ids: ClosedRange<UInt64>?, _ factCount: Int64) -> [Bucket] {
            let shares = UInt64(clamping: factCount / (2 * count) + 1)
            return (0..<shares).map { Bucket(ids: ids, share: ($0, shares), sampledOneIn: sampledOneIn) }
        }
        var buckets = sampledOneIn == 1 ? divided(nil, try await self.count(Self.noTransaction)) : []
        for (index, (start, end)) in zip(starts, ends).enumerated() where counts[index] ?? 0 > 0 {
            buckets += divided(start...end, counts[index] ?? 0)
        }
        return buckets
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
                SELECT source, sequence, tx, cityHash64(tx) FROM by_source WHERE kind = 1 AND (\(Self.condition("sequence", some)))
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
        for some in parts.inChunks(of: Self.partsPerStatement) {
            try await facts(where: "\(Self.noTransaction) AND (\(Self.condition("part", some)))", body)
        }
    }

    /// Passes on the facts of a bucket. Facts of stranded parts come first, and may be repeated.
    func facts(
        of bucket: Bucket, _ stranded: [FactID: StrandedPart], _ body: (FactRow, _ isStranded: Bool) throws -> Void
    ) async throws(WaybillError) {
        try await facts(strandedOf: stranded.values.filter(bucket.contains).map(\.id)) { row in try body(row, true) }
        try await facts(where: Self.condition(bucket)) { row in
            let part = FactID(source: row.source, sequence: row.fact.part)
            if bucket.ids == nil, stranded[part] != nil { return }
            try body(row, false)
        }
    }

    private static func condition(_ bucket: Bucket) -> String {
        var conditions = [bucket.ids == nil ? noTransaction : "NOT (\(noTransaction))"]
        if let ids = bucket.ids {
            conditions.append("tx >= \(literal(GUID(high: ids.lowerBound, low: 0)))")
            conditions.append("tx <= \(literal(GUID(high: ids.upperBound, low: .max)))")
        }
        if bucket.sampledOneIn > 1 {
            conditions.append("substring(tx, 13, 4) < unhex('\(GUID.sampleBound(oneIn: bucket.sampledOneIn))')")
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

/// Reads the whole database, one bucket after the other. Each bucket is a temporary store in memory.
struct BucketReader {
    /// Facts per bucket, which take some 50 MB.
    static let factCount: Int64 = 500_000

    private let tables: ClickHouseTables
    private let books: DatabaseBooks
    private let stranded: [FactID: StrandedPart]
    private var buckets: ArraySlice<Bucket>
    private let sampledOneIn: Int
    private var isFirst = true
    private var count: Int64 = 0

    init(_ tables: ClickHouseTables, factsEach count: Int64, sampledOneIn: Int = 1) async throws {
        self.tables = tables
        self.sampledOneIn = sampledOneIn
        // The books are read first, because facts that arrive later must not count.
        books = try await DatabaseBooks(tables, try await tables.state())
        buckets = try await tables.buckets(ofAbout: count, sampledOneIn: sampledOneIn)[...]
        stranded = Dictionary(
            try await tables.strandedParts().map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    }

    static func readNames<Value: Sendable>(
        _ tables: ClickHouseTables, _ body: @escaping @Sendable (StoreReader) throws -> Value
    ) async throws -> Value {
        let thread = try MemoryStore.thread()
        try await thread.replay(try await tables.names(behind: 0))
        return try await thread.run { (memory) throws in try body(memory.reader) }
    }

    /// Returns `nil` after the last bucket. Throws ``DatabaseBooks/Incomplete`` if facts in the books are missing.
    mutating func next<Value: Sendable>(
        until interruption: Interruption, _ body: @escaping @Sendable (StoreReader) throws -> Value
    ) async throws -> Value? {
        guard let bucket = buckets.popFirst() else {
            guard sampledOneIn == 1 else {
                var census = FactCounter(books)
                try await census.count(in: tables)
                return nil
            }
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
        return try await thread.run(until: interruption) { bucket, interruption in
            try bucket.reader.reading(until: interruption) { try body(bucket.reader) }
        }
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

/// Checks with one bit per fact that all expected facts exist.
struct FactCounter {
    private struct Marks {
        var expected: SequenceRanges
        var before: [Int64] = []
        var bits: [UInt64]

        init(_ ranges: SequenceRanges) {
            expected = ranges
            var count: Int64 = 0
            for range in ranges.ranges {
                before.append(count)
                count += range.sequenceCount
            }
            bits = Array(repeating: 0, count: Int(clamping: (count + 63) / 64))
        }

        mutating func mark(_ sequence: Int64) -> Bool {
            let index = expected.firstIndex(endingAtOrAfter: sequence)
            guard index < before.count else { return false }
            let first = expected.ranges[index].lowerBound
            guard first <= sequence else { return false }
            let (place, bit) = (before[index] + sequence - first).quotientAndRemainder(dividingBy: 64)
            defer { bits[Int(place)] |= 1 << UInt64(bit) }
            return bits[Int(place)] & 1 << UInt64(bit) == 0
        }
    }

    private var marks: [Marks] = []
    private var places: [GUID: Int] = [:]
    private var missing: Int64 = 0

    init(_ books: DatabaseBooks) {
        for (id, source) in books.sources {
            places[id] = marks.count
            marks.append(Marks(source.expected))
            missing += source.expected.count
        }
    }

    mutating func count(in tables: ClickHouseTables) async throws {
        try await tables.client.forEachRow("SELECT source, sequence FROM facts", tables.reading) { row in
            let (source, sequence) = (try row.guid(), try row.integer() as Int64)
            if let place = places[source], marks[place].mark(sequence) { missing -= 1 }
        }
        guard missing == 0 else { throw DatabaseBooks.Incomplete() }
    }
}
#endif
