#if Collector
import WaybillCore

/// The system's clocks, of which the wall's can be set.
final class JumpingClock: TransactionClock {
    private let system = SystemClock()
    private let offset = Locked(0)

    func uptimeMicroseconds() -> Int { system.uptimeMicroseconds() }
    func wallMicroseconds() -> Int { system.wallMicroseconds() + offset.withLock { $0 } }

    func jump(by seconds: Int) { offset.withLock { $0 += seconds * 1_000_000 } }
}
#endif
