#if Collector
import WaybillCore
import WaybillLegacy
import WaybillStore

/// The one writer of a project's store: sets of many requests that wait at the same time share one synced commit.
final class SetWriter: Sendable {
    /// Where everything else that writes is run, too.
    let thread: StoreThread<Store>
    private let waiting = Locked<[Waiting]>([])
    private let limits: CollectorLimits
    private let counters: Counters

    /// Facts after which a commit takes no further set, so that a small set never waits for more than this many.
    private static let factsPerCommit = 20_000

    private struct Waiting: Sendable {
        var arrival: ReceivedSet
        var answer: CheckedContinuation<Result<Receipt, WaybillError>, Never>
    }

    /// Opens the store, and makes it where it is missing; blocks until it is done.
    init(_ place: ResolvedLocation, limits: CollectorLimits, counters: Counters) throws(WaybillError) {
        self.limits = limits
        self.counters = counters
        // An answer promises that the facts survive a power cut: so each commit is synced before its answer.
        thread = try StoreThread(label: "waybill.collector") { () throws(WaybillError) in try Store(place, commitsAreSynced: true) }
    }

    /// Sets that no commit has taken along yet.
    var waitingCount: Int { waiting.withLock { $0.count } }

    /// Books a set; returns only after the synced commit.
    func add(_ arrival: ReceivedSet) async throws(WaybillError) -> Receipt {
        try await withCheckedContinuation { answer in
            let isFirst = waiting.withLock { waiting in
                waiting.append(Waiting(arrival: arrival, answer: answer))
                return waiting.count == 1
            }
            // A call that is not the first is taken along: what waits while a commit is under way makes the next one.
            if isFirst { thread.perform { store in self.commit(to: store) } }
        }.get()
    }

    /// Books a set of version 0.0.1, in a commit of its own; returns only after it is synced.
    func add(_ set: LegacySet, digest: [UInt8], atMicroseconds wall: Int) async throws(WaybillError) -> Receipt {
        let limit = limits.factsPerTransaction
        let receipt = try await thread.run { store throws(WaybillError) in
            try store.ingest(set, digest: digest, receivedAt: wall, factsPerTransaction: limit)
        }
        counters.count([.success(receipt)])
        return receipt
    }

    private func commit(to store: Store) {
        let (group, isMore) = waiting.withLock { waiting in
            var factCount = 0
            let count = waiting.firstIndex { waiting in
                defer { factCount += waiting.arrival.set.set.factCount }
                return factCount >= Self.factsPerCommit
            }
            let group = waiting.prefix(count ?? waiting.count)
            waiting.removeFirst(group.count)
            return (Array(group), !waiting.isEmpty)
        }
        if isMore { thread.perform { store in self.commit(to: store) } }
        let results = store.ingest(group.map(\.arrival), factsPerTransaction: limits.factsPerTransaction)
        counters.count(results)
        for (waiting, result) in zip(group, results) { waiting.answer.resume(returning: result) }
    }
}
#endif
