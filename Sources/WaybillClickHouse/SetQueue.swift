#if ClickHouse
import WaybillCore
import WaybillReading
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
    private let turns = Turns()
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
#endif
