#if ClickHouse
import Foundation
import WaybillCore
import WaybillQueries
import WaybillStore

/// A copy of the database in a temporary SQLite store, which answers reads.
/// If a process is killed, the next one removes its copy.
final class Replica: Sendable {
    let store: SQLiteStore
    private let thread: StoreThread<Store>
    private let folder: URL

    init(clock: any TransactionClock) throws(WaybillError) {
        Self.removeLeftOver()
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "\(Self.prefix)\(ProcessInfo.processInfo.processIdentifier)-\(GUID())", directoryHint: .isDirectory)
        self.folder = folder
        thread = try StoreThread(label: "waybill.replica") { () throws(WaybillError) in try Store(.folder(folder)) }
        store = try SQLiteStore(.folder(folder), clock: clock)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func write<Value: Sendable>(_ body: @escaping @Sendable (Store) throws(WaybillError) -> Value)
        async throws(WaybillError) -> Value
    {
        try await thread.run { store throws(WaybillError) in try body(store) }
    }

    private static let prefix = "waybill-clickhouse-"

    private static func removeLeftOver() {
        let temporary = FileManager.default.temporaryDirectory
        let names = (try? FileManager.default.contentsOfDirectory(atPath: temporary.path(percentEncoded: false))) ?? []
        for name in names where name.hasPrefix(prefix) {
            guard let process = pid_t(name.dropFirst(prefix.count).prefix { $0.isNumber }), process > 0,
                kill(process, 0) != 0, errno == ESRCH
            else { continue }
            try? FileManager.default.removeItem(at: temporary.appending(path: name))
        }
    }
}

/// Brings a copy up to the state of the database, one turn at a time.
final class ReplicaLoader: @unchecked Sendable {  // right because only `current(_:)` touches it, in turns
    private let tables: ClickHouseTables
    private let clock: any TransactionClock
    private let turns = FairLock()
    /// Readers must not wait for a copy that is being made.
    private let copied = Locked(false)

    private var replica: Replica? {
        didSet { copied.withLock { $0 = replica != nil } }
    }
    private var state = ClickHouseTables.State()
    /// The copy has all rows of books up to here, and `recent` behind it.
    private var seen: Int64 = 0
    private var recent: Set<Int64> = []
    private var buried = DatabaseBooks.Buried([])

    init(_ tables: ClickHouseTables, clock: any TransactionClock) { (self.tables, self.clock) = (tables, clock) }

    /// Returns a copy at least as new as this call.
    func current() async throws -> (replica: Replica, state: ClickHouseTables.State) {
        try await turns.run {
            try await tables.untilComplete {
                do {
                    let state = try await tables.state()
                    if let replica, state == self.state { return (replica, state) }
                    let replica = try await catchUp(to: state)
                    return (replica, state)
                } catch {
                    replica = nil
                    throw error
                }
            }
        }
    }

    var hasCopy: Bool { copied.withLock { $0 } }

    /// An hour of arrival numbers: a writer may wait that long between taking a number and inserting.
    private static let overlap = ArrivalPlace.perHour
    private static let batchCount = 10_000

    private func catchUp(to state: ClickHouseTables.State) async throws -> Replica {
        if let replica, try await add(to: replica, upTo: state) { return replica }
        return try await loadAll(state)
    }

    // MARK: What is new

    /// - Returns: `false` if everything must be read again.
    private func add(to replica: Replica, upTo state: ClickHouseTables.State) async throws -> Bool {
        let areErased = state.tombstoneCount != self.state.tombstoneCount
        let tombstones = areErased ? try await tables.tombstones() : []
        let buried = areErased ? DatabaseBooks.Buried(tombstones) : buried
        let newlyBuried = tombstones.filter { !$0.isWithInstallation && !self.buried.contains($0.id) }.map(\.id)
        var rows: [ClickHouseTables.BooksRow] = []
        try await tables.books(where: "arrival > \(seen)") { row in
            guard !recent.contains(row.arrival), !buried.contains(row.books.share.source.installation) else { return }
            rows.append(row)
        }
        let known = Set(rows.map(\.arrival))
        let erasesSources = try await replica.write { store throws(WaybillError) in
            try store.hasSources(ofAny: newlyBuried)
        }
        guard erasesSources || self.state.bookCount &+ UInt64(known.count) == state.bookCount, known.count == rows.count
        else { return false }
        var sources: [GUID: DatabaseBooks.Source] = [:]
        for row in rows {
            sources[row.books.share.source.id, default: DatabaseBooks.Source(row)].books.merge(row.books)
        }
        for id in sources.keys { sources[id]?.finish() }
        var facts: [GUID: [Fact]] = [:]
        var hasBuried = false
        try await tables.facts(of: rows) { row in
            guard sources[row.source]?.expected.contains(row.fact.sequence) == true else { return }
            if buried.contains(row.transaction) { hasBuried = true }
            facts[row.source, default: []].append(row.fact)
        }
        guard !hasBuried else { return false }
        for row in rows.indices {
            guard let source = sources[rows[row].books.share.source.id] else { continue }
            let ranges = SequenceRanges(rows[row].books.arrivals)
            let expected = ranges.subtracting(ranges.subtracting(source.expected))
            let its = (facts[rows[row].books.share.source.id] ?? []).filter { expected.contains($0.sequence) }
            guard Int64(its.count) == expected.count else { throw DatabaseBooks.Incomplete() }
            rows[row].books.share.facts = its
            rows[row].books.retired = source.books.retired
        }
        let areNamesNews = state.lastName != self.state.lastName || state.nameCount != self.state.nameCount
        let names = areNamesNews ? try await tables.names(behind: self.state.lastName - Self.overlap) : []
        // The rows were read by source, and are applied by number.
        let books = rows.sorted { $0.arrival < $1.arrival }.map(\.books)
        let isWhole = try await replica.write { store throws(WaybillError) in
            try store.replay(names)
            let isWhole = try store.replay(books)
            try store.replay(tombstones)
            try store.erase(buried: newlyBuried, areInstallationsAmong: erasesSources)
            return isWhole
        }
        guard isWhole else { return false }
        self.buried = buried
        note(rows.map(\.arrival), state)
        return true
    }

    private func note(_ arrivals: [Int64], _ state: ClickHouseTables.State) {
        recent.formUnion(arrivals)
        // The last row may be removed with its installation.
        seen = max(seen, state.lastArrival - Self.overlap)
        recent = recent.filter { $0 > seen }
        self.state = state
    }

    // MARK: All

    private func loadAll(_ state: ClickHouseTables.State) async throws -> Replica {
        replica = nil
        let replica = try Replica(clock: clock)
        let told = try await DatabaseBooks(tables, state)
        let (sources, names, tombstones) = (told.sources, told.names, told.tombstones)
        let heads = sources.values.sorted { $0.first < $1.first }.map(\.head)
        try await replica.write { store throws(WaybillError) in
            try store.replay(names)
            try store.replay(heads)
        }
        let (counts, buriedFacts) = try await loadFacts(of: told, into: replica)
        let books = sources.values.map { source in
            var books = source.books
            if let its = buriedFacts[books.share.source.id] {
                books.share.dropped += SequenceRanges(each: its).dropped(.erased)
            }
            books.share.clocks = []
            return books
        }
        for source in sources.values {
            let count = counts[source.books.share.source.id] ?? 0
            guard count == source.expected.count else { throw DatabaseBooks.Incomplete() }
        }
        try await replica.write { store throws(WaybillError) in
            try store.replay(books)
            try store.replay(tombstones)
            try store.advanceArrivals(to: state.lastArrival)
        }
        (self.replica, self.buried) = (replica, told.buried)
        (seen, recent) = (0, [])
        note(told.arrivals, state)
        return replica
    }

    /// - Returns: The number of facts per source, and the facts that were left out because they were erased meanwhile.
    private func loadFacts(of told: DatabaseBooks, into replica: Replica) async throws
        -> ([GUID: Int64], [GUID: [Int64]])
    {
        var counts: [GUID: Int64] = [:]
        var buriedFacts: [GUID: [Int64]] = [:]
        let (stream, batches) = AsyncThrowingStream<[SourceBooks], any Error>.makeStream()
        // The copy takes a batch while the next one is read.
        async let written: Void = Self.write(stream, to: replica)
        var batch: [SourceBooks] = []
        var count = 0
        do {
            try await tables.facts(where: nil) { row in
                guard let source = told.sources[row.source], source.expected.contains(row.fact.sequence) else { return }
                counts[row.source, default: 0] += 1
                guard !told.buried.contains(row.transaction) else {
                    buriedFacts[row.source, default: []].append(row.fact.sequence)
                    return
                }
                if batch.last?.share.source.id != row.source {
                    var share = TransactionSet.Share(source: source.books.share.source, clocks: [])
                    share.ledger = source.books.share.ledger
                    batch.append(SourceBooks(share, heard: source.books.heard))
                }
                batch[batch.count - 1].share.facts.append(row.fact)
                count += 1
                if count == Self.batchCount {
                    batches.yield(batch)
                    (batch, count) = ([], 0)
                }
            }
        } catch {
            batches.finish(throwing: error)
            try await written
            throw error
        }
        batches.yield(batch)
        batches.finish()
        try await written
        return (counts, buriedFacts)
    }

    private static func write(
        _ batches: AsyncThrowingStream<[SourceBooks], any Error>, to replica: Replica
    ) async throws {
        for try await batch in batches {
            _ = try await replica.write { store throws(WaybillError) in try store.replay(batch) }
        }
    }
}

final class MemoryStore {
    let place = ResolvedLocation.memory(name: "clickhouse-\(GUID())")
    let store: Store
    let reader: StoreReader

    private init() throws(WaybillError) {
        store = try Store(place)
        reader = try StoreReader(place)
    }

    static func thread() throws(WaybillError) -> StoreThread<MemoryStore> {
        try StoreThread(label: "waybill.memory") { () throws(WaybillError) in try MemoryStore() }
    }
}

extension StoreThread where Resource == MemoryStore {
    func replay(_ names: [NameChange]) async throws(WaybillError) {
        try await run { memory throws(WaybillError) in try memory.store.replay(names) }
    }

    func replay(_ books: [SourceBooks]) async throws(WaybillError) {
        _ = try await run { memory throws(WaybillError) in try memory.store.replay(books) }
    }
}
#endif
