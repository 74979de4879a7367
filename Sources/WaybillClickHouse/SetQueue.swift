#if ClickHouse
import WaybillCore
import WaybillQueries
import WaybillStore

/// Writes to the database in turns. Sets that wait at the same time are written together.
/// Facts come before the books that name them, so nobody reads the facts of an interrupted write.
final class SetQueue: Sendable {
    private let tables: ClickHouseTables
    private let factsPerTransaction: Int?
    let committed: @Sendable ([Result<Receipt, WaybillError>]) -> Void
    private let turns = FairLock()
    private let waiting = Locked<[Waiting]>([])
    private let numbers = ArrivalNumbers()
    let keeper: TransactionKeeper
    let spans = SpanPlaces()
    let legacySource = GUID()

    /// Facts and other rows, after which a group of sets is complete.
    private static let rowsPerCommit = 50_000
    private static let factsPerRetirement: Int64 = 20_000

    private struct Waiting: Sendable {
        var arrival: ReceivedSet
        var answer: CheckedContinuation<Result<Receipt, WaybillError>, Never>
    }

    init(
        _ tables: ClickHouseTables, factsPerTransaction: Int?,
        committed: @escaping @Sendable ([Result<Receipt, WaybillError>]) -> Void
    ) {
        (self.tables, self.factsPerTransaction) = (tables, factsPerTransaction)
        self.committed = committed
        keeper = TransactionKeeper(tables, numbers)
    }

    func add(_ arrival: ReceivedSet) async throws(WaybillError) -> Receipt {
        try await withCheckedContinuation { answer in
            waiting.withLock { $0.append(Waiting(arrival: arrival, answer: answer)) }
            // Detached, because other sets may be written with this one after its request is cancelled.
            Task.detached { try? await self.turns.run { await self.writeSome() } }
        }.get()
    }

    private func writeSome() async {
        let group = waiting.withLock { waiting in
            var (group, rowCount) = ([Waiting](), 0)
            while let next = waiting.first, group.isEmpty || rowCount < Self.rowsPerCommit {
                rowCount += next.arrival.set.rowCount
                group.append(waiting.removeFirst())
            }
            return group
        }
        guard !group.isEmpty else { return }
        var results: [Result<Receipt, WaybillError>]
        do {
            results = try await write(group.map(\.arrival))
        } catch {
            results = group.map { _ in .failure(WaybillError(storing: error)) }
        }
        committed(results)
        for (waiting, result) in zip(group, results) { waiting.answer.resume(returning: result) }
    }

    private func write(_ arrivals: [ReceivedSet]) async throws -> [Result<Receipt, WaybillError>] {
        let wall = arrivals.map(\.atMicroseconds).max() ?? 0
        try await follow()
        var set = WorkingSet(tables, factLimit: .max)
        try await set.load(before: arrivals.flatMap(\.set.sources))
        let (results, changes) = try await memory(of: set).run { memory throws(WaybillError) in
            try memory.store.rehearse(arrivals)
        }
        try await write(changes, at: wall, bound: Set(set.installations.keys), known: set.knownShares)
        keeper.wake()
        return results
    }

    func place() -> Int64 { numbers.next(1) }

    func write<Value: Sendable>(
        besides transactions: Set<GUID>, _ sources: Set<GUID>, at wall: Int64,
        _ body: @escaping @Sendable (Store) throws(WaybillError) -> (Value, [TransactionSet.Share])
    ) async throws -> Value {
        try await turns.run {
            try await follow()
            let set = try await WorkingSet(tables, factLimit: .max) {
                try await $0.load(transactions, besides: sources)
            }
            let (value, changes) = try await memory(of: set).rehearse(body)
            try await write(changes, at: wall, known: set.knownShares)
            keeper.wake()
            return value
        }
    }

    /// Returns a store with the limit, for what arrives.
    private func memory(of set: WorkingSet) async throws -> StoreThread<MemoryStore> {
        let (memory, limit) = (try await set.memory(), factsPerTransaction)
        try await memory.run { memory throws(WaybillError) in memory.store.factsPerTransaction = limit }
        return memory
    }

    /// Later inserts get later numbers than those of other processes.
    private func follow() async throws(WaybillError) {
        numbers.follow(try await tables.lastPlaces(behind: numbers.recently))
    }

    func take(_ changes: StoreChanges, at wall: Int64, known: [GUID: TransactionSet.Share] = [:]) async throws {
        try await turns.run {
            try await follow()
            try await write(changes, at: wall, known: known)
        }
    }

    /// - Parameters:
    ///   - bound: Installations whose secrets are stored.
    ///   - known: The sources before; `nil` if their clocks and ends are as before.
    /// - Returns: The place of the change, and its transactions.
    @discardableResult
    private func write(
        _ changes: StoreChanges, at wall: Int64, bound: Set<GUID> = [], known: [GUID: TransactionSet.Share]? = nil
    ) async throws(WaybillError) -> (place: Int64, transactions: Set<GUID>) {
        try await tables.insertFacts(of: changes, receivedAt: wall)
        let place = numbers.next(1)
        let changed = try await tables.transactions(changedBy: changes, known: known)
        if !changed.isEmpty {
            try await tables.insert([(place: place, state: .begun, transactions: Array(changed))])
        }
        try await tables.insert(changes.spans, place)
        try await writeBooks(changes, at: wall, bound: bound)
        spans.note(changes.spans)
        try await tables.insert(changes.spans.filter(\.hasWaited), numbers.next(1), areOver: true)
        // Facts may have been written meanwhile.
        let others = try await tables.transactions(elsewhereChangedBy: changes, known: known)
        if !changed.isEmpty || !others.isEmpty {
            let further = Array(others.subtracting(changed))
            try await tables.insert([(place: place, state: .written, transactions: further)])
        }
        return (place, changed.union(others))
    }

    private func writeBooks(_ changes: StoreChanges, at wall: Int64, bound: Set<GUID>) async throws(WaybillError) {
        if !changes.tombstones.isEmpty { try await tables.insert(changes.tombstones) }
        if !changes.names.isEmpty { try await tables.insert(changes.names, numbers.next(1)) }
        guard !changes.books.isEmpty else { return }
        var installations: [GUID: [UInt8]] = [:]
        for books in changes.books {
            guard let id = books.share.source.installation, !bound.contains(id) else { continue }
            installations[id] = books.installationDigest ?? []
        }
        if !installations.isEmpty { try await tables.insert(installations: installations, numbers.next(1)) }
        do {
            let books = ClickHouseTables.rows(changes.books, numbers)
            try await tables.insert(place: numbers.last)
            try await tables.insert(books: books)
        } catch {
            // The insert may still arrive, behind later ones.
            numbers.renew()
            throw error
        }
    }

    /// Writes the tombstones first, because no other process may store the data again.
    func erase(_ scope: ErasureScope, at wall: Int64) async throws -> Erasure {
        let erasure = try await turns.run {
            try await follow()
            var all = Erasure(transactionCount: 0, factCount: 0)
            for load in try await tables.loads(erasing: scope) {
                var set = try await WorkingSet(tables, factLimit: .max, load)
                set.keepNamesOfSources()
                var (erasure, changes) = try await set.memory().rehearse { store throws(WaybillError) in
                    (try store.eraseRows(scope, at: wall), [])
                }
                // Sources that are not here, or not whole, may use the same names.
                let gone = Dictionary(
                    changes.books.map { ($0.share.source.id, $0.gone) } + changes.removedSources.map { ($0, nil) }
                ) { first, _ in first }
                changes.names = try await tables.unused(changes.names, without: gone)
                let (place, changed) = try await write(changes, at: wall)
                let removals = ClickHouseTables.removals(of: changes)
                try await tables.insert(removals + ClickHouseTables.removals(ofRows: changed, before: place), at: wall)
                all.transactionCount += erasure.transactionCount
                all.factCount += erasure.factCount
            }
            // Sources without facts have names, too.
            if scope == .all { try await removeUnusedNames(heardBefore: .max, at: wall) }
            return all
        }
        keeper.wake()
        // Includes unfinished removals of earlier erasures. Sets are stored meanwhile.
        try await tables.removeAll(at: wall)
        return erasure
    }

    /// Deletes some facts beyond the limits; returns their number.
    func retire(_ limits: RetirementLimits, at wall: Int64) async throws -> Int {
        try await turns.run {
            try await follow()
            var count = 0
            if let age = limits.maximumAge { count = try await retire(before: wall - age.microseconds, at: wall) }
            if let most = limits.maximumTransactionCount { count += try await retire(beyond: most, at: wall) }
            return count
        }
    }

    private func retire(beyond transactionCount: Int, at wall: Int64) async throws -> Int {
        let count = try await tables.untilComplete { try await tables.transactionCount(of: DatabaseBooks(tables)) }
        let excess = count - transactionCount
        guard excess > 0 else { return 0 }
        return try await retireSome(receivedBefore: .max, at: wall) { store throws(WaybillError) in
            try store.retireFirst(excess)
        }
    }

    private func retire(before cutoff: Int64, at wall: Int64) async throws -> Int {
        let count = try await retireSome(receivedBefore: cutoff, at: wall) { store throws(WaybillError) in
            try store.retire(receivedBefore: cutoff)
        }
        if count == 0 { try await removeUnusedNames(heardBefore: cutoff, at: wall) }
        return count
    }

    /// Retires facts of the first group where `retire` takes some; returns their number.
    private func retireSome(
        receivedBefore cutoff: Int64, at wall: Int64,
        _ retire: @escaping @Sendable (Store) throws(WaybillError) -> Int
    ) async throws -> Int {
        for facts in try await tables.arrived(before: cutoff, inGroupsOf: Self.factsPerRetirement) {
            let set = try await WorkingSet(tables, factLimit: .max, withNames: false) { set in
                set.firstArrival = .min
                try await set.load(of: facts, areOpenings: true)
            }
            let (count, changes) = try await set.memory().rehearse { store throws(WaybillError) in
                (try retire(store), [])
            }
            guard count > 0 else { continue }
            try await write(changes, at: wall)
            keeper.wake()
            for removal in ClickHouseTables.removals(of: changes) {
                let isBegun = try await tables.begin(removal)
                // The next erasure completes it.
                if !isBegun { try await tables.insert([removal], at: wall) }
            }
            return count
        }
        return 0
    }

    private func removeUnusedNames(heardBefore cutoff: Int64, at wall: Int64) async throws(WaybillError) {
        var names = try await tables.unused(tables.names(), heardBefore: cutoff)
        for index in names.indices { names[index].isRemoved = true }
        try await write(StoreChanges(names: names), at: wall)
    }
}

extension WaybillError {
    init(storing error: any Error) {
        self = error as? WaybillError ?? WaybillError(.store, "Nothing could be stored. Try again.", cause: "\(error)")
    }
}

/// Numbers the inserts of this process, as ``WaybillQueries/ArrivalPlace`` describes. Exports require that a writer's
/// inserts arrive in order, so the process continues as another writer after an insert with an unknown result.
final class ArrivalNumbers: Sendable {
    private static let beginning: Int64 = 1_767_225_600_000_000

    private struct State {
        var writer = ArrivalNumbers.anyWriter()
        /// In units of 100 microseconds since the beginning.
        var last = ArrivalPlace.first / ArrivalPlace.writerCount
        var seen: [Int64: Int64] = [:]
    }

    private let state = Locked(State())

    /// Returns the first of `count` places in steps of `ArrivalPlace.writerCount`, later than all others.
    func next(_ count: Int) -> Int64 {
        let now = (SystemClock().wallMicroseconds() - Self.beginning) / 100
        return state.withLock { state in
            let first = max(now, state.last + 1)
            state.last = first + Int64(max(1, count)) - 1
            return first * ArrivalPlace.writerCount + state.writer
        }
    }

    var writer: Int64 { state.withLock { $0.writer } }

    var last: Int64 { state.withLock { $0.last * ArrivalPlace.writerCount + $0.writer } }

    /// An hour before the last place that is known, the longest time that a place may take to arrive.
    var recently: Int64 { state.withLock { ($0.seen.values.max() ?? ArrivalPlace.perHour) - ArrivalPlace.perHour } }

    func follow(_ seen: [Int64: Int64]) {
        state.withLock { state in
            state.seen.merge(seen, uniquingKeysWith: max)
            // By chance, another process uses the same writer.
            if let other = seen[state.writer], other / ArrivalPlace.writerCount > state.last { Self.renew(&state) }
            state.last = max(state.last, (seen.values.max() ?? 0) / ArrivalPlace.writerCount)
        }
    }

    func renew() { state.withLock(Self.renew) }

    private static func renew(_ state: inout State) {
        let recently = (state.seen.values.max() ?? 0) - ArrivalPlace.perHour
        for _ in 0..<100 {
            state.writer = anyWriter()
            if state.seen[state.writer] ?? 0 <= max(0, recently) { return }
        }
    }

    private static func anyWriter() -> Int64 { Int64.random(in: 0..<ArrivalPlace.writerCount) }
}

/// A lock for asynchronous code, which callers get in the order of their arrival.
final class FairLock: Sendable {
    private struct State {
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    func run<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.isTaken else {
                    state.isTaken = true
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
        defer {
            let next = state.withLock { state in
                if state.waiting.isEmpty { state.isTaken = false }
                return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
            }
            next?.resume()
        }
        return try await body()
    }
}
#endif
