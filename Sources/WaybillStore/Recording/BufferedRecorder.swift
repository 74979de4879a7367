package import WaybillCore

/// A bounded buffer in memory.
///
/// When it fills up, openings are refused first, then events; what was opened can always be closed, because its opening
/// kept a place.
package final class BufferedRecorder: Sendable {
    /// Openings and events that wait at most, besides closings.
    package static let defaultCapacity = 16_384

    private struct State {
        var waiting: [Fact] = []
        var batch: [Fact] = []
        var lastSequence: Int64 = 0
        /// Closings that are still to come, for which room is kept.
        var openCount = 0
        var refusedCount: Int64 = 0
        /// Whether a journal has taken over.
        var isHandedOver = false

        /// - Parameter capacity: A quarter of it at most is kept for closings; the others are taken all the same.
        func used(of capacity: Int) -> Int { waiting.count + batch.count + min(openCount, capacity / 4) }
    }

    private let state = Locked(State())
    private let clock: any TransactionClock
    private let startMicroseconds: Int64
    private let capacity: Int
    private let openLimit: Int
    private let batchTrigger: Int
    private let wake: @Sendable (_ batchIsFull: Bool) -> Void

    /// Makes a recorder.
    ///
    /// - Parameters:
    ///   - startMicroseconds: The clock's uptime when the source started.
    ///   - capacity: Openings and events that wait at most.
    ///   - openLimit: How many may be open at once.
    ///   - batchTrigger: How many waiting facts make a batch that should not wait any longer.
    ///   - wake: Called outside the lock when there is a first fact to store, and once more when a batch is full.
    package init(
        clock: any TransactionClock, startMicroseconds: Int64, capacity: Int = defaultCapacity,
        openLimit: Int = OpenLimit.standard, batchTrigger: Int = 2_000,
        wake: @escaping @Sendable (_ batchIsFull: Bool) -> Void
    ) {
        self.clock = clock
        self.startMicroseconds = startMicroseconds
        self.capacity = capacity
        self.openLimit = openLimit
        self.batchTrigger = min(batchTrigger, capacity / 2)
        self.wake = wake
    }

    /// nil once a journal has taken over.
    ///
    /// - Parameter past: When it happened, in microseconds since its source started; `nil`: now.
    func recordUnlessHandedOver(_ content: Fact.Content, part: Int64, at past: Int64? = nil) -> Recorded? {
        let taken = state.withLock { state -> (Recorded, Int)? in
            if state.isHandedOver { return nil }
            switch content {
            case .opened, .exchangeOpened:
                guard state.openCount < openLimit, state.used(of: capacity) + 2 <= capacity - capacity / 8
                else {
                    state.refusedCount += 1
                    return (.refused, 0)
                }
                state.openCount += 1
            case .event, .attributesSet:
                guard state.used(of: capacity) + 1 <= capacity else {
                    state.refusedCount += 1
                    return (.refused, 0)
                }
            case .closed, .exchangeClosed:
                state.openCount -= 1
            }
            state.lastSequence += 1
            let sequence = state.lastSequence
            let isOpening = if case .opened = content { true } else { false }
            state.waiting.append(
                Fact(
                    sequence: sequence, part: isOpening ? sequence : part,
                    // Read under the lock, so that time never runs against the sequence.
                    atMicroseconds: past ?? max(0, clock.uptimeMicroseconds() - startMicroseconds), content: content))
            return (Recorded(sequence: sequence, result: .inMemory), state.waiting.count)
        }
        guard let (recorded, waitingCount) = taken else { return nil }
        if waitingCount == 1 { wake(false) }
        if waitingCount == batchTrigger { wake(true) }
        return recorded
    }

    package func takeBatch(limit: Int) -> [Fact] {
        state.withLock { state in
            if state.batch.isEmpty {
                if state.waiting.count <= limit {
                    swap(&state.batch, &state.waiting)
                } else {
                    state.batch = Array(state.waiting.prefix(limit))
                    state.waiting.removeFirst(limit)
                }
            }
            return state.batch
        }
    }

    package func confirmBatch() { state.withLock { $0.batch = [] } }

    package func returnBatch() {
        state.withLock { state in
            state.waiting = state.batch + state.waiting
            state.batch = []
        }
    }

    package func forgoClosing() { state.withLock { $0.openCount -= 1 } }

    /// Gives everything that waits to a journal, which takes over from then on; callers wait meanwhile.
    ///
    /// - Parameter takeOver: Gets the facts, the last sequence, what is open, and what was refused; whether it takes
    ///   over.
    func handOver(
        to takeOver: (_ facts: [Fact], _ lastSequence: Int64, _ openCount: Int, _ refusedCount: Int64) -> Bool
    ) {
        state.withLock { state in
            guard !state.isHandedOver,
                takeOver(state.batch + state.waiting, state.lastSequence, state.openCount, state.refusedCount)
            else { return }
            (state.batch, state.waiting) = ([], [])
            state.isHandedOver = true
        }
    }

    /// Whether anything was recorded, in memory or in the journal that took over.
    var hasRecorded: Bool { state.withLock { $0.lastSequence > 0 } }

    package var refusedCount: Int64 { state.withLock { $0.refusedCount } }
}

/// Knows when a source's clock must be tied to the wall again: at the start, when the two have parted, and once a day.
final class AnchorKeeper: Sendable {
    private static let toleranceMicroseconds: Int64 = 100_000
    private static let dayMicroseconds: Int64 = 86_400_000_000

    private let clock: any TransactionClock
    private let startMicroseconds: Int64
    private let latest = Locked<ClockAnchor?>(nil)

    init(clock: any TransactionClock, startMicroseconds: Int64) {
        self.clock = clock
        self.startMicroseconds = startMicroseconds
    }

    /// The anchor to record now; empty when the latest one still holds.
    func due() -> [ClockAnchor] {
        let uptime = clock.uptimeMicroseconds() - startMicroseconds
        let offset = clock.wallMicroseconds() - uptime
        guard let latest = latest.withLock({ $0 }) else {
            // The first holds from the very start, whenever it is written.
            return [ClockAnchor(atMicroseconds: 0, offsetMicroseconds: offset)]
        }
        let hasParted = abs(offset - latest.offsetMicroseconds) > Self.toleranceMicroseconds
        let isOld = uptime - latest.atMicroseconds > Self.dayMicroseconds
        return hasParted || isOld ? [ClockAnchor(atMicroseconds: uptime, offsetMicroseconds: offset)] : []
    }

    /// The anchor that holds now, recorded or due.
    func current() -> ClockAnchor {
        due().first ?? latest.withLock { $0 }
            ?? ClockAnchor(atMicroseconds: 0, offsetMicroseconds: clock.wallMicroseconds())
    }

    /// The store has no anchor any more.
    func forget() { latest.withLock { $0 = nil } }

    /// Anchors that are in the store now.
    func confirm(_ anchors: [ClockAnchor]) {
        guard let last = anchors.last else { return }
        latest.withLock { $0 = last }
    }
}
