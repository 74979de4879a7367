import Foundation
import WaybillCore
import WaybillStore

#if canImport(CDispatch)
import CDispatch  // where `timespec` is defined, once Dispatch is among the imports of any file
#endif

extension Row {
    /// A new transaction ID.
    static let guid = Row("guid", unit: "ns/ID", against: "clock_gettime") {
        let count = 200_000
        return try Comparison.nanoseconds(operations: count) {
            var sum: UInt64 = 0
            for _ in 0..<count { sum &+= GUID().low }
            return Int(truncatingIfNeeded: sum)
        } against: {
            var sum = 0
            var time = timespec()
            for _ in 0..<count {
                clock_gettime(CLOCK_REALTIME, &time)
                sum &+= time.tv_nsec
            }
            return sum
        }
    }
}
