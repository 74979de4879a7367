package import WaybillCore
package import WaybillStore

/// The one writer of a store: sets of many requests that wait at the same time share one synced commit.
///
/// Each commit takes the set that has waited longest, and the smallest of the others: so a small one waits for two large
/// ones, however many are there, and none for ever.
package final class SetWriter: Sendable {
    /// Where everything else that writes is run, too.
    package let thread: StoreThread<LazyResource<Store>>
    private let waiting = Locked<[Waiting]>([])
    /// Facts of one transaction beyond so many are rejected; nil: however many come.
    package let factsPerTransaction: Int?
    private let committed: @Sendable ([Result<Receipt, WaybillError>]) -> Void

    /// Facts, and what stands beside them, after which a commit takes no further set, so that a small set never waits
    /// for more than this many.
    private static let rowsPerCommit = 20_000
    /// The same of the sets that go with a larger one.
    private static let smallRowsPerCommit = 2_000

    private struct Waiting: Sendable {
        var arrival: ReceivedSet
        var rowCount: Int
        var answer: CheckedContinuation<Result<Receipt, WaybillError>, Never>
    }

    /// - Parameters:
    ///   - factsPerTransaction: Facts of one transaction beyond so many are rejected; nil: however many come.
    ///   - committed: Told what became of the sets of each commit, on the writer's thread.
    package init(
        _ place: ResolvedLocation, factsPerTransaction: Int? = nil,
        committed: @escaping @Sendable ([Result<Receipt, WaybillError>]) -> Void = { _ in }
    ) {
        self.factsPerTransaction = factsPerTransaction
        self.committed = committed
        // A receipt promises that the facts survive a power cut: so each commit is synced before it.
        thread = StoreThread(label: "waybill.writer") {
            LazyResource { () throws(WaybillError) in try Store(place, commitsAreSynced: true) }
        }
    }

    /// Opens the store now, and makes it where it is missing; blocks until it is done.
    func open() throws(WaybillError) { _ = try thread.sync { store throws(WaybillError) in try store.opened() } }

    /// Sets that no commit has taken along yet.
    package var waitingCount: Int { waiting.withLock { $0.count } }

    /// Books a set; returns only after the synced commit.
    package func add(_ arrival: ReceivedSet) async throws(WaybillError) -> Receipt {
        try await withCheckedContinuation { answer in
            let isFirst = waiting.withLock { waiting in
                waiting.append(Waiting(arrival: arrival, rowCount: arrival.set.set.rowCount, answer: answer))
                return waiting.count == 1
            }
            // A call that is not the first is taken along: what waits while a commit is under way makes the next one.
            if isFirst { thread.perform { store in self.commit(to: store) } }
        }.get()
    }

    /// Books what no commit can share, after what was asked for before.
    ///
    /// - Parameter body: Given the store, and the facts that one transaction may have.
    package func add(_ body: @escaping @Sendable (Store, Int?) throws(WaybillError) -> Receipt)
        async throws(WaybillError) -> Receipt
    {
        let limit = factsPerTransaction
        let receipt = try await run { store throws(WaybillError) in try body(store, limit) }
        committed([.success(receipt)])
        return receipt
    }

    /// Runs `body` after what was asked for before.
    package func run<Value: Sendable>(
        _ body: @escaping @Sendable (Store) throws(WaybillError) -> Value
    ) async throws(WaybillError) -> Value {
        try await thread.run { store throws(WaybillError) in try body(store.opened()) }
    }

    private func commit(to store: LazyResource<Store>) {
        let (group, isMore) = waiting.withLock { waiting in
            guard let oldest = waiting.first else { return ([Waiting](), false) }
            let others = waiting.indices.dropFirst().sorted { (waiting[$0].rowCount, $0) < (waiting[$1].rowCount, $1) }
            var taken: Set = [0]
            var (rowCount, otherCount) = (oldest.rowCount, 0)
            for index in others {
                otherCount += waiting[index].rowCount
                guard rowCount < Self.rowsPerCommit || otherCount <= Self.smallRowsPerCommit else { break }
                taken.insert(index)
                rowCount += waiting[index].rowCount
            }
            let group = waiting.indices.filter(taken.contains).map { waiting[$0] }
            waiting = waiting.indices.filter { !taken.contains($0) }.map { waiting[$0] }
            return (group, !waiting.isEmpty)
        }
        guard !group.isEmpty else { return }
        if isMore { thread.perform { store in self.commit(to: store) } }
        let results: [Result<Receipt, WaybillError>]
        do throws(WaybillError) {
            results = try store.opened().ingest(group.map(\.arrival), factsPerTransaction: factsPerTransaction)
        } catch {
            results = group.map { _ in .failure(error) }
        }
        committed(results)
        for (waiting, result) in zip(group, results) { waiting.answer.resume(returning: result) }
    }
}

/// Something that is opened when it is first needed; confined to its thread.
package final class LazyResource<Resource> {
    private let open: () throws(WaybillError) -> Resource
    private var resource: Resource?

    init(_ open: @escaping () throws(WaybillError) -> Resource) { self.open = open }

    /// The one, opened now where it was not before; where that fails, it is tried again the next time.
    package func opened() throws(WaybillError) -> Resource {
        if let resource { return resource }
        let opened = try open()
        resource = opened
        return opened
    }

    /// Lets go of it; it is opened again when it is asked for.
    func forget() { resource = nil }
}
