package import WaybillCore

/// A bounded buffer in memory. When it fills up, it refuses openings first and events next.
///
/// It reserves room for the closing of each accepted opening.
package final class BufferedRecorder: Sendable {
    /// The maximum number of waiting openings and events, excluding closings.
    package static let defaultCapacity = 16_384

    private struct State {
        var waiting: [Fact] = []
        var batch: [Fact] = []
        var lastSequence: Int64 = 0
        var openCount = 0
        var refusedCount: Int64 = 0
        var isHandedOver = false

        /// At most a quarter of the capacity is reserved for closings; further closings are still accepted.
        func used(of capacity: Int) -> Int { waiting.count + batch.count + min(openCount, capacity / 4) }
    }

    private let state = Locked(State())
    private let clock: any TransactionClock
    private let startMicroseconds: Int64
    private let capacity: Int
    private let openLimit: Int
    private let batchTrigger: Int
    private let wake: @Sendable (_ batchIsFull: Bool) -> Void

    /// Creates a recorder that calls `wake`, outside the lock, for the first waiting fact and again for a full batch.
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

    func recordUnlessHandedOver(_ content: Fact.Content, part: Int64, at past: Int64? = nil) -> Recorded? {
        let taken = state.withLock { state -> (Recorded, Int)? in
            if state.isHandedOver { return nil }
            let used = state.used(of: capacity)
            let hasRoom =
                switch content {
                case .opened, .exchangeOpened: state.openCount < openLimit && used + 2 <= capacity - capacity / 8
                case .event, .attributesSet, .unknown: used + 1 <= capacity
                case .closed, .exchangeClosed: true
                }
            guard hasRoom else {
                state.refusedCount += 1
                return (.refused, 0)
            }
            state.openCount += content.openCountChange
            state.lastSequence += 1
            let sequence = state.lastSequence
            let isOpening = if case .opened = content { true } else { false }
            state.waiting.append(
                Fact(
                    sequence: sequence, part: isOpening ? sequence : part,
                    // The clock is read under the lock to keep times in the order of sequences.
                    atMicroseconds: past ?? max(0, clock.uptimeMicroseconds().subtracting(startMicroseconds)),
                    content: content))
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

    /// Moves all waiting facts to a journal, if `takeOver` accepts them.
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

    var hasRecorded: Bool { state.withLock { $0.lastSequence > 0 } }

    package var refusedCount: Int64 { state.withLock { $0.refusedCount } }
}

/// The rule for clock anchors: one at the start, one when the clocks diverge, and one a day.
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

    func due() -> [ClockAnchor] {
        let uptime = clock.uptimeMicroseconds().subtracting(startMicroseconds)
        let offset = clock.wallMicroseconds().subtracting(uptime)
        guard let latest = latest.withLock({ $0 }) else {
            // The first anchor holds from the start, whenever it is written.
            return [ClockAnchor(atMicroseconds: 0, offsetMicroseconds: offset)]
        }
        let hasParted = abs(offset.subtracting(latest.offsetMicroseconds)) > Self.toleranceMicroseconds
        let isOld = uptime.subtracting(latest.atMicroseconds) > Self.dayMicroseconds
        return hasParted || isOld ? [ClockAnchor(atMicroseconds: uptime, offsetMicroseconds: offset)] : []
    }

    func current() -> ClockAnchor {
        due().first ?? latest.withLock { $0 }
            ?? ClockAnchor(atMicroseconds: 0, offsetMicroseconds: clock.wallMicroseconds())
    }

    func forget() { latest.withLock { $0 = nil } }

    func confirm(_ anchors: [ClockAnchor]) {
        guard let last = anchors.last else { return }
        latest.withLock { $0 = last }
    }
}
