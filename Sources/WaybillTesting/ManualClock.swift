import Dispatch
public import Waybill
import WaybillCore

/// A clock that stands still until a test moves it, or a rule waits by it.
///
/// It reads microseconds, as every ``WaybillCore/TransactionClock`` does; a test moves it by a `Duration`. What mocks,
/// failures and throttles of a manager with this clock wait, they wait by it: no real time passes. The clock moves on by
/// itself to the moment that the next of them waits for, so that a request that is answered after three seconds took
/// three seconds, at once. A test that looks at what is shown meanwhile, or cancels it, has a clock that does not:
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
        /// In the order in which they are due.
        var waiting: [Waiting] = []

        mutating func pass(_ microseconds: Int64) {
            uptime += max(0, microseconds)
            wall += max(0, microseconds)
        }
    }

    private struct Waiting {
        /// By the uptime.
        var due: Int64
        var body: @Sendable () -> Void
    }

    /// Whether it moves to the moment that a rule waits for; else rules wait until ``advance(by:)`` gets there.
    public let movesByItself: Bool
    private let time: Locked<Time>
    private let queue = DispatchQueue(label: "waybill.manual-clock")

    /// Makes a clock.
    ///
    /// - Parameters:
    ///   - wallMicroseconds: Microseconds since 1970 that it starts at. Default: 2026-01-01T00:00:00Z.
    ///   - movesByItself: Whether it moves to the moment that a rule waits for.
    public init(wallMicroseconds: Int64 = 1_767_225_600_000_000, movesByItself: Bool = true) {
        self.movesByItself = movesByItself
        time = Locked(Time(wall: wallMicroseconds))
    }

    public func uptimeMicroseconds() -> Int64 { time.withLock { $0.uptime } }

    public func wallMicroseconds() -> Int64 { time.withLock { $0.wall } }

    /// Lets time pass on both clocks; what rules were to do until then they do, on a thread of the clock's.
    public func advance(by duration: Duration) {
        time.withLock { $0.pass(duration.microseconds) }
        queue.async { [self] in runWhatIsDue() }
    }

    /// Sets the wall clock forward or back, as a person or a time server does; the other clock does not notice.
    public func jumpWall(by duration: Duration) {
        time.withLock { $0.wall += duration.microseconds }
    }
}

extension ManualClock: RuleSchedule {
    package func after(_ delay: Duration, _ body: @escaping @Sendable () -> Void) {
        time.withLock { time in
            let due = time.uptime + max(0, delay.microseconds)
            // What is due at the same moment goes in order.
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
