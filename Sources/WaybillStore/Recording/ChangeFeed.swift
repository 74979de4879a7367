package import WaybillCore

/// The feed of changed transactions, which never blocks recording.
///
/// Changes that a watcher has not taken are merged into one set, and beyond ``maximumCount`` IDs into `reload`.
package final class ChangeFeed: Sendable {
    static let maximumCount = 1_000

    private struct State {
        var watchers: [Int: ChangeWatcher] = [:]
        var nextID = 0
        var hasEnded = false
    }

    private let state = Locked(State())

    package init() {}

    package var isWatched: Bool { state.withLock { $0.watchers.values.contains(where: \.isTold) } }

    /// Starts to watch; the watcher collects changes and the bell rings for each, until the bell is released.
    package func watch() -> (ChangeWatcher, bell: AsyncStream<Void>) { watch(isTold: true) }

    /// Returns a stream that rings for each write, without collecting changes.
    package func bell() -> AsyncStream<Void> { watch(isTold: false).bell }

    private func watch(isTold: Bool) -> (ChangeWatcher, bell: AsyncStream<Void>) {
        let (bell, ring) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let watcher = ChangeWatcher(ring, isTold: isTold)
        let id = state.withLock { state -> Int? in
            guard !state.hasEnded else { return nil }
            state.nextID += 1
            state.watchers[state.nextID] = watcher
            return state.nextID
        }
        if let id {
            ring.onTermination = { [weak self] _ in self?.state.withLock { _ = $0.watchers.removeValue(forKey: id) } }
        } else {
            ring.finish()
        }
        return (watcher, bell)
    }

    func noteWrite() { for watcher in watchers where !watcher.isTold { watcher.wake() } }

    package func tell(_ change: TransactionChange) {
        for watcher in watchers where watcher.isTold { watcher.add(change) }
    }

    /// Wakes all watchers and bells without a change, for example when the delivery state changes.
    package func ring() { for watcher in watchers { watcher.wake() } }

    private var watchers: [ChangeWatcher] { state.withLock { Array($0.watchers.values) } }

    package func end() {
        let watchers = state.withLock { state in
            state.hasEnded = true
            return Array(state.watchers.values)
        }
        for watcher in watchers { watcher.end() }
    }
}

package final class ChangeWatcher: Sendable {
    private let ring: AsyncStream<Void>.Continuation
    private let changed = Locked<TransactionChange?>(nil)

    fileprivate let isTold: Bool

    fileprivate init(_ ring: AsyncStream<Void>.Continuation, isTold: Bool) {
        self.ring = ring
        self.isTold = isTold
    }

    package func take() -> TransactionChange? { changed.withLock { $0.take() } }

    fileprivate func add(_ change: TransactionChange) {
        changed.withLock { $0 = $0.map { $0.merged(with: change) } ?? change }
        ring.yield()
    }

    fileprivate func wake() { ring.yield() }

    fileprivate func end() { ring.finish() }
}

extension TransactionChange {
    fileprivate func merged(with other: TransactionChange) -> TransactionChange {
        guard case .transactions(let ours) = self, case .transactions(let theirs) = other else { return .reload }
        let all = ours.union(theirs)
        return all.count > ChangeFeed.maximumCount ? .reload : .transactions(all)
    }
}

extension AsyncStream<Void> {
    /// Waits for a ring, from any actor: an iterator's `next(isolation:)` requires iOS 18.
    package func rings() async -> Bool {
        var iterator = makeAsyncIterator()
        return await iterator.next() != nil
    }
}

extension Store {
    /// Returns the transactions of own facts; `nil` if none of them belongs to a transaction.
    func change(by facts: [Fact], of source: GUID) throws(WaybillError) -> TransactionChange? {
        let parts = Set(facts.lazy.map(\.part)).subtracting([0])
        guard parts.count <= ChangeFeed.maximumCount else { return .reload }
        guard let row = try connection.sourceRow(source) else { return nil }
        let transactions = try PlacedParts(of: row.id, connection).transactions(of: parts)
        return transactions.isEmpty ? nil : .transactions(transactions)
    }
}

extension Store {
    struct SeenChanges {
        /// Changes when another connection writes (sqlite.org/pragma.html#pragma_data_version).
        var version: Int64
        var sources: [Int64: (recorded: Int64, hasEnded: Bool)] = [:]
        var losses: [Int64] = [0, 0]
        var arrival: Int64 = 0
    }

    /// Returns what other processes changed since `seen`, and updates `seen`; `nil` if nothing changed or it was `nil`.
    func changeByOthers(since seen: inout SeenChanges?, own: GUID) throws(WaybillError) -> TransactionChange? {
        let version = try connection.integer("PRAGMA data_version")
        guard version != seen?.version else { return nil }
        let before = seen
        var after = SeenChanges(version: version)
        var change: TransactionChange?
        // One transaction sees one state; the next call reports later changes.
        try connection.transaction("BEGIN") { () throws(WaybillError) in
            after = try look(version, own: own)
            if let before { change = try self.change(from: before, to: after) }
        }
        seen = after
        return change
    }

    private func look(_ version: Int64, own: GUID) throws(WaybillError) -> SeenChanges {
        var seen = SeenChanges(version: version)
        try connection.statement("SELECT id, recorded, ended FROM sources WHERE heard_us IS NULL AND uuid <> ?")
            .forEachRow(own) { row in seen.sources[row.int(0)] = (row.int(1), row.bool(2)) }
        seen.losses = [
            try connection.integer("SELECT ifnull(sum(last - first + 1), 0) FROM dropped"),
            try connection.integer("SELECT count(*) FROM erased"),
        ]
        seen.arrival = try connection.integer("SELECT ifnull(max(id), 0) FROM arrivals")
        return seen
    }

    private func change(from before: SeenChanges, to after: SeenChanges) throws(WaybillError) -> TransactionChange? {
        guard before.losses == after.losses else { return .reload }
        var transactions: Set<GUID> = []
        func collect(_ source: Int64, _ range: ClosedRange<Int64>) throws(WaybillError) {
            try connection.statement(SQL.changed).forEachRow(source, range.lowerBound, range.upperBound) { row in
                transactions.insert(row.guid(0))
            }
        }
        for (source, now) in after.sources {
            let then = before.sources[source] ?? (0, false)
            if now.recorded > then.recorded { try collect(source, then.recorded + 1...now.recorded) }
            guard now.hasEnded, !then.hasEnded else { continue }
            try connection.statement("SELECT guid FROM parts WHERE source = ? AND closed IS NULL AND guid IS NOT NULL")
                .forEachRow(source) { row in transactions.insert(row.guid(0)) }
        }
        if after.arrival > before.arrival {
            for arrived in try connection.statement("SELECT source, first, last FROM arrivals WHERE id > ?").rows(
                before.arrival,
                transform: { row in (source: row.int(0), range: row.range(1)) })
            { try collect(arrived.source, arrived.range) }
        }
        guard transactions.count <= ChangeFeed.maximumCount else { return .reload }
        return transactions.isEmpty ? nil : .transactions(transactions)
    }
}

extension SourceWriter {
    /// Each check reads one number.
    static let lookAge = Duration.seconds(1)

    package func watchOthers() {
        guard place.path != nil else { return }  // no other process has this memory
        let isFirst = state.withLock { state in
            guard changes.isWatched else { return false }
            return !exchange(&state.isWatchingOthers, with: true)
        }
        guard isFirst else { return }
        thread.perform { [weak self] store in
            store.seenChanges = nil
            self?.lookAtOthers(store)
        }
    }

    package func stopWatchingOthers() { state.withLock { $0.leavesOthers = true } }

    private func lookAtOthers(_ opened: StoreSession) {
        let goesOn = state.withLock { state in
            state.isWatchingOthers = changes.isWatched && !state.leavesOthers
            return state.isWatchingOthers
        }
        guard goesOn else {
            opened.seenChanges = nil
            return
        }
        if hasStore {
            do throws(WaybillError) {
                let change = try opened.opened().changeByOthers(since: &opened.seenChanges, own: source)
                if let change { changes.tell(change) }
            } catch {
                opened.notice(error)  // tried again by the next look
            }
        } else {
            // The store does not exist yet, so everything in it will be new.
            opened.seenChanges = Store.SeenChanges(version: -1)
        }
        guard writesByItself else { return }
        thread.perform(after: Self.lookAge) { [weak self] store in self?.lookAtOthers(store) }
    }
}
