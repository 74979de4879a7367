import WaybillCore

/// The distribution of durations: exact percentiles by nearest rank, which are values that occurred.
///
/// Percentile p of n values is the sorted value at rank ⌈p·n⌉ (definition 1 of Hyndman and Fan, "Sample Quantiles in
/// Statistical Packages", 1996; `quantile_disc` in DuckDB).
public struct DurationStatistics: Hashable, Sendable, Codable {
    /// The number of values. Without any, the others are `nil`.
    public var count: Int
    package var minimumMicroseconds, p50Microseconds, p75Microseconds, p90Microseconds, p95Microseconds,
        p99Microseconds: Int64?
    package var maximumMicroseconds: Int64?
    package var meanMicroseconds: Int64?

    /// The shortest duration.
    public var minimum: Duration? { minimumMicroseconds.map { .microseconds($0) } }
    /// The 50th percentile, the median.
    public var p50: Duration? { p50Microseconds.map { .microseconds($0) } }
    /// The 75th percentile.
    public var p75: Duration? { p75Microseconds.map { .microseconds($0) } }
    /// The 90th percentile.
    public var p90: Duration? { p90Microseconds.map { .microseconds($0) } }
    /// The 95th percentile.
    public var p95: Duration? { p95Microseconds.map { .microseconds($0) } }
    /// The 99th percentile.
    public var p99: Duration? { p99Microseconds.map { .microseconds($0) } }
    /// The longest duration.
    public var maximum: Duration? { maximumMicroseconds.map { .microseconds($0) } }
    /// The arithmetic mean, rounded down to microseconds.
    public var mean: Duration? { meanMicroseconds.map { .microseconds($0) } }

    package init(_ durations: inout Durations) {
        count = durations.count
        guard count > 0 else { return }
        (minimumMicroseconds, maximumMicroseconds) = (durations.minimum, durations.maximum)
        var sum = WideSum()
        durations.forEach { value, weight in sum.add(value.times(weight)) }
        if let values = durations.inOrder {
            (p50Microseconds, p75Microseconds) = (values.value(atPercent: 50), values.value(atPercent: 75))
            (p90Microseconds, p95Microseconds) = (values.value(atPercent: 90), values.value(atPercent: 95))
            p99Microseconds = values.value(atPercent: 99)
            let mean = sum.double / Double(values.total) * Double(Weights.one)
            meanMicroseconds = Int64(exactly: mean.rounded(.down))?.bounded
            return
        }
        let values = durations.values(atRanks: [50, 75, 90, 95, 99].map { [count] in ($0 * count + 99) / 100 - 1 })
        (p50Microseconds, p75Microseconds, p90Microseconds) = (values[0], values[1], values[2])
        (p95Microseconds, p99Microseconds) = (values[3], values[4])
        meanMicroseconds = sum.quotient(flooringBy: Int64(count))
    }

    package init(_ values: inout [Int64]) {
        var durations = Durations()
        for value in values { durations.append(value) }
        self.init(&durations)
    }
}

/// The exact sum of at most 2^30 numbers. Some thousand of the largest ones would overflow an `Int64`.
private struct WideSum {
    /// In units of 2^32.
    private var high: Int64 = 0
    private var low: Int64 = 0

    mutating func add(_ value: Int64) {
        high += value >> 32
        low += value & 0xFFFF_FFFF
    }

    var double: Double {
        let (product, isTooLarge) = high.multipliedReportingOverflow(by: 1 << 32)
        let (sum, isFarTooLarge) = product.addingReportingOverflow(low)
        return isTooLarge || isFarTooLarge ? Double(high) * 0x1p32 + Double(low) : Double(sum)
    }

    func quotient(flooringBy count: Int64) -> Int64 {
        let (quotient, remainder) = high.quotientAndRemainder(flooringBy: count)
        return quotient << 32 + (remainder << 32 + low) / count
    }
}

/// Places some ranks without sorting the rest: Hoare's quickselect for several ranks at once.
enum Selection {
    static func place(_ ranks: ArraySlice<Int>, in values: UnsafeMutableBufferPointer<Int32>) {
        place(
            ranks, in: values, values.startIndex..<values.endIndex,
            roundsLeft: 2 * (Int.bitWidth - values.count.leadingZeroBitCount))
    }

    /// `roundsLeft` limits the rounds before it sorts instead, to prevent quadratic time.
    private static func place(
        _ ranks: ArraySlice<Int>, in values: UnsafeMutableBufferPointer<Int32>, _ range: Range<Int>, roundsLeft: Int
    ) {
        guard !ranks.isEmpty, range.count > 1 else { return }
        guard range.count > 32, roundsLeft > 0 else {
            var slice = UnsafeMutableBufferPointer(rebasing: values[range])
            return slice.sort()
        }
        let (less, greater) = partition(values, range)
        place(ranks.prefix { $0 < less }, in: values, range.lowerBound..<less, roundsLeft: roundsLeft - 1)
        place(ranks.drop { $0 < greater }, in: values, greater..<range.upperBound, roundsLeft: roundsLeft - 1)
    }

    private static func partition(_ values: UnsafeMutableBufferPointer<Int32>, _ range: Range<Int>) -> (Int, Int) {
        let pivot = pivot(values, range)
        var less = range.lowerBound
        var greater = range.upperBound
        var index = less
        while index < greater {
            let value = values[index]
            if value < pivot {
                values.swapAt(index, less)
                less += 1
                index += 1
            } else if value > pivot {
                greater -= 1
                values.swapAt(index, greater)
            } else {
                index += 1
            }
        }
        return (less, greater)
    }

    private static func pivot(_ values: UnsafeMutableBufferPointer<Int32>, _ range: Range<Int>) -> Int32 {
        let step = range.count / 9
        func median(_ first: Int) -> Int32 {
            let (a, b, c) = (values[first], values[first + step], values[first + 2 * step])
            return max(min(a, b), min(max(a, b), c))
        }
        let (a, b, c) = (
            median(range.lowerBound), median(range.lowerBound + 3 * step), median(range.lowerBound + 6 * step)
        )
        return max(min(a, b), min(max(a, b), c))
    }
}

extension Int64 {
    /// Multiplies by a weight in millionths, rounds towards 0, and limits to the largest integer of the format.
    package func times(_ weight: Int64) -> Int64 {
        guard weight != Weights.one else { return self }
        let (one, product) = (Weights.one.magnitude, magnitude.multipliedFullWidth(by: weight.magnitude))
        let isTooMuch = product.high >= one
        let quotient = isTooMuch ? .max : one.dividingFullWidth(product).quotient
        let times = Int64(clamping: quotient).bounded
        return self < 0 ? -times : times
    }
}

/// The number of values below a percentile is binomial (David and Nagaraja, "Order Statistics", 3rd edition 2003,
/// section 7.1).
struct QuantileRanks {
    /// From 1; `nil` if the percentile may be below all values.
    let low: Int?
    let high: Int?

    static let outside = 0.025
    static let outsideEachOfTwo = (1 - 0.95.squareRoot()) / 2

    /// Computes ratios of neighbors from the mode outwards: no large numbers, and about `√count` steps.
    init(percent: Int, of count: Int, outside: Double) {
        let probability = Double(percent) / 100
        let odds = probability / (1 - probability)
        let mode = min(count, Int(Double(count + 1) * probability))
        let below = Self.weights(stride(from: mode, to: 0, by: -1)) { Double($0) / (Double(count - $0 + 1) * odds) }
        let above = Self.weights(mode..<count) { Double(count - $0) * odds / Double($0 + 1) }
        let weights = Array(below.reversed()) + [1.0] + above
        let sum = weights.reduce(0, +)
        func steps(_ weights: some Sequence<Double>) -> Int {
            var reached = 0.0
            let found = weights.enumerated().first { _, weight in
                reached += weight / sum
                return reached > outside
            }
            return found?.offset ?? 0
        }
        // With at most `low - 1` values below it, the percentile is below the value at `low`.
        let low = mode - below.count + steps(weights)
        let high = mode + above.count - steps(weights.reversed()) + 1
        self.low = low == 0 ? nil : low
        self.high = high > count ? nil : high
    }

    private static func weights(_ numbers: some Sequence<Int>, _ ratio: (Int) -> Double) -> [Double] {
        let negligible = 1e-20
        var (weights, weight) = ([Double](), 1.0)
        for number in numbers {
            weight *= ratio(number)
            guard weight > negligible else { break }
            weights.append(weight)
        }
        return weights
    }
}
