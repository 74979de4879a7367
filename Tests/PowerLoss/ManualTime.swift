package import Dispatch
import TestSupport
import WaybillCore
import WaybillStore

/// Time that passes only when a test advances it: both clocks, and the timers of the stores' threads.
package final class ManualTime: TransactionClock, StoreTimer {
    private struct State {
        var now: Int64 = 1_000_000_000
        var count = 0
        var waiting: [Alarm] = []
    }

    private struct Alarm {
        var due: Int64
        /// Alarms of one moment go off in the order of their numbers.
        var number: Int
        var queue: DispatchQueue
        var work: @Sendable () -> Void
    }

    private let state = Locked(State())
    private static let wall: Int64 = 1_767_225_600_000_000

    package init() {}

    package func uptimeMicroseconds() -> Int64 { state.withLock { $0.now } }

    package func wallMicroseconds() -> Int64 { Self.wall + uptimeMicroseconds() }

    package func run(after delay: Duration, on queue: DispatchQueue, _ work: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.count += 1
            state.waiting.append(
                Alarm(due: state.now + delay.microseconds, number: state.count, queue: queue, work: work))
        }
    }

    /// Returns how many timers would go off within a duration.
    package func timerCount(within duration: Duration) -> Int {
        state.withLock { state in state.waiting.count { $0.due <= state.now + duration.microseconds } }
    }

    /// Advances the time, and runs each timer that is due meanwhile, at its time.
    ///
    /// - Parameter bound: How long that may take in real time.
    /// - Throws: `DidNotHappen` after the bound, e.g. if a timer sets itself again without a delay.
    package func advance(by duration: Duration, within bound: Duration = .seconds(60)) throws {
        let end = uptimeMicroseconds() + duration.microseconds
        try eventually("all timers of \(duration) have gone off", within: bound) {
            guard let alarm = next(before: end) else { return true }
            alarm.queue.sync(execute: alarm.work)
            return false
        }
        state.withLock { $0.now = end }
    }

    private func next(before end: Int64) -> Alarm? {
        state.withLock { state in
            guard let first = state.waiting.min(by: { ($0.due, $0.number) < ($1.due, $1.number) }), first.due <= end
            else { return nil }
            state.waiting.removeAll { $0.number == first.number }
            state.now = max(state.now, first.due)
            return first
        }
    }
}
