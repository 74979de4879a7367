public import WaybillCore

/// Tells those who watch which transactions have changed in the store.
///
/// Recording never waits for a watcher: what a slow one has not taken yet is kept as one set of IDs, and beyond
/// ``maximumCount`` of them as the word `reload`.
package final class ChangeFeed: Sendable {
    /// IDs that one change names at most.
    static let maximumCount = 1_000

    private struct State {
        var watchers: [Int: ChangeWatcher] = [:]
        var nextID = 0
        var hasEnded = false
    }

    private let state = Locked(State())

    package init() {}

    /// Whether there are watchers to tell of a change.
    package var isWatched: Bool { state.withLock { $0.watchers.values.contains(where: \.isTold) } }

    /// Watches from now on, for as long as the bell is held.
    ///
    /// - Returns: What collects the changes, and what rings when there are some.
    package func watch() -> (ChangeWatcher, bell: AsyncStream<Void>) { watch(isTold: true) }

    /// Rings when something was written, from now on, for as long as it is held: no change is made out for it.
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

    /// Rings for those who hold a ``bell()``: facts have come into the store.
    func noteWrite() { for watcher in watchers where !watcher.isTold { watcher.wake() } }

    /// Tells all watchers.
    package func tell(_ change: TransactionChange) {
        for watcher in watchers where watcher.isTold { watcher.add(change) }
    }

    /// Wakes all watchers, and rings all bells: something else is another now, such as what waits for delivery. There is
    /// no change to take.
    package func ring() { for watcher in watchers { watcher.wake() } }

    private var watchers: [ChangeWatcher] { state.withLock { Array($0.watchers.values) } }

    /// No more changes will come; those that were not taken yet still can be.
    package func end() {
        let watchers = state.withLock { state in
            state.hasEnded = true
            return Array(state.watchers.values)
        }
        for watcher in watchers { watcher.end() }
    }
}

/// What has changed since one who watches last looked.
package final class ChangeWatcher: Sendable {
    private let ring: AsyncStream<Void>.Continuation
    private let changed = Locked<TransactionChange?>(nil)

    /// false: it is only to know that something was written.
    fileprivate let isTold: Bool

    fileprivate init(_ ring: AsyncStream<Void>.Continuation, isTold: Bool) {
        self.ring = ring
        self.isTold = isTold
    }

    /// What has changed since the last call; nil when nothing has.
    package func take() -> TransactionChange? {
        changed.withLock { changed in
            defer { changed = nil }
            return changed
        }
    }

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
    /// Waits until it rings; false when it never will again, or the task was canceled.
    ///
    /// From any actor: `next(isolation:)` of an iterator is not on iOS before 18.
    package func rings() async -> Bool {
        var iterator = makeAsyncIterator()
        return await iterator.next() != nil
    }
}

/// What has just been recorded.
public enum TransactionChange: Hashable, Sendable {
    /// Something was added to these transactions; at most a thousand.
    case transactions(Set<GUID>)
    /// More than that has changed, or something was erased: read again what is shown.
    case reload
}

/// What a batch has changed, for those who watch.
extension Store {
    /// The transactions that facts of an own source belong to; nil for facts outside any.
    func change(by facts: [Fact], of source: GUID) throws(WaybillError) -> TransactionChange? {
        let parts = Set(facts.lazy.map(\.part)).subtracting([0])
        guard parts.count <= ChangeFeed.maximumCount else { return .reload }
        let find = try connection.statement(
            "SELECT guid FROM parts WHERE source = (SELECT id FROM sources WHERE uuid = ?) AND sequence = ? AND guid IS NOT NULL"
        )
        var transactions: Set<GUID> = []
        for part in parts {
            if let transaction = try find.first(source, part, transform: { row in row.guid(0) }) {
                transactions.insert(transaction)
            }
        }
        return transactions.isEmpty ? nil : .transactions(transactions)
    }
}

/// What other processes have changed, for those who watch.
extension Store {
    /// Where a look at the changes of others has come to.
    struct SeenChanges {
        /// SQLite's: another number once another connection has written (sqlite.org/pragma.html#pragma_data_version).
        var version: Int64
        /// By source: how many facts it had recorded, and whether it had ended.
        var sources: [Int64: (recorded: Int64, hasEnded: Bool)] = [:]
        /// What was given up or has gone.
        var losses: [Int64] = [0, 0]
        /// The last of what was received.
        var arrival: Int64 = 0
    }

    /// What others have changed since the look before; nil: nothing, or there was no look before.
    ///
    /// - Parameters:
    ///   - seen: Of the look before; nil: the first. Comes back with what was seen now.
    ///   - own: The source whose changes are told by itself.
    func changeByOthers(since seen: inout SeenChanges?, own: GUID) throws(WaybillError) -> TransactionChange? {
        let version = try connection.integer("PRAGMA data_version")
        guard version != seen?.version else { return nil }
        let before = seen
        var after = SeenChanges(version: version)
        var change: TransactionChange?
        // One moment: what comes meanwhile is for the next look.
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
            try connection.statement(Self.changedParts).forEachRow(source, range.lowerBound, range.upperBound) { row in
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
                transform: { row in (source: row.int(0), range: row.int(1)...max(row.int(1), row.int(2))) })
            { try collect(arrived.source, arrived.range) }
        }
        guard transactions.count <= ChangeFeed.maximumCount else { return .reload }
        return transactions.isEmpty ? nil : .transactions(transactions)
    }

    /// The transactions of the parts of source `?1` that have a fact from `?2` to `?3`.
    private static let changedParts = """
        SELECT p.guid FROM parts p WHERE p.source = ?1 AND p.sequence <= ?3 AND p.last >= ?2 AND p.guid IS NOT NULL \
        AND (p.sequence >= ?2 OR p.closed BETWEEN ?2 AND ?3 \
        OR EXISTS(SELECT 1 FROM events e WHERE e.source = ?1 AND e.part = p.sequence \
        AND e.after BETWEEN ?2 - p.sequence AND ?3 - p.sequence) \
        OR EXISTS(SELECT 1 FROM network_logs l WHERE l.source = ?1 AND l.part = p.sequence \
        AND (l.sequence BETWEEN ?2 AND ?3 OR l.closed BETWEEN ?2 AND ?3)))
        """
}

/// Looks at what other processes have changed, now and then, for as long as somebody watches.
extension SourceWriter {
    /// How long a change of another process may stay unnoticed: while somebody watches, and costs a look at one number.
    static let lookAge = Duration.seconds(1)

    /// Has what others record told from now on, if somebody watches; ends by itself once nobody does.
    package func watchOthers() {
        guard place.path != nil else { return }  // no other process has this memory
        let isFirst = state.withLock { state in
            guard changes.isWatched else { return false }
            defer { state.isWatchingOthers = true }
            return !state.isWatchingOthers
        }
        guard isFirst else { return }
        thread.perform { [weak self] store in
            store.seenChanges = nil
            self?.lookAtOthers(store)
        }
    }

    /// Leaves it to another source of this process.
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
            // All that somebody writes into it is new.
            opened.seenChanges = Store.SeenChanges(version: -1)
        }
        guard writesByItself else { return }
        thread.perform(after: Self.lookAge) { [weak self] store in self?.lookAtOthers(store) }
    }
}
