#if ClickHouse
package import Foundation
import WaybillCore
package import WaybillExport
import WaybillQueries
import WaybillStore

extension ClickHouseStore: ExportingStore {
    package func export(_ facts: ExportedFacts, as format: TextFormat) async throws -> ExportStream {
        if case .of(let request) = facts { return try await export(request, as: format) }
        return try await export(facts, as: format, in: memory(for: facts, withClocks: format == .otlp))
    }

    private func export(
        _ facts: ExportedFacts, as format: TextFormat, in owner: StoreThread<MemoryStore>
    ) async throws -> ExportStream {
        let export = try await sqlite(owner).export(facts, as: format)
        return ExportStream(cursor: export.cursor) {
            defer { withExtendedLifetime(owner) {} }
            return try await export.next()
        }
    }

    private func export(_ request: ListRequest, as format: TextFormat) async throws -> ExportStream {
        let (asked, names, now) = try await asked(request, TransactionFilter.self)
        var filter = asked
        filter.order = .newest
        let chosen = filter
        // The books are read first, because facts that arrive later are not part of it.
        let books = try await tables.untilComplete {
            let books = try await DatabaseBooks(tables)
            guard try await tables.missingFacts(of: books).isEmpty else { throw DatabaseBooks.Incomplete() }
            return books
        }
        var cursor = ExportCursor()
        cursor.advance(
            to: books.lastArrival, over: books.sources.values.flatMap { $0.books.arrivals.map(\.id) })
        if filter == TransactionFilter(), format != .otlp {
            let ranges = try await FactRangeReader(tables, books, factsEach: factsPerRange)
            let export = PartsExport(ranges, format, self)
            return ExportStream(cursor: cursor.description) { try await export.next() }
        }
        if usesRows, let ids = try await transactions(matching: chosen, names, now: now) {
            let export = PartsExport(ids, format, self)
            return ExportStream(cursor: cursor.description) { try await export.next() }
        }
        return try await export(.of(ListRequest(matching: chosen)), as: format, in: everything())
    }

    /// Returns the transactions that pass a filter, in the order of their IDs; `nil` if that needs too much.
    private func transactions(
        matching filter: TransactionFilter, _ names: StoreThread<MemoryStore>, now: Int64
    ) async throws -> [GUID]? {
        try await unlessTooMuch {
            let current = try await currentRows([filter], withFamilies: filter.looksAtFamilies, names, now: now)
            let matching = try await read(memory(of: current)) { reader in
                try reader.transactions(among: current.changed, matching: filter, now: now).map(\.row.id)
            }
            return (try await tables.transactions(where: current.sql(filter)) + matching).sorted()
        }
    }

    package func copy(_ facts: ExportedFacts, to file: URL) async throws -> ExportSummary {
        let owner = try await memory(for: facts, withClocks: false)
        defer { withExtendedLifetime(owner) {} }
        return try await sqlite(owner).copy(facts, to: file)
    }

    private func memory(for facts: ExportedFacts, withClocks: Bool) async throws -> StoreThread<MemoryStore> {
        let tables = tables
        return try await unlessTooMuch {
            try await tables.memory(exporting: facts) { transactions in
                withClocks ? try await tables.related(to: transactions) : transactions
            }
        } orElse: {
            try await everything()
        }
    }

    /// Returns a store that redacts and limits as this one does. Its thread must live as long.
    func sqlite(_ thread: StoreThread<MemoryStore>) async throws -> SQLiteStore {
        let place = try await thread.run { memory throws(WaybillError) in memory.place }
        var store = try SQLiteStore(place, clock: clock)
        (store.redactor, store.readLimit, store.asker) = (redactor, readLimit, asker)
        return store
    }

    /// Loads some transactions; for spans, with those that they refer to.
    fileprivate func memory(of transactions: Set<GUID>, as format: TextFormat) async throws -> StoreThread<MemoryStore>
    {
        guard format == .otlp else { return try await memory(of: transactions) }
        return try await tables.untilComplete { try await tables.memory(ofRelatedTo: transactions) }
    }
}

/// Exports all facts in ranges, or some transactions in groups.
private actor PartsExport {
    private var ranges: FactRangeReader?
    private var groups: [Set<GUID>] = []
    private let format: TextFormat
    private let store: ClickHouseStore
    private var current: StoreThread<MemoryStore>?
    private var isBegun = false

    init(_ ranges: FactRangeReader, _ format: TextFormat, _ store: ClickHouseStore) {
        (self.ranges, self.format, self.store) = (ranges, format, store)
    }

    init(_ transactions: [GUID], _ format: TextFormat, _ store: ClickHouseStore) {
        groups = transactions.inChunks(of: format == .otlp ? 200 : 2_000).map(Set.init).reversed()
        (self.format, self.store) = (format, store)
    }

    func next() async throws -> ExportStream.Piece? {
        while true {
            if let piece = try await piece() { return piece }
            guard try await beginNext() else { break }
            // Each begins with the header, alone.
            if !format.header.isEmpty, isBegun { _ = try await piece() }
            isBegun = true
        }
        current = nil
        defer { isBegun = true }
        return isBegun || format.header.isEmpty ? nil : ExportStream.Piece(bytes: format.header)
    }

    /// The time limit applies to each piece, not to the whole export.
    private func piece() async throws -> ExportStream.Piece? {
        guard let current else { return nil }
        return try await store.readMemory(current) { memory in try memory.export?.countedPiece() }
    }

    private func beginNext() async throws -> Bool {
        guard let scope = try await ranges == nil ? loadGroup() : loadRange() else { return false }
        let (format, redactor) = (format, store.redactor)
        try await current?.run { memory throws(WaybillError) in
            memory.export = try memory.reader.export(scope, as: format, redactor: redactor)
        }
        return true
    }

    private func loadRange() async throws -> ExportScope? {
        guard var ranges else { return nil }
        defer { self.ranges = ranges }
        try await current?.run { memory throws(WaybillError) in try memory.empty() }
        let thread = try current ?? MemoryStore.thread()
        current = thread
        do {
            guard let (facts, spans) = try await ranges.next() else { return nil }
            try await thread.replay(ranges.books.names)
            try await thread.replay(facts, spans)
            return .everything
        } catch is DatabaseBooks.Incomplete { throw store.tables.incomplete }
    }

    private func loadGroup() async throws -> ExportScope? {
        current = nil
        while let group = groups.popLast() {
            do {
                current = try await store.memory(of: group, as: format)
                return ExportScope.some(group)
            } catch is WorkingSet.TooMuch {
                guard group.count > 1 else { throw store.tables.tooMuch }
                groups += Array(group).inChunks(of: (group.count + 1) / 2).map(Set.init)
            }
        }
        return nil
    }
}

extension ClickHouseTables {
    /// Throws ``DatabaseBooks/Incomplete`` if a server lacks facts.
    func memory(
        exporting facts: ExportedFacts, relatives: (Set<GUID>) async throws -> Set<GUID>
    ) async throws -> StoreThread<MemoryStore> {
        let last = try await state().lastArrival
        // A cursor has all places of the last hour.
        var (first, conditions) = (last - ArrivalPlace.perHour, [String]())
        let isExported: (SourceBooks.Arrival) -> Bool
        switch facts {
        case .of: throw WorkingSet.TooMuch()
        case .some: isExported = { _ in false }
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
        var loading = WorkingSet(self)
        try await loading.loadTombstones()
        let buried = DatabaseBooks.Buried(loading.tombstones)
        var (arrived, sources) = ([GUID: SequenceRanges](), Set<GUID>())
        try await self.books(where: conditions.joined(separator: " OR ")) { row in
            let source = row.books.share.source.id
            guard !buried.contains(row.books.share.source.installation) else { return }
            for arrival in row.books.arrivals where arrival.id > first || isExported(arrival) {
                sources.insert(source)
                guard isExported(arrival) else { continue }
                arrived[source, default: SequenceRanges()].insert(arrival.range)
            }
        }
        let books = try await self.sources(arrived.keys)
        for (id, ranges) in arrived {
            let expected = books[id]?.expected ?? SequenceRanges()
            arrived[id] = expected.intersection(ranges)
        }
        guard arrived.values.reduce(0, { $0 + $1.count }) <= WorkingSet.factLimit else {
            throw WorkingSet.TooMuch()
        }
        loading.firstArrival = conditions.count == 1 ? first : .min
        if case .some(let ids) = facts {
            try await loading.load(relatives(ids), besides: sources)
        } else {
            try await loading.load(of: arrived, areOpenings: false, besides: sources, relatives: relatives)
        }
        for (id, ranges) in arrived {
            for range in ranges.ranges {
                for sequence in range where loading.rows[FactID(source: id, sequence: sequence)] == nil {
                    throw DatabaseBooks.Incomplete()
                }
            }
        }
        try await loading.loadNames()
        let thread = try await loading.memory()
        try await thread.run { memory throws(WaybillError) in try memory.store.advanceArrivals(to: last) }
        return thread
    }
}
#endif
