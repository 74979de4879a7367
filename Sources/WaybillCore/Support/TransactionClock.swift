package import Foundation

/// The two clocks of recording: a monotonic clock for order and durations, and the wall clock for dates.
///
/// Times are integers, because converting a `Duration` would cost more than recording an event. Recording threads read
/// both clocks, sometimes while they hold a lock, so an implementation must not use the manager.
public protocol TransactionClock: Sendable {
    /// Returns the microseconds of a monotonic clock that continues during sleep.
    func uptimeMicroseconds() -> Int64
    /// Returns the microseconds since 1970-01-01T00:00:00Z, which can jump in both directions.
    func wallMicroseconds() -> Int64
}

extension TransactionClock {
    package var date: Date { Date(microseconds: wallMicroseconds()) }
}

/// The operating system's clocks: `CLOCK_BOOTTIME` (Linux) or the continuous clock (Apple), and `CLOCK_REALTIME`.
package struct SystemClock: TransactionClock {
    package init() {}

    package func uptimeMicroseconds() -> Int64 {
        #if canImport(Darwin)
        Self.read(CLOCK_MONOTONIC_RAW)  // mach_continuous_time in microseconds
        #else
        Self.read(CLOCK_BOOTTIME)
        #endif
    }

    package func wallMicroseconds() -> Int64 { Self.read(CLOCK_REALTIME) }

    @inline(__always)
    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        // A 32-bit `long`, as on older watches, holds the seconds, but not 1.5 seconds more in nanoseconds.
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }
}
