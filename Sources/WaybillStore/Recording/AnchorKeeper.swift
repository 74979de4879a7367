import WaybillCore

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
