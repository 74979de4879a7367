import WaybillCore
import WaybillStore

struct Flush: ~Copyable {
    private static let leaseMicroseconds: Int64 = 120_000_000
    /// The number of background uploads at once. The system may wake an app only once in hours.
    private static let uploadLimit = 4

    private(set) var gate: DeliveryGate
    private(set) var wasHeld = false
    /// Whether the collector has other facts with the sequences of this source.
    private(set) var wasCloned = false

    private let source: SourceRecorder
    private let transport: (any FlushTransport)?
    private let uploads: BackgroundUploads?
    private let isAsked: Bool
    private let events: DeliveryEvents
    private var report = FlushReport()
    private var underWay: Set<GUID> = []
    private var hasPaused = false

    private var clock: any TransactionClock { source.settings.options.clock }

    init(
        of source: SourceRecorder, over transport: (any FlushTransport)?, gate: DeliveryGate, isAsked: Bool,
        events: DeliveryEvents
    ) {
        self.source = source
        self.transport = transport
        uploads = (transport as? URLSessionTransport)?.uploads
        self.gate = gate
        self.isAsked = isAsked
        self.events = events
    }

    /// Facts that are recorded meanwhile wait for the next flush, or a busy app's flush would never end.
    mutating func run() async -> FlushReport {
        do {
            var remaining = try await source.writer.run { _, store in try store.pendingCount() }
            if let transport, try await mayBegin() {
                remaining -= Int64(try await deliver(unfinishedUploads(), over: transport))
                // The number of sets without facts that may follow, limited because a busy app has more after each set.
                var newsSets: Int64?
                repeat {
                    guard await source.settings.options.canFlush() else {
                        events.tell(.heldBack)
                        break
                    }
                    let leases = try await leases()
                    if leases.isEmpty { break }
                    remaining -= Int64(try await deliver(leases, over: transport))
                    if remaining <= 0 {
                        let left = try await source.writer.run { _, store in try store.newsSetCount() }
                        newsSets = min(left, newsSets.map { $0 - 1 } ?? left)
                    }
                } while (remaining > 0 || newsSets ?? 0 > 0) && !Task.isCancelled
                    && gate.blockingError(at: clock.uptimeMicroseconds(), isAsked: isAsked) == nil
                if report.delivered + report.rejected > 0 {
                    try await source.writer.run { opened, _ in _ = opened.retain(wasSettled: true) }
                }
                if !underWay.isEmpty {
                    let uploads =
                        underWay.count == 1
                        ? "A background upload is" : "\(underWay.count) background uploads are"
                    throw WaybillError(.transport, "\(uploads) under way; unsettled facts stay pending.")
                }
            }
        } catch {
            report.error = Delivery.Failure(wrapping: error).error
        }
        await report.count(from: source)
        return report
    }

    private mutating func mayBegin() async throws -> Bool {
        if gate.refusal == nil {
            let pause = try await source.writer.run { [clock, gate] _, store in
                if gate.isForNewDelivery { try store.setDeliveryPause(nil, by: clock) }
                return try store.deliveryPause(by: clock)
            }
            gate.learn(pause, at: clock.uptimeMicroseconds())
        }
        report.error = gate.blockingError(at: clock.uptimeMicroseconds(), isAsked: isAsked)
        wasHeld = report.error != nil
        return !wasHeld
    }

    // MARK: Sets

    private struct Lease {
        var set: OutgoingSet
        /// Whether the set can't be halved: it has one source and at most one fact.
        var isSmallest = false
        var onlyFact: FactID?
    }

    private var leaseMicroseconds: Int64 {
        uploads == nil ? Self.leaseMicroseconds : BackgroundUploads.leaseMicroseconds
    }

    private func unfinishedUploads() async throws -> [Lease] {
        var leases: [Lease] = []
        for set in uploads?.unfinished() ?? [] {
            if try await isLeased(set.id) { leases.append(Lease(set: set)) } else { uploads?.forget(set.id) }
        }
        return leases
    }

    private func leases() async throws -> [Lease] {
        var leases: [Lease] = []
        let limit = uploads == nil ? 1 : Self.uploadLimit - underWay.count
        while leases.count < limit, let lease = try await lease(besides: underWay.union(leases.map(\.set.id))) {
            leases.append(lease)
        }
        return leases
    }

    private func isLeased(_ set: GUID) async throws -> Bool {
        let now = clock.uptimeMicroseconds()
        return try await source.writer.run { [leaseMicroseconds] _, store in
            try store.isLeased(set, now: now, expiresIn: leaseMicroseconds)
        }
    }

    private var limit: LeaseLimit {
        let usual = LeaseLimit()
        guard uploads != nil, gate.limit.factCount == usual.factCount else { return gate.limit }
        return LeaseLimit(factCount: 4 * usual.factCount, byteCount: 4 * usual.byteCount)
    }

    private func lease(besides others: Set<GUID>) async throws -> Lease? {
        let (owner, limit, expiresIn) = (uploads?.owner ?? source.id, limit, leaseMicroseconds)
        let (now, wall) = (clock.uptimeMicroseconds(), clock.wallMicroseconds())
        return try await source.writer.run { opened, store in
            let set = try store.lease(
                owner: owner, besides: others, now: now, at: wall, expiresIn: expiresIn, limit: limit,
                isAlive: { opened.isAlive($0) })
            guard let set else { return nil }
            let outgoing = OutgoingSet(id: set.id, body: set.encoded(), factCount: set.factCount)
            let facts = set.factCount == 1 ? set.sources.first { !$0.facts.isEmpty } : nil
            return Lease(
                set: outgoing, isSmallest: set.factCount <= 1 && set.sources.count == 1,
                onlyFact: facts.map { FactID(source: $0.source.id, sequence: $0.facts[0].sequence) })
        }
    }

    /// Sends sets at once, and then books their receipts in order. Throws the first failure.
    private mutating func deliver(_ leases: [Lease], over transport: any FlushTransport) async throws -> Int {
        typealias Answer = Result<Receipt, any Error>
        let answers = await withTaskGroup(of: (Int, Answer).self) { group in
            for (index, lease) in leases.enumerated() {
                group.addTask {
                    do {
                        return (index, .success(try await transport.send(lease.set).checked(for: lease.set)))
                    } catch { return (index, .failure(error)) }
                }
            }
            return await group.reduce(into: [Int: Answer]()) { $0[$1.0] = $1.1 }
        }
        var (settled, failure): (Int, (any Error)?) = (0, nil)
        for (index, lease) in leases.enumerated() {
            guard let answer = answers[index] else { continue }
            do { settled += try await book(answer, of: lease) } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
        return settled
    }

    private mutating func book(_ answer: Result<Receipt, any Error>, of lease: Lease) async throws -> Int {
        let receipt: Receipt
        do {
            receipt = try answer.get()
        } catch is SetUnderWay {
            // The lease stays for the answer. If there is no lease, the facts were erased meanwhile.
            if try await isLeased(lease.set.id) {
                underWay.insert(lease.set.id)
            } else {
                uploads?.forget(lease.set.id)
            }
            return 0
        } catch {
            uploads?.forget(lease.set.id)
            return try await giveUp(lease, because: error)
        }
        gate.noteAcceptance()
        source.sampling.take(receipt.samplingRates)
        let quiet = receipt.retryAfter.map { min($0, RetryAfter.longest) } ?? .zero
        try await settle(lease, receipt.rejections, quiet: quiet)
        uploads?.forget(lease.set.id)
        if quiet > .zero { events.tell(.paused(quiet)) }
        return lease.set.factCount
    }

    private mutating func settle(_ lease: Lease, _ rejections: [Receipt.Rejection], quiet: Duration = .zero)
        async throws
    {
        let pause = DeliveryPause(failureCount: 0, remainingMicroseconds: quiet.microseconds, wasAskedFor: true)
        let (wasClosed, keepsPause) = (gate.isClosed, quiet > .zero)
        let isBooked = try await source.writer.run { [clock] _, store in
            guard try store.settle(lease.set.id, rejections: rejections, at: clock.wallMicroseconds()) else {
                return false
            }
            if keepsPause || !wasClosed { try store.setDeliveryPause(keepsPause ? pause : nil, by: clock) }
            return true
        }
        guard isBooked else {
            throw WaybillError(
                .transport, "The set's lease ended before its verdicts came; its facts will be sent again.")
        }
        gate.learn(keepsPause ? pause : nil, at: clock.uptimeMicroseconds())
        if rejections.contains(where: { $0.source == source.id && $0.reason == Receipt.Rejection.sequenceIsTaken }) {
            wasCloned = true
        }
        let delivered = lease.set.factCount - rejections.count
        report.delivered += delivered
        report.rejected += rejections.count
        source.writer.changes.ring()
        events.tell(.settled(set: lease.set.id, delivered: delivered, quarantined: rejections.count))
    }

    private mutating func giveUp(_ lease: Lease, because error: any Error) async throws -> Int {
        let failure = Delivery.Failure(wrapping: error)
        if failure.remedy == .sendLess, lease.isSmallest, gate.mayRefuse {
            let rejections = lease.onlyFact.map {
                Receipt.Rejection(source: $0.source, sequence: $0.sequence, index: 0, reason: failure.error.description)
            }
            // A set without facts is settled as well, since a smaller one does not exist.
            try await settle(lease, rejections.map { [$0] } ?? [])
            gate.noteRefusal()
            return lease.set.factCount
        }
        try await source.writer.run { _, store in try store.release(lease.set.id) }
        if error is CancellationError { throw error }
        switch failure.remedy {
        case .sendLess where !lease.isSmallest:
            gate.lessen(from: lease.set.factCount)
            events.tell(.limited(factCount: gate.limit.factCount))
            return 0
        case .retry(let time): try await pause(after: failure.error, for: time)
        case .sendLess: try await pause(after: failure.error, for: nil)
        case .waitForNewDelivery:
            gate.refusal = failure.error
            events.tell(.stopped(failure.error))
        }
        throw failure
    }

    private mutating func pause(after error: WaybillError, for time: Duration?) async throws {
        // Several uploads at once may fail for the same reason.
        if hasPaused { return }
        hasPaused = true
        var generator = SystemRandomNumberGenerator()
        let pause = gate.pause(afterFailure: time, using: &generator)
        gate.learn(pause, at: clock.uptimeMicroseconds())
        events.tell(.failed(error, retryAfter: .microseconds(pause.remainingMicroseconds)))
        try await source.writer.run { [clock] _, store in try store.setDeliveryPause(pause, by: clock) }
    }
}

extension FlushReport {
    mutating func count(from source: SourceRecorder) async {
        let left = try? await source.writer.run { _, store in (try store.pendingCount(), try store.heldCount()) }
        let (all, held) = left ?? (0, 0)
        self.held = Int(clamping: held)
        pending = Int(clamping: max(0, all - held))
    }
}

extension Receipt {
    /// Checks that the receipt is for this set, since the transport may be the app's.
    fileprivate func checked(for set: OutgoingSet) throws(Delivery.Failure) -> Receipt {
        guard self.set == set.id, factCount == set.factCount else {
            throw Delivery.Failure(
                WaybillError(
                    .transport,
                    "The transport gave a receipt of another set, or of other counts; the facts stay pending."))
        }
        return self
    }
}

struct FlushEnd: Sendable {
    private let signal = AsyncStream.makeStream(of: Void.self)

    func end() { signal.continuation.finish() }

    func reached() async { for await _ in signal.stream {} }
}
