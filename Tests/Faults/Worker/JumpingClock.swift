#if Collector
import WaybillCore

/// The system's clocks, with a wall clock that can be set.
final class JumpingClock: TransactionClock {
    private let system = SystemClock()
    private let offset = Locked<Int64>(0)

    func uptimeMicroseconds() -> Int64 { system.uptimeMicroseconds() }
    func wallMicroseconds() -> Int64 { system.wallMicroseconds() + offset.withLock { $0 } }

    func jump(by seconds: Int) { offset.withLock { $0 += Int64(seconds) * 1_000_000 } }
}
#endif
