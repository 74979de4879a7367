public import Waybill
import WaybillCore

/// A clock that stands still until a test moves it.
///
/// It reads microseconds, as every ``WaybillCore/TransactionClock`` does; a test moves it by a `Duration`.
public final class ManualClock: TransactionClock {
    private struct Time {
        var uptime = 0
        var wall: Int
    }

    private let time: Locked<Time>

    /// Makes a clock.
    ///
    /// - Parameter wallMicroseconds: Microseconds since 1970 that it starts at. Default: 2026-01-01T00:00:00Z.
    public init(wallMicroseconds: Int = 1_767_225_600_000_000) { time = Locked(Time(wall: wallMicroseconds)) }

    public func uptimeMicroseconds() -> Int { time.withLock { $0.uptime } }

    public func wallMicroseconds() -> Int { time.withLock { $0.wall } }

    /// Lets time pass on both clocks.
    public func advance(by duration: Duration) {
        let microseconds = duration.microseconds
        time.withLock { time in
            time.uptime += max(0, microseconds)
            time.wall += max(0, microseconds)
        }
    }

    /// Sets the wall clock forward or back, as a person or a time server does; the other clock does not notice.
    public func jumpWall(by duration: Duration) {
        time.withLock { $0.wall += duration.microseconds }
    }
}
