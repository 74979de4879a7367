#if ClickHouse
import WaybillCore
import WaybillQueries
import WaybillStore

/// Writes to the database, one after the other; sets that wait at the same time are written together.
///
/// What a set changes is decided by a copy of the store and written in an order that leaves nothing half done: facts,
/// which count for nothing by themselves, then at once the books that name them. A process that ends in between leaves
/// facts that are not read, until they are sent again.
final class SetQueue: Sendable {
    private let tables: ClickHouseTables
    private let loader: ReplicaLoader
    private let factsPerTransaction: Int?
    private let committed: @Sendable ([Result<Receipt, WaybillError>]) -> Void
    private let turns = FairLock()
    private let waiting = Locked<[Waiting]>([])
    private let numbers = ArrivalNumbers()

    /// Facts, and what stands beside them, after which no further set is written together with others.
    private static let rowsPerCommit = 50_000

    private struct Waiting: Sendable {
        var arrival: ReceivedSet
        var answer: CheckedContinuation<Result<Receipt, WaybillError>, Never>
    }

    init(
        _ tables: ClickHouseTables, _ loader: ReplicaLoader, factsPerTransaction: Int?,
        committed: @escaping @Sendable ([Result<Receipt, WaybillError>]) -> Void
    ) {
        (self.tables, self.loader) = (tables, loader)
        self.factsPerTransaction = factsPerTransaction
        self.committed = committed
    }

    /// Takes in a set; returns once it is stored.
    func add(_ arrival: ReceivedSet) async throws(WaybillError) -> Receipt {
        try await withCheckedContinuation { answer in
            waiting.withLock { $0.append(Waiting(arrival: arrival, answer: answer)) }
            // Not ended with the request that began it: others may be written together with this one.
            Task.detached { try? await self.turns.run { await self.writeSome() } }
        }.get()
    }

    private func writeSome() async {
        let group = waiting.withLock { waiting in
            var (group, rowCount) = ([Waiting](), 0)
            while let next = waiting.first, group.isEmpty || rowCount < Self.rowsPerCommit {
                rowCount += next.arrival.set.set.rowCount
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
        let replica = try await current()
        let limit = factsPerTransaction
        let (results, changes) = try await replica.write { store throws(WaybillError) in
            try store.rehearse(arrivals, factsPerTransaction: limit)
        }
        try await write(changes, at: arrivals.map(\.atMicroseconds).max() ?? 0)
        return results
    }

    /// The copy as of now, behind which all that is written has its place.
    private func current() async throws -> Replica {
        let (replica, _, writers) = try await loader.current()
        numbers.follow(writers)
        return replica
    }

    /// Writes what was decided elsewhere.
    func take(_ changes: StoreChanges, at wall: Int64) async throws {
        try await turns.run {
            numbers.pass(try await tables.state().lastArrival)
            try await write(changes, at: wall)
        }
    }

    private func write(_ changes: StoreChanges, at wall: Int64) async throws(WaybillError) {
        try await tables.insertFacts(of: changes, receivedAt: wall)
        if !changes.tombstones.isEmpty { try await tables.insert(changes.tombstones) }
        if !changes.names.isEmpty { try await tables.insert(changes.names, numbers.next(1)) }
        guard !changes.books.isEmpty else { return }
        do {
            try await tables.insert(books: ClickHouseTables.rows(changes.books, numbers, receivedAt: wall))
        } catch {
            // It may still come, behind what is written next.
            numbers.renew()
            throw error
        }
    }

    /// Erases; the tombstones come first, so that no other process takes in what is on its way.
    func erase(_ scope: ErasureScope, at wall: Int64) async throws -> Erasure {
        let erasure = try await turns.run {
            let replica = try await current()
            let (erasure, changes) = try await replica.write { store throws(WaybillError) in
                try store.rehearseErasure(scope, at: wall)
            }
            try await write(changes, at: wall)
            try await tables.insert(ClickHouseTables.removals(of: changes), at: wall)
            return erasure
        }
        // Also what an erasure before could not wait for; sets are taken in meanwhile.
        try await tables.removeAll(at: wall)
        return erasure
    }

    /// One step towards limits.
    func retire(_ step: @escaping @Sendable (Store) throws(WaybillError) -> Int, at wall: Int64) async throws -> Int {
        try await turns.run {
            let replica = try await current()
            let (count, changes) = try await replica.write { store throws(WaybillError) in
                try store.rehearseRetirement(step)
            }
            try await write(changes, at: wall)
            for removal in ClickHouseTables.removals(of: changes) { try await tables.begin(removal) }
            return count
        }
    }
}

extension WaybillError {
    /// What a person is told of anything that kept sets from being stored.
    init(storing error: any Error) {
        self = error as? WaybillError ?? WaybillError(.store, "Nothing could be stored. Try again.", cause: "\(error)")
    }
}

/// Gives places to what this process inserts, as ``WaybillQueries/ArrivalPlace`` says.
///
/// An export's cursor takes for granted that what a writer inserted comes in the order of its places. So a process that
/// does not know what became of an insert, which may still come, goes on as another writer.
final class ArrivalNumbers: Sendable {
    private static let beginning: Int64 = 1_767_225_600_000_000

    private struct State {
        var writer = ArrivalNumbers.anyWriter()
        /// In units of 100 microseconds since the beginning.
        var last = ArrivalPlace.first / ArrivalPlace.writerCount
        /// The last place of each writer, by writer.
        var seen: [Int64: Int64] = [:]
    }

    private let state = Locked(State())

    /// The first of some that follow each other in steps of ``WaybillQueries/ArrivalPlace/writerCount``: later than any
    /// that was seen.
    func next(_ count: Int) -> Int64 {
        let now = (SystemClock().wallMicroseconds() - Self.beginning) / 100
        return state.withLock { state in
            let first = max(now, state.last + 1)
            state.last = first + Int64(max(1, count)) - 1
            return first * ArrivalPlace.writerCount + state.writer
        }
    }

    /// Takes note of what all have given.
    ///
    /// - Parameter seen: The last place of each writer, by writer.
    func follow(_ seen: [Int64: Int64]) {
        state.withLock { state in
            state.seen = seen
            // What this one has not given is another one's, which has the same place by chance.
            if let other = seen[state.writer], other / ArrivalPlace.writerCount > state.last { Self.renew(&state) }
            state.last = max(state.last, (seen.values.max() ?? 0) / ArrivalPlace.writerCount)
        }
    }

    /// Goes on behind a place that was read.
    func pass(_ place: Int64) {
        state.withLock { state in state.last = max(state.last, place / ArrivalPlace.writerCount) }
    }

    /// Goes on as another writer.
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

/// Lets one go on after the other, in the order in which they came.
final class FairLock: Sendable {
    private struct State {
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    /// Runs `body` when all that came before is done.
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
