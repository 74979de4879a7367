import WaybillCore

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
