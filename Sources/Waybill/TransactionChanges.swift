import WaybillCore
public import WaybillStore

/// What is being recorded, by this process and others, as it reaches the store; ends with the manager.
///
/// Watches from the moment it was asked for, so that nothing is missed between a first list and the first change. What
/// happens while its reader is busy comes as one change, and where that are many transactions, as
/// ``WaybillStore/TransactionChange/reload``: recording waits for no reader. Each reader asks the manager for its own.
public struct TransactionChanges: AsyncSequence, Sendable {
    public typealias Failure = Never

    private let watcher: ChangeWatcher
    private let bell: AsyncStream<Void>

    init(of feed: ChangeFeed) { (watcher, bell) = feed.watch() }

    public func makeAsyncIterator() -> Iterator { Iterator(watcher: watcher, bell: bell) }

    /// Waits for changes.
    public struct Iterator: AsyncIteratorProtocol {
        let watcher: ChangeWatcher
        let bell: AsyncStream<Void>

        /// What has changed since the last call; nil when the manager has gone or the task was canceled.
        public mutating func next() async -> TransactionChange? { await next(isolation: nil) }

        /// As ``next()``, on the caller's actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> TransactionChange? {
            while await bell.rings() {
                if let change = watcher.take() { return change }
            }
            return watcher.take()
        }
    }
}
