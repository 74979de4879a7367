public import Observation
public import Waybill
import WaybillCore
import WaybillStore

extension TransactionManager {
    /// The live state of this manager for a badge.
    public var live: LiveTransactions {
        companions.withLock { companions in
            let key = ObjectIdentifier(LiveTransactions.self)
            if let live = companions[key] as? LiveTransactions { return live }
            let live = LiveTransactions(sources)
            companions[key] = live
            return live
        }
    }
}

/// The state that a badge shows for a manager, for a floating button or a menu bar item of your app.
///
/// This is an async sequence, and `Observable` from iOS 17 and macOS 14 on: a SwiftUI view that reads a property
/// updates itself. The store is read only while the state is observed, at most five times a second, without blocking
/// recording. If a read fails, the state stays as it was, and the manager's health reports why. The sequence ends with
/// the manager.
///
/// ## Usage
///
/// ```swift
/// for await state in transactions.live {
///     button.title = "\(state.counts.failed)"
/// }
/// ```
public final class LiveTransactions: AsyncSequence, Sendable {
    public typealias Failure = Never

    /// The state at one moment.
    public struct State: Hashable, Sendable {
        /// The open and failed transactions and the pending facts. A timeout counts only after the next change.
        public var counts: TransactionCounts
        /// The last failed transactions, at most five, the newest first.
        public var lastFailures: [TransactionSummary]
        /// Whether the manager records.
        public var recording: RecordingHealth.Mode

        /// Creates a state.
        public init(
            counts: TransactionCounts = TransactionCounts(), lastFailures: [TransactionSummary] = [],
            recording: RecordingHealth.Mode = .off
        ) {
            self.counts = counts
            self.lastFailures = lastFailures
            self.recording = recording
        }
    }

    private let sources: SourceRegistry
    /// An `ObservationRegistrar`, which older systems do not have.
    private let observers: (any Sendable)?
    @MainActor private var known = State()
    @MainActor private var isFollowing = false
    @MainActor private var isLookedAt = false

    init(_ sources: SourceRegistry) {
        self.sources = sources
        if #available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *) {
            observers = ObservationRegistrar()
        } else {
            observers = nil
        }
    }

    /// Returns an iterator that begins with the current state.
    public func makeAsyncIterator() -> Iterator { Iterator(sources) }

    /// The state as of the last read, empty at first. Observers are notified once and must then read it again.
    @MainActor public var state: State {
        if #available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *) {
            (observers as? ObservationRegistrar)?.access(self, keyPath: \.state)
        }
        isLookedAt = true
        follow()
        return known
    }

    /// The number of open and failed transactions and of pending facts.
    @MainActor public var counts: TransactionCounts { state.counts }

    /// The last failed transactions, at most five, the newest first.
    @MainActor public var lastFailures: [TransactionSummary] { state.lastFailures }

    /// Whether the manager records.
    @MainActor public var recording: RecordingHealth.Mode { state.recording }

    @MainActor private func follow() {
        guard !isFollowing else { return }
        isFollowing = true
        Task { [weak self] in
            var states = self?.makeAsyncIterator()
            while let state = await states?.next(isolation: #isolation), self?.show(state) == true {}
            self?.isFollowing = false
        }
    }

    @MainActor private func show(_ state: State) -> Bool {
        guard state != known else { return true }
        let wasLookedAt = isLookedAt
        isLookedAt = false
        if #available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *),
            let observers = observers as? ObservationRegistrar
        {
            observers.withMutation(of: self, keyPath: \.state) { known = state }
        } else {
            known = state
        }
        return wasLookedAt
    }
}

@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
extension LiveTransactions: Observable {}

extension LiveTransactions {
    /// An iterator over the states of a manager.
    public struct Iterator: AsyncIteratorProtocol {
        private let sources: SourceRegistry
        private let watcher: ChangeWatcher
        private let bell: AsyncStream<Void>
        private var last: State?
        private var readAt = ContinuousClock.now

        /// Twice as fast as a person reads numbers.
        private static let pause = Duration.milliseconds(200)
        private static let failureLimit = 5

        fileprivate init(_ sources: SourceRegistry) {
            self.sources = sources
            (watcher, bell) = sources.changes.watch()
            sources.current?.writer.watchOthers()
        }

        /// Returns the current state, then each changed one; `nil` if the manager is gone or the task is cancelled.
        public mutating func next() async -> State? { await next(isolation: nil) }

        /// Works as ``next()``, on the caller's actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> State? {
            if last == nil, !Task.isCancelled { return await look() }
            while await bell.rings() {
                _ = watcher.take()
                try? await Task.sleep(until: readAt + Self.pause, clock: .continuous)
                let before = last
                let state = await look()
                if state != before { return state }
            }
            return nil
        }

        private mutating func look(isolation actor: isolated (any Actor)? = #isolation) async -> State {
            readAt = .now
            let state = await sources.state(otherwise: last ?? State(), failureLimit: Self.failureLimit)
            last = state
            return state
        }
    }
}

extension SourceRegistry {
    fileprivate func state(otherwise last: LiveTransactions.State, failureLimit: Int) async -> LiveTransactions.State {
        let read = try? await read { reader, now in
            let filter = TransactionFilter([.outcome([.failed])])
            let failures = try reader.transactions(matching: filter, limit: failureLimit, after: nil, now: now)
            return LiveTransactions.State(counts: try reader.counts(now: now), lastFailures: failures.rows)
        }
        var state = read ?? last
        state.recording = mode
        return state
    }
}
