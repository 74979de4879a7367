#if ClickHouse
package import Foundation
import WaybillCore
package import WaybillExport
import WaybillQueries
import WaybillStore

extension ClickHouseStore: ExportingStore {
    package func export(_ facts: ExportedFacts, as format: TextFormat) async throws -> ExportStream {
        // Spans are aligned by the clocks of further transactions.
        if format != .otlp, case .of(let request) = facts, isReadInPieces(),
            let export = try await exportByBuckets(request, as: format)
        {
            return export
        }
        let (owner, store) = format == .otlp ? try await current() : try await store(for: facts)
        let export = try await store.export(facts, as: format)
        return ExportStream(cursor: export.cursor) {
            defer { withExtendedLifetime(owner) {} }
            return try await export.next()
        }
    }

    /// - Returns: `nil` if parents or children matter, which may be in different buckets.
    private func exportByBuckets(_ request: ListRequest, as format: TextFormat) async throws -> ExportStream? {
        let now = clock.wallMicroseconds()
        var filter = try await BucketReader.readNames(tables) { reader in
            try reader.filter(request, now: now) as TransactionFilter
        }
        filter.order = .newest
        guard !filter.looksAtFamilies else { return nil }
        let scope = AnyQuestion.Scope(filter)
        let buckets = try await tables.untilComplete {
            let buckets = try await BucketReader(tables, factsEach: factsPerBucket, of: scope)
            try await tables.checkFacts(of: buckets.books)
            return buckets
        }
        var cursor = ExportCursor()
        cursor.advance(
            to: buckets.books.state.lastArrival,
            over: buckets.books.sources.values.flatMap { $0.books.arrivals.map(\.id) })
        let export = BucketExport(buckets, ListRequest(matching: filter), format, self)
        return ExportStream(cursor: cursor.description) { try await export.next() }
    }

    package func copy(_ facts: ExportedFacts, to file: URL) async throws -> ExportSummary {
        let (owner, store) = try await store(for: facts)
        defer { withExtendedLifetime(owner) {} }
        return try await store.copy(facts, to: file)
    }

    /// Returns a store with the exported facts. Its owner must live as long.
    private func store(for facts: ExportedFacts) async throws -> (owner: any Sendable, SQLiteStore) {
        if isReadInPieces() {
            let found = try await TransactionLoader.unlessTooMuch {
                try await tables.untilComplete { try await WorkingSet(exporting: facts, tables) }
            }
            if let thread = found?.thread { return (thread, try await sqlite(thread)) }
        }
        return try await current()
    }

    func sqlite(_ thread: StoreThread<MemoryStore>) async throws -> SQLiteStore {
        let place = try await thread.run { memory throws(WaybillError) in memory.place }
        return adapted(try SQLiteStore(place, clock: clock))
    }
}

private actor BucketExport {
    private var buckets: BucketReader
    private let request: ListRequest
    private let format: TextFormat
    private let store: ClickHouseStore
    private var current: (owner: StoreThread<MemoryStore>, lines: ExportStream)?
    private var isBegun = false

    init(_ buckets: BucketReader, _ request: ListRequest, _ format: TextFormat, _ store: ClickHouseStore) {
        (self.buckets, self.request, self.format, self.store) = (buckets, request, format, store)
    }

    func next() async throws -> ExportStream.Piece? {
        if let piece = try await current?.lines.next() { return piece }
        while let thread = try await nextBucket() {
            let lines = try await store.sqlite(thread).export(.of(request), as: format)
            current = (thread, lines)
            // Each begins with the header, alone.
            if !format.header.isEmpty, isBegun { _ = try await lines.next() }
            isBegun = true
            if let piece = try await lines.next() { return piece }
        }
        current = nil
        defer { isBegun = true }
        return isBegun || format.header.isEmpty ? nil : ExportStream.Piece(bytes: format.header)
    }

    private func nextBucket() async throws -> StoreThread<MemoryStore>? {
        var buckets = buckets
        defer { self.buckets = buckets }
        do { return try await buckets.next() } catch is DatabaseBooks.Incomplete { throw store.tables.incomplete }
    }
}

extension WorkingSet {
    /// Returns `nil` for exports of many transactions. Throws ``DatabaseBooks/Incomplete`` if a server lacks facts.
    init?(exporting facts: ExportedFacts, _ tables: ClickHouseTables, withChildren: Bool = false) async throws {
        var loading = WorkingSetLoader([], tables)
        let last = try await tables.state().lastArrival
        // A cursor has all places of the last hour.
        var (first, conditions) = (last - ArrivalPlace.perHour, [String]())
        let isExported: (SourceBooks.Arrival) -> Bool
        switch facts {
        case .of: return nil
        case .transaction: isExported = { _ in false }
        case .since(let time):
            let start = time.microseconds
            conditions.append("heard_us >= \(start)")
            isExported = { $0.received >= start }
        case .after(let text):
            // The export itself says what is wrong with a cursor.
            let cursor = try? ExportCursor(text)
            first = min(first, cursor?.arrival ?? first)
            isExported = { cursor?.includes($0.id) == false }
        }
        // The places of a row follow its first one, by less than an hour.
        conditions.append("arrival > \(first - ArrivalPlace.perHour)")
        try await loading.loadTombstones()
        let buried = DatabaseBooks.Buried(loading.tombstones)
        var (arrived, sources) = ([GUID: SequenceRanges](), Set<GUID>())
        try await tables.books(where: conditions.joined(separator: " OR ")) { row in
            let source = row.books.share.source.id
            guard !buried.contains(row.books.share.source.installation) else { return }
            for arrival in row.books.arrivals where arrival.id > first || isExported(arrival) {
                sources.insert(source)
                guard isExported(arrival) else { continue }
                arrived[source, default: SequenceRanges()].insert(arrival.first...max(arrival.first, arrival.last))
            }
        }
        let books = try await tables.sources(arrived.keys)
        for (id, ranges) in arrived {
            let expected = books[id]?.expected ?? SequenceRanges()
            arrived[id] = expected.subtracting(expected.subtracting(ranges))
        }
        guard arrived.values.reduce(0, { $0 + $1.count }) <= WorkingSetLoader.factLimit else {
            throw TransactionLoader.TooMuch()
        }
        loading.firstArrival = conditions.count == 1 ? first : .min
        if case .transaction(let id) = facts {
            try await loading.load([id], besides: sources)
        } else {
            try await loading.load(of: arrived, areOpenings: false, withChildren: withChildren, besides: sources)
        }
        for (id, ranges) in arrived {
            for range in ranges.ranges {
                for sequence in range where loading.rows[FactID(source: id, sequence: sequence)] == nil {
                    throw DatabaseBooks.Incomplete()
                }
            }
        }
        try await self.init(loading, tables) { _ in true }
        try await thread.run { memory throws(WaybillError) in try memory.store.advanceArrivals(to: last) }
    }
}
#endif
