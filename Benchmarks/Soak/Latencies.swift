import Foundation

#if canImport(CDispatch)
import CDispatch  // where `timespec` is defined, once Dispatch is among the imports of any file
#endif

/// The durations of calls, in nanoseconds. Space for all of them is reserved at the start, so measuring does not grow.
struct Latencies {
    private var values: [UInt32] = []

    init(capacity: Int) { values.reserveCapacity(capacity) }

    mutating func measure<Result>(_ body: () -> Result) -> Result {
        let start = Self.now()
        let result = body()
        if values.count < values.capacity { values.append(UInt32(clamping: Self.now() - start)) }
        return result
    }

    /// Returns the value that the given share of all values does not exceed; 0 if there are none.
    func quantile(_ share: Double) -> Int {
        guard !values.isEmpty else { return 0 }
        return Int(values.sorted()[min(values.count - 1, Int(Double(values.count) * share))])
    }

    mutating func removeAll() { values.removeAll(keepingCapacity: true) }

    private static func now() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}
