import WaybillAtomics
import WaybillCore
import WaybillStore

final class Flusher: Sendable {
    private struct State {
        var delivery: Delivery? { didSet { note(delivery) } }
        /// Uploads of a replaced delivery continue.
        private(set) var uploads: [BackgroundUploads] = []
        /// Used to ignore the results of a flush for a replaced delivery.
        var generation = 0
        var gate = DeliveryGate()
        var latest: Task<FlushReport, Never>?
        var problem: WaybillError?
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

    private final class Running: Sendable {
        let flusher: ObjectIdentifier
        let outer: Running?
        private let hasEnded = Atomic(false)

        init(of flusher: Flusher, inside outer: Running?) {
            (self.flusher, self.outer) = (ObjectIdentifier(flusher), outer)
        }

        func end() { hasEnded.store(true, ordering: .releasing) }

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
                // The first delivery of a launch may be set late. It keeps the pause in the store, which belongs to it.
                state.gate = DeliveryGate(isForNewDelivery: state.delivery != nil || state.gate.isForNewDelivery)
                state.delivery = newValue
                state.generation += 1
            }
        }
    }

    /// Ends uploads with erased facts. After an erasure of everything, it also ends uploads without facts.
    func endUploads(in store: Store?, isEverything: Bool, at uptime: Int64) {
        for uploads in state.withLock({ $0.uploads }) {
            if isEverything {
                // Release the lease, or no set could be delivered for days.
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

    var problem: WaybillError? { state.withLock { $0.problem } }

    /// Returns why pending facts may never be delivered although nothing failed.
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

    /// The minimum, since each turn reads the store.
    private static let shortestInterval = Duration.milliseconds(100)

    /// The longest wait for a new fact, in case facts become pending in another way.
    private static let longestRest = Duration.seconds(3_600)

    /// If no facts are left, it waits for the next fact, to not wake an idle app.
    func takeTurns(_ sources: SourceRegistry, every interval: Duration) async {
        while !Task.isCancelled {
            // Before the flush, because facts that are recorded meanwhile count, too.
            let bell = sources.changes.bell()
            if await flushIfDue(sources) { await Self.wait(for: bell) }
            try? await Task.sleep(for: max(interval, Self.shortestInterval).bounded)
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

    func startTurns(of sources: SourceRegistry, every interval: Duration) {
        guard sources.settings != nil else { return }
        state.withLock { state in
            state.turns?.cancel()
            state.turns = Task { await takeTurns(sources, every: interval) }
        }
    }

    func stopTurns(of sources: SourceRegistry) {
        guard let turns = state.withLock({ $0.turns.take() }) else { return }
        turns.cancel()
        _ = start(sources, isAsked: true)
    }

    /// Returns whether it may wait for the next write here: no facts are left, and no other process writes.
    @discardableResult
    func flushIfDue(_ sources: SourceRegistry) async -> Bool {
        guard let source = sources.readableSource else { return false }
        let uptime = source.settings.options.clock.uptimeMicroseconds()
        guard state.withLock({ $0.gate.blockingError(at: uptime, isAsked: false) == nil }),
            let report = await start(sources, isAsked: false)?.value
        else { return false }
        return report.error == nil && report.pending == 0 && report.held == 0 && source.writer.ringsForEachWrite
    }

    // MARK: One flush

    /// Starts a flush after those that run. If `isAsked`, it skips a pause after failures.
    func start(_ sources: SourceRegistry, isAsked: Bool) -> Task<FlushReport, Never>? {
        guard let source = sources.readableSource else { return nil }
        if Self.running?.isAwaited(by: self) == true { return Task { FlushReport(error: Self.nested) } }
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
                    // A pause is not a new problem; keep the error that caused it.
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
