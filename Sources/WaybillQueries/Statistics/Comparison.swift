import Foundation

/// An estimate from a sample, with its 95 % confidence interval.
public struct Estimate<Value: Hashable & Sendable & Codable>: Hashable, Sendable, Codable {
    /// The value in the sample; `nil` if the sample is empty.
    public var value: Value?
    /// The lower limit; `nil` if the sample is too small for one.
    public var low: Value?
    /// The upper limit; `nil` if the sample is too small for one.
    public var high: Value?

    /// Creates an estimate.
    public init(value: Value?, low: Value?, high: Value?) {
        self.value = value
        self.low = low
        self.high = high
    }
}

/// The result of a comparison.
public enum Verdict: String, Hashable, Sendable, Codable {
    /// The second group has significantly more: the interval is above 0.
    case higher
    /// The second group has significantly less: the interval is below 0.
    case lower
    /// The interval contains 0: there may be no difference.
    case noise
    /// There are too few transactions for an interval.
    case tooFew = "too_few"
}

/// The rates of an outcome in two groups.
public struct RateComparison: Hashable, Sendable, Codable {
    /// The outcome to count.
    public enum Measure: String, Hashable, Sendable, Codable, CaseIterable {
        /// Succeeded transactions.
        case succeeded
        /// Failed transactions.
        case failed
        /// Unfinished transactions: abandoned, interrupted or timed out, as in ``DropOffQuestion``.
        case abandoned
    }

    /// The outcome to count.
    public var measure: Measure
    /// The number of these transactions in the first group.
    public var aCount: Int
    /// The number of these transactions in the second group.
    public var bCount: Int
    /// The rate among the first group's ended transactions, from 0 to 1.
    public var a: Estimate<Double>
    /// The rate among the second group's ended transactions, from 0 to 1.
    public var b: Estimate<Double>
    /// The second rate minus the first one, from -1 to 1.
    public var difference: Estimate<Double>
    /// Whether the difference is significant.
    public var verdict: Verdict
    /// The comparison as one sentence.
    public var sentence: String
}

/// A percentile of the duration in two groups.
public struct QuantileComparison: Hashable, Sendable, Codable {
    /// The percentile: 50, 90 or 99.
    public var percent: Int
    package var aMicroseconds: Estimate<Int64>
    package var bMicroseconds: Estimate<Int64>
    package var differenceMicroseconds: Estimate<Int64>
    /// Whether the difference is significant.
    public var verdict: Verdict
    /// The comparison as one sentence.
    public var sentence: String

    /// The first group's percentile.
    public var a: Estimate<Duration> { aMicroseconds.map { .microseconds($0) } }
    /// The second group's percentile.
    public var b: Estimate<Duration> { bMicroseconds.map { .microseconds($0) } }
    /// The second percentile minus the first one.
    public var difference: Estimate<Duration> { differenceMicroseconds.map { .microseconds($0) } }
}

extension Estimate {
    func map<Other: Hashable & Sendable & Codable>(_ transform: (Value) -> Other) -> Estimate<Other> {
        Estimate<Other>(value: value.map(transform), low: low.map(transform), high: high.map(transform))
    }
}

/// The 97.5 % quantile of the normal distribution: 95 % lie between it and its negative.
private let normalQuantile = 1.959_963_984_540_054

extension Estimate<Double> {
    /// The score interval of Wilson, "Probable inference, the law of succession, and statistical inference", Journal of
    /// the American Statistical Association 22 (1927), 209-212.
    package init(rateOf count: Int, of total: Int) {
        self.init(rateOf: Double(count) / Double(max(1, total)), by: Double(total))
    }

    /// For unequal weights, `n` is the effective sample size (Kish, "Survey Sampling", 1965, section 11.7).
    ///
    /// - Parameter z: The quantile of the confidence; `nil` for 95 %.
    package init(rateOf rate: Double, by n: Double, z: Double? = nil) {
        guard n > 0 else {
            self.init(value: nil, low: nil, high: nil)
            return
        }
        let z = z ?? normalQuantile
        let middle = rate + z * z / (2 * n)
        let spread = z * (rate * (1 - rate) / n + z * z / (4 * n * n)).squareRoot()
        let scale = 1 + z * z / n
        // At the ends both terms are equal, but rounding would leave a rest.
        self.init(
            value: rate, low: rate == 0 ? 0 : (middle - spread) / scale,
            high: rate == 1 ? 1 : (middle + spread) / scale)
    }

    /// The difference of two independent rates: method 10 of Newcombe, "Interval estimation for the difference between
    /// independent proportions: comparison of eleven methods", Statistics in Medicine 17 (1998), 873-890.
    package init(from a: Estimate<Double>, to b: Estimate<Double>) {
        guard let a = a.known, let b = b.known else {
            self.init(value: nil, low: nil, high: nil)
            return
        }
        func length(_ x: Double, _ y: Double) -> Double { (x * x + y * y).squareRoot() }
        let difference = b.value - a.value
        self.init(
            value: difference, low: difference - length(b.value - b.low, a.high - a.value),
            high: difference + length(b.high - b.value, a.value - a.low))
    }

    /// Returns the distance beyond which the normal distribution has this probability on both sides together.
    package static func quantile(outside probability: Double) -> Double {
        // Bisection: `erfc` falls, and is below any positive `Double` beyond 39.
        var (low, high) = (0.0, 40.0)
        for _ in 0..<60 {
            let middle = (low + high) / 2
            if erfc(middle / 2.0.squareRoot()) > probability { low = middle } else { high = middle }
        }
        return high
    }

    private var known: (value: Double, low: Double, high: Double)? {
        guard let value, let low, let high else { return nil }
        return (value, low, high)
    }
}

package enum QuantileSample {
    /// Known values in order, and the numbers of unknown ones that are smaller or greater than all of them.
    case values([Int64], below: Int = 0, above: Int = 0)
    case weighed(WeighedValues<Int64>)

    var count: Int {
        switch self {
        case .values(let values, let below, let above): values.count + below + above
        case .weighed(let values): values.effectiveCount
        }
    }

    fileprivate func value(at rank: Int) -> Int64? {
        switch self {
        case .values(let values, let below, above: _):
            values.indices.contains(rank - below - 1) ? values[rank - below - 1] : nil
        case .weighed(let values): values.value(at: Int64(rank), of: Int64(values.effectiveCount))
        }
    }

    func quantile(_ percent: Int) -> Int64? {
        switch self {
        case .values: value(at: (percent * count + 99) / 100)
        case .weighed(let values): values.value(atPercent: percent)
        }
    }
}

extension Estimate<Int64> {
    /// Limits for a difference have a higher confidence each.
    package init(percent: Int, of sorted: QuantileSample, isForDifference: Bool = false) {
        guard sorted.count > 0 else {
            self.init(value: nil, low: nil, high: nil)
            return
        }
        let ranks = QuantileRanks(
            percent: percent, of: sorted.count,
            outside: isForDifference ? QuantileRanks.outsideEachOfTwo : QuantileRanks.outside)
        self.init(
            value: sorted.quantile(percent), low: ranks.low.flatMap(sorted.value(at:)),
            high: ranks.high.flatMap(sorted.value(at:)))
    }

    /// Assumes no distribution: each percentile is within its limits with a probability of √0.95, both are with 0.95.
    package init(percent: Int, from a: QuantileSample, to b: QuantileSample) {
        let a = Estimate(percent: percent, of: a, isForDifference: true)
        let b = Estimate(percent: percent, of: b, isForDifference: true)
        func difference(_ b: Int64?, _ a: Int64?) -> Int64? { b.flatMap { b in a.map { b - $0 } } }
        self.init(value: difference(b.value, a.value), low: difference(b.low, a.high), high: difference(b.high, a.low))
    }
}
