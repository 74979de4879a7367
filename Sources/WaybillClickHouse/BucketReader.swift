#if ClickHouse
import WaybillCore
import WaybillReading
import WaybillStore

/// Reads all that the database holds, one bucket after the other, each in a store in memory that is there as long as it
/// is read.
struct BucketReader {
    /// About how many facts a bucket has. Default: as many as take some 50 MB.
    static let factCount: Int64 = 500_000

    private let tables: ClickHouseTables
    private let books: DatabaseBooks
    private let stranded: [Fact.ID: StrandedPart]
    private var buckets: ArraySlice<Bucket>
    private let sampledOneIn: Int
    private var isFirst = true
    /// Facts that were there.
    private var count: Int64 = 0

    /// - Parameter sampledOneIn: Of how many transactions one is read.
    /// - Throws: ``DatabaseBooks/Incomplete``.
    init(_ tables: ClickHouseTables, factsEach count: Int64, sampledOneIn: Int = 1) async throws {
        self.tables = tables
        self.sampledOneIn = sampledOneIn
        // First what counts: facts that come later do not.
        books = try await DatabaseBooks(tables, try await tables.state())
        buckets = try await tables.buckets(ofAbout: count, sampledOneIn: sampledOneIn)[...]
        stranded = Dictionary(
            try await tables.strandedParts().map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// What `body` reads in a store that knows the names, and nothing else.
    static func readNames<Value: Sendable>(
        _ tables: ClickHouseTables, _ body: @escaping @Sendable (StoreReader) throws -> Value
    ) async throws -> Value {
        let thread = try MemoryStore.thread()
        try await thread.replay(try await tables.names(behind: 0))
        return try await thread.run { (memory) throws in try body(memory.reader) }
    }

    /// What `body` reads in the next bucket; nil: there is none.
    ///
    /// - Throws: ``DatabaseBooks/Incomplete``, also at the end, where less was there than the books say.
    mutating func next<Value: Sendable>(
        until interruption: Interruption, _ body: @escaping @Sendable (StoreReader) throws -> Value
    ) async throws -> Value? {
        guard let bucket = buckets.popFirst() else {
            guard sampledOneIn == 1 else {
                var census = FactCensus(books)
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

    /// - Returns: How many facts there are.
    private func load(_ bucket: Bucket, into thread: StoreThread<MemoryStore>) async throws -> Int64 {
        let (stream, batches) = AsyncThrowingStream<[SourceBooks], any Error>.makeStream()
        // Read while the one before is taken over.
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

/// Collects facts of a bucket, with what is told of their sources.
private struct FactBatch {
    private let books: DatabaseBooks
    private var batch: [SourceBooks] = []
    private var size = 0
    /// Those of parts that were stranded.
    private var known: [GUID: Set<Int64>] = [:]
    private var told: Set<GUID> = []
    /// How many there were, each once.
    private(set) var count: Int64 = 0

    private static let size = 10_000

    init(_ books: DatabaseBooks) { self.books = books }

    /// - Returns: A batch that is full.
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
#endif
