public import Observation
public import Waybill
import WaybillCore
import WaybillStore

extension TransactionManager {
    /// The live state of this manager for a badge: open and failed transactions, the last failures, whether it records.
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

/// What a badge shows of a manager, kept up to date: for a floating button or a menu bar item of the app's own.
///
/// It is a sequence on every system, and, from iOS 17 and macOS 14 on, observable: a SwiftUI view that reads one of its
/// properties is shown anew when there is something new. The store is read only while the state is watched, five times
/// a second at most, and recording does not wait for that. What cannot be read stays as it was; the manager's health
/// says why. Ends with the manager.
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

    /// What there is to show at one moment.
    public struct State: Hashable, Sendable {
        /// How many transactions are open and have failed, and how many facts wait for delivery. One that times out
        /// counts as open until something else changes.
        public var counts: TransactionCounts
        /// The transactions that failed last, the newest first; at most five.
        public var lastFailures: [TransactionSummary]
        /// Whether the manager records.
        public var recording: RecordingHealth.Mode

        /// Makes a state.
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
    /// An `ObservationRegistrar`, which not every system has.
    private let observers: (any Sendable)?
    @MainActor private var known = State()
    @MainActor private var isFollowing = false
    /// Whether it was read since something new was shown.
    @MainActor private var isLookedAt = false

    init(_ sources: SourceRegistry) {
        self.sources = sources
        if #available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *) {
            observers = ObservationRegistrar()
        } else {
            observers = nil
        }
    }

    /// Watches from now on; begins with what there is.
    public func makeAsyncIterator() -> Iterator { Iterator(sources) }

    /// What there is to show, as it was read last; at the first look nothing.
    ///
    /// What reads it is told once when there is something new, and has to read again to be told again: a view does.
    @MainActor public var state: State {
        if #available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *) {
            (observers as? ObservationRegistrar)?.access(self, keyPath: \.state)
        }
        isLookedAt = true
        follow()
        return known
    }

    /// How many transactions are open and have failed, and how many facts wait for delivery; as ``state`` has it.
    @MainActor public var counts: TransactionCounts { state.counts }

    /// The transactions that failed last, the newest first; as ``state`` has it.
    @MainActor public var lastFailures: [TransactionSummary] { state.lastFailures }

    /// Whether the manager records; as ``state`` has it.
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

    /// - Returns: Whether it is still read: it was since something new was shown last.
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
    /// Waits for something new.
    public struct Iterator: AsyncIteratorProtocol {
        private let sources: SourceRegistry
        private let watcher: ChangeWatcher
        private let bell: AsyncStream<Void>
        private var last: State?
        private var readAt = ContinuousClock.now

        /// Between two looks at the store: twice as fast as a person reads numbers.
        private static let pause = Duration.milliseconds(200)
        private static let failureLimit = 5

        fileprivate init(_ sources: SourceRegistry) {
            self.sources = sources
            (watcher, bell) = sources.changes.watch()
            sources.current?.writer.watchOthers()
        }

        /// What there is to show at first, and then each time that this is something else; nil when the manager has
        /// gone or the task was canceled.
        public mutating func next() async -> State? { await next(isolation: nil) }

        /// As ``next()``, on the caller's actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> State? {
            if last == nil, !Task.isCancelled { return await look() }
            while await bell.rings() {
                // Of what has changed everything is read anew.
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
    /// What there is to show now; what cannot be read is as it was.
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
