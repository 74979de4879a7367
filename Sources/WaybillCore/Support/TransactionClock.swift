package import Foundation

/// The two clocks that recording reads: one that only goes forward, for order and durations, and the wall, for dates.
///
/// In microseconds, because every fact reads one of them: a `Duration` made and taken apart again would cost more than
/// recording an event.
///
/// Both are read on the threads that record, some of them with a lock held: an implementation must not use the manager.
///
/// `SystemClock` in an app; `ManualClock` of `WaybillTesting` in tests.
public protocol TransactionClock: Sendable {
    /// Microseconds of a clock that never goes back and goes on while the device sleeps.
    func uptimeMicroseconds() -> Int64
    /// Microseconds since 1970-01-01T00:00:00Z; may jump either way.
    func wallMicroseconds() -> Int64
}

extension TransactionClock {
    /// The wall clock's time, for what calculates with dates.
    package var date: Date { Date(microseconds: wallMicroseconds()) }
}

/// The operating system's clocks: `CLOCK_BOOTTIME` (Linux) or the continuous clock (Apple), and `CLOCK_REALTIME`.
package struct SystemClock: TransactionClock {
    /// Makes a clock; all are alike.
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
        // Older watches have a `long` of 32 bits: it holds the seconds, and not a second and a half in nanoseconds more.
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }
}
