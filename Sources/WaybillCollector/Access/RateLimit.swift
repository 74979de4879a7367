#if Collector
import WaybillCore

/// How many requests each token may send: a steady rate, and two seconds' worth at once.
///
/// The generic cell rate algorithm (ITU-T I.371): all it keeps of a token is the time at which the requests so far
/// would have come at the steady rate.
final class RateLimit: Sendable {
    private let interval: Int64
    private let tolerance: Int64 = 2_000_000
    private let due = Locked<[String: Int64]>([:])

    init(perSecond: Int) {
        interval = 1_000_000 / Int64(max(1, perSecond))
    }

    /// Counts a request of a token; nil: it may go on; else after how many whole seconds it may come again, and it does
    /// not count.
    ///
    /// - Parameter now: Microseconds of a clock that never goes back.
    func secondsToWait(_ token: String, now: Int64) -> Int? {
        due.withLock { due in
            let next = max(due[token] ?? now, now)
            let early = next - now - tolerance + interval
            if early > 0 { return Int((early + 999_999) / 1_000_000) }
            due[token] = next + interval
            return nil
        }
    }
}
#endif
