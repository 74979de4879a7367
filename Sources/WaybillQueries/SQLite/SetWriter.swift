package import WaybillCore
package import WaybillStore

/// Each commit includes the oldest set and the smallest others: small sets wait for at most two large ones.
package final class SetWriter: Sendable {
    package let thread: StoreThread<LazyResource<Store>>
    private let waiting = Locked<[Waiting]>([])
    private let committed: @Sendable ([Result<Receipt, WaybillError>]) -> Void

    /// A commit takes no more sets after this many rows, to bound the wait of small sets.
    private static let rowsPerCommit = 20_000
    private static let smallRowsPerCommit = 2_000

    private struct Waiting: Sendable {
        var arrival: ReceivedSet
        var rowCount: Int
        var answer: CheckedContinuation<Result<Receipt, WaybillError>, Never>
    }

    /// Facts of a transaction beyond `factsPerTransaction` are rejected; `nil` means no limit.
    package init(
        _ place: ResolvedLocation, factsPerTransaction: Int? = nil, hooks: IngestHooks = IngestHooks(),
        committed: @escaping @Sendable ([Result<Receipt, WaybillError>]) -> Void = { _ in }
    ) {
        self.committed = committed
        // A receipt promises that facts survive a power cut, so a sync precedes it.
        thread = StoreThread(
            label: "waybill.writer", ends: { if place.isShared { $0.forget() } },
            make: {
                LazyResource { () throws(WaybillError) in
                    let store = try Store(place, commitsAreSynced: true)
                    (store.factsPerTransaction, store.hooks) = (factsPerTransaction, hooks)
                    return store
                }
            })
    }

    func open() throws(WaybillError) { _ = try thread.sync { store throws(WaybillError) in try store.opened() } }

    package var waitingCount: Int { waiting.withLock { $0.count } }

    package func add(_ arrival: ReceivedSet) async throws(WaybillError) -> Receipt {
        try await withCheckedContinuation { answer in
            let isFirst = waiting.withLock { waiting in
                waiting.append(Waiting(arrival: arrival, rowCount: arrival.set.rowCount, answer: answer))
                return waiting.count == 1
            }
            // Only the first call starts a commit, which includes the other waiting sets.
            if isFirst { thread.perform { store in self.commit(to: store) } }
        }.get()
    }

    /// Adds a set with a commit only for this one.
    package func add(_ body: @escaping @Sendable (Store) throws(WaybillError) -> Receipt)
        async throws(WaybillError) -> Receipt
    {
        let receipt = try await run(body)
        committed([.success(receipt)])
        return receipt
    }

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
            results = try store.opened().ingest(group.map(\.arrival))
        } catch {
            results = group.map { _ in .failure(error) }
        }
        committed(results)
        for (waiting, result) in zip(group, results) { waiting.answer.resume(returning: result) }
    }
}

package final class LazyResource<Resource> {
    private let open: () throws(WaybillError) -> Resource
    private var resource: Resource?

    init(_ open: @escaping () throws(WaybillError) -> Resource) { self.open = open }

    /// The next call retries after a failure.
    package func opened() throws(WaybillError) -> Resource {
        if let resource { return resource }
        let opened = try open()
        resource = opened
        return opened
    }

    func forget() { resource = nil }
}
