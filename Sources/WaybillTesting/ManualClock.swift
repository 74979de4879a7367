import Dispatch
public import Waybill
import WaybillCore

/// A clock that moves only when a test advances it, or when a network rule waits.
///
/// Mocks, failures and throttles wait on this clock, so a test takes no real time. The clock moves to the next of their
/// deadlines at once. To observe or cancel a waiting request, create the clock with `movesByItself: false`:
///
/// ```swift
/// let clock = ManualClock(movesByItself: false)
/// let tx = TransactionManager.testing(clock: clock)
/// // ... a request is on its way, and a mock's delay is 3 s ...
/// clock.advance(by: .seconds(3))   // now it is answered
/// ```
public final class ManualClock: TransactionClock {
    private struct Time {
        var uptime: Int64 = 0
        var wall: Int64
        var waiting: [Waiting] = []

        mutating func pass(_ microseconds: Int64) {
            uptime += max(0, microseconds)
            wall += max(0, microseconds)
        }
    }

    private struct Waiting {
        var due: Int64
        var body: @Sendable () -> Void
    }

    /// Whether the clock moves to the moment that a rule waits for. Otherwise, rules wait for ``advance(by:)``.
    public let movesByItself: Bool
    private let time: Locked<Time>
    private let queue = DispatchQueue(label: "waybill.manual-clock")

    /// Creates a clock.
    ///
    /// - Parameters:
    ///   - wallMicroseconds: The initial wall time in microseconds since 1970. Default: 2026-01-01T00:00:00Z.
    ///   - movesByItself: Whether the clock moves to the moment that a rule waits for.
    public init(wallMicroseconds: Int64 = 1_767_225_600_000_000, movesByItself: Bool = true) {
        self.movesByItself = movesByItself
        time = Locked(Time(wall: wallMicroseconds))
    }

    public func uptimeMicroseconds() -> Int64 { time.withLock { $0.uptime } }

    public func wallMicroseconds() -> Int64 { time.withLock { $0.wall } }

    /// Advances both clocks. Rules that are due by then act on the clock's own thread.
    public func advance(by duration: Duration) {
        time.withLock { $0.pass(duration.microseconds) }
        queue.async { [self] in runWhatIsDue() }
    }

    /// Moves the wall clock forward or back, as a user or a time server does. The other clock keeps its time.
    public func adjustWallClock(by duration: Duration) {
        time.withLock { $0.wall += duration.microseconds }
    }
}

extension ManualClock: RuleSchedule {
    package func after(_ delay: Duration, _ body: @escaping @Sendable () -> Void) {
        time.withLock { time in
            let due = time.uptime + max(0, delay.microseconds)
            time.waiting.insert(
                Waiting(due: due, body: body), at: time.waiting.firstIndex { $0.due > due } ?? time.waiting.endIndex)
        }
        queue.async { [self] in runWhatIsDue() }
    }

    private func runWhatIsDue() {
        while let next = takeNext() { next.body() }
    }

    private func takeNext() -> Waiting? {
        time.withLock { time in
            guard let first = time.waiting.first, movesByItself || first.due <= time.uptime else { return nil }
            time.pass(first.due - time.uptime)
            return time.waiting.removeFirst()
        }
    }
}
