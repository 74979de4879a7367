import Foundation

#if canImport(CDispatch)
import CDispatch  // where `timespec` is defined, once Dispatch is among the imports of any file
#endif

/// The durations of all calls.
struct Durations {
    private var nanoseconds: [UInt32] = []

    static func now() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    mutating func add(since start: Int) {
        nanoseconds.append(UInt32(clamping: Self.now() - start))
    }

    var percentiles: Percentiles {
        let sorted = nanoseconds.sorted()
        guard let last = sorted.last else { return Percentiles(median: 0, p999: 0) }
        let at = { (share: Double) in Int(sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]) }
        return Percentiles(median: at(0.5), p999: sorted.count > 1_000 ? at(0.999) : Int(last))
    }
}

/// Percentiles in nanoseconds.
struct Percentiles: Encodable {
    var median: Int
    var p999: Int
}
