import WaybillAtomics
import WaybillCore
import WaybillStore

/// Runs flushes one after the other, and remembers between them what they have learned.
final class Flusher: Sendable {
    private struct State {
        var delivery: Delivery? { didSet { note(delivery) } }
        /// Of all deliveries so far: what was under way when a delivery was replaced still is.
        private(set) var uploads: [BackgroundUploads] = []
        /// Counts deliveries: what a flush learns of one that was replaced meanwhile does not count.
        var generation = 0
        var gate = DeliveryGate()
        var latest: Task<FlushReport, Never>?
        var problem: WaybillError?
        /// Delivers now and then; nil: not asked to, or no longer.
        var turns: Task<Void, Never>?

        init(delivery: Delivery?) {
            self.delivery = delivery
            note(delivery)
        }

        private mutating func note(_ delivery: Delivery?) {
            guard let uploads = (delivery?.transport as? URLSessionTransport)?.uploads,
                !self.uploads.contains(where: { $0 === uploads })
            else { return }
            self.uploads.append(uploads)
        }
    }

    /// A flush under way, in the task that runs it and in those that it starts.
    private final class Running: Sendable {
        let flusher: ObjectIdentifier
        let outer: Running?
        private let hasEnded = Atomic(false)

        init(of flusher: Flusher, inside outer: Running?) {
            (self.flusher, self.outer) = (ObjectIdentifier(flusher), outer)
        }

        func end() { hasEnded.store(true, ordering: .releasing) }

        /// Whether a flusher waits for the current task.
        func isAwaited(by flusher: Flusher) -> Bool {
            var candidate: Running? = self
            while let here = candidate {
                if here.flusher == ObjectIdentifier(flusher), !here.hasEnded.load(ordering: .acquiring) { return true }
                candidate = here.outer
            }
            return false
        }
    }

    @TaskLocal private static var running: Running?

    private static let nested = WaybillError(
        .setting,
        "`canFlush` or the transport asked for a flush while a flush was waiting for it. The flush under way delivers what "
            + "is pending; ask for another one after it.")

    /// Told what happens.
    let events = DeliveryEvents()
    private let state: Locked<State>
    private let diagnostics: Diagnostics

    init(delivery: Delivery?, diagnostics: Diagnostics) {
        state = Locked(State(delivery: delivery))
        self.diagnostics = diagnostics
    }

    var delivery: Delivery? {
        get { state.withLock { $0.delivery } }
        set {
            state.withLock { state in
                // A launch that comes to its first delivery late has nothing new: what the store remembers is of that
                // one.
                state.gate = DeliveryGate(isForNewDelivery: state.delivery != nil || state.gate.isForNewDelivery)
                state.delivery = newValue
                state.generation += 1
            }
        }
    }

    /// Ends the uploads whose facts were erased, and removes their files; to be called on the store's thread.
    ///
    /// - Parameters:
    ///   - store: `nil` if there is none.
    ///   - isEverything: Whether all were: then those that hold no fact end as well.
    func endUploads(in store: Store?, isEverything: Bool, at uptime: Int64) {
        for uploads in state.withLock({ $0.uploads }) {
            if isEverything {
                // Without a lease that nobody would end, or nothing could be delivered for an hour.
                for set in uploads.forgetAll() { try? store?.release(set) }
            } else if let store {
                for set in uploads.unfinished() {
                    let isLeased = try? store.isLeased(
                        set.id, now: uptime, expiresIn: BackgroundUploads.leaseMicroseconds)
                    if isLeased == false { uploads.forget(set.id) }
                }
            }
        }
    }

    /// Why the last flush failed; nil when it did not.
    var problem: WaybillError? { state.withLock { $0.problem } }

    /// Why what waits may never arrive, though nothing has failed: it was not set where to or when; nil where it was,
    /// or nothing waits.
    ///
    /// Writes what was recorded until now.
    func hint(on source: SourceRecorder?) -> String? {
        let (isWanting, wasAsked) = state.withLock { ($0.delivery == nil, $0.latest != nil || $0.turns != nil) }
        guard isWanting || !wasAsked, let source,
            let count = try? source.writer.runAndWait({ _, store in try store.pendingCount() }), count > 0
        else { return nil }
        let facts = count == 1 ? "1 fact waits" : "\(count) facts wait"
        if isWanting { return "\(facts), and there is nowhere to deliver to: give the manager a delivery." }
        return "\(facts), and nothing was ever delivered: call startDelivery() once, or flush()."
    }

    // MARK: Now and then

    /// A rate that no setting exceeds: a turn looks into the store.
    private static let shortestInterval = Duration.milliseconds(100)

    /// The longest that it waits for something to be written, in case that something becomes pending in another way.
    private static let longestRest = Duration.seconds(3_600)

    /// Delivers in turns until the task is canceled. Where nothing is left, there is no turn before something was
    /// recorded, so that an app that does nothing is not woken.
    func takeTurns(_ sources: SourceRegistry, every interval: Duration) async {
        while !Task.isCancelled {
            // Before the flush: what is recorded meanwhile rings, too.
            let bell = sources.changes.bell()
            if await flushIfDue(sources) { await Self.wait(for: bell) }
            try? await Task.sleep(for: max(interval, Self.shortestInterval))
        }
    }

    private static func wait(for bell: AsyncStream<Void>) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { _ = await bell.rings() }
            group.addTask { try? await Task.sleep(for: longestRest) }
            await group.next()
            group.cancelAll()
        }
    }

    /// Delivers in turns until ``stopTurns(of:)``; in place of those that were started before.
    func startTurns(of sources: SourceRegistry, every interval: Duration) {
        guard sources.settings != nil else { return }
        state.withLock { state in
            state.turns?.cancel()
            state.turns = Task { await takeTurns(sources, every: interval) }
        }
    }

    /// Ends the turns, if there are any, with a last flush.
    func stopTurns(of sources: SourceRegistry) {
        let turns = state.withLock { state in
            defer { state.turns = nil }
            return state.turns
        }
        guard let turns else { return }
        turns.cancel()
        _ = start(sources, isAsked: true)
    }

    /// A flush that was not asked for: where it would do nothing, it costs a lock and a look at the clock.
    ///
    /// - Returns: Whether nothing is left, and nothing can be due before it was written here: not so where other processes
    ///   write to the store, too, or facts are written when they are read.
    @discardableResult
    func flushIfDue(_ sources: SourceRegistry) async -> Bool {
        guard let source = sources.readableSource else { return false }
        let uptime = source.settings.clock.uptimeMicroseconds()
        guard state.withLock({ $0.gate.blockingError(at: uptime, isAsked: false) == nil }),
            let report = await start(sources, isAsked: false)?.value
        else { return false }
        return report.error == nil && report.pending == 0 && report.held == 0 && source.writer.ringsForEachWrite
    }

    // MARK: One flush

    /// Starts a flush behind those that are under way: facts recorded until now are part of it.
    ///
    /// - Parameter isAsked: Whether it was asked for: then it does not wait for a pause of our own.
    /// - Returns: nil where there is nothing to deliver from.
    func start(_ sources: SourceRegistry, isAsked: Bool) -> Task<FlushReport, Never>? {
        guard let source = sources.readableSource else { return nil }
        if Self.running?.isAwaited(by: self) == true { return Task { FlushReport(error: Self.nested) } }
        // Their facts have to be in the store before.
        let forerunners = sources.liveForerunners
        return state.withLock { state in
            let (earlier, delivery, generation) = (state.latest, state.delivery, state.generation)
            let task = Task {
                _ = await earlier?.value
                for source in forerunners { try? await source.writer.drain() }
                let gate = self.state.withLock { $0.generation == generation ? $0.gate : DeliveryGate() }
                var flush = Flush(of: source, over: delivery?.transport, gate: gate, isAsked: isAsked, events: events)
                let running = Running(of: self, inside: Self.running)
                let report = await Self.$running.withValue(running) { await flush.run() }
                running.end()
                if flush.wasCloned {
                    sources.renew(after: source)
                    diagnostics.once(
                        "The collector rejected facts because another process used the same source: this process was cloned, or "
                            + "its disk was restored from a snapshot. The rejected facts are in quarantine; new transactions "
                            + "belong to a new source.")
                }
                if let problem = source.sampling.problem { diagnostics.once(problem.message) }
                if let error = report.error, !flush.wasHeld, !Task.isCancelled { diagnostics.once(error.message) }
                self.state.withLock { state in
                    // Why it was held is nothing new: what went wrong before is the problem still.
                    if !flush.wasHeld || state.problem == nil { state.problem = report.error }
                    if state.generation == generation { state.gate = flush.gate }
                }
                events.tell(.ended(report))
                return report
            }
            state.latest = task
            return task
        }
    }
}
