/// A value that was computed of a sample, and between which limits that of the whole may lie, at the 95 % level.
public struct Estimate<Value: Hashable & Sendable & Codable>: Hashable, Sendable, Codable {
    /// As it is in the sample; nil where there is no sample.
    public var value: Value?
    /// nil: the sample is too small for a limit on this side.
    public var low: Value?
    /// nil: the sample is too small for a limit on this side.
    public var high: Value?

    /// Makes an estimate.
    public init(value: Value?, low: Value?, high: Value?) {
        self.value = value
        self.low = low
        self.high = high
    }
}

/// What a difference between two groups amounts to.
public enum Verdict: String, Hashable, Sendable, Codable {
    /// The second group has more, and that is more than noise: the interval lies above 0.
    case higher
    /// The second group has less, and that is more than noise: the interval lies below 0.
    case lower
    /// The interval contains 0, so there may be no difference.
    case noise
    /// There are too few transactions for an interval.
    case tooFew = "too_few"
}

/// How often something happened in two groups.
public struct RateComparison: Hashable, Sendable, Codable {
    /// What is counted.
    public enum Measure: String, Hashable, Sendable, Codable, CaseIterable {
        /// Its outcome is succeeded.
        case succeeded
        /// Its outcome is failed.
        case failed
        /// It was not finished: abandoned, interrupted or timed out, as in ``DropOffQuestion``.
        case abandoned
    }

    /// What is counted.
    public var measure: Measure
    /// Transactions of the first group that count.
    public var aCount: Int
    /// Transactions of the second group that count.
    public var bCount: Int
    /// Of the first group's transactions that are over, from 0 to 1.
    public var a: Estimate<Double>
    /// Of the second group's transactions that are over, from 0 to 1.
    public var b: Estimate<Double>
    /// How much more the second has, from -1 to 1.
    public var difference: Estimate<Double>
    /// Whether the difference is more than noise.
    public var verdict: Verdict
    /// All of it in words.
    public var sentence: String
}

/// A quantile of the duration in two groups.
public struct QuantileComparison: Hashable, Sendable, Codable {
    /// 50, 90 or 99.
    public var percent: Int
    package var aMicroseconds: Estimate<Int64>
    package var bMicroseconds: Estimate<Int64>
    package var differenceMicroseconds: Estimate<Int64>
    /// Whether the difference is more than noise.
    public var verdict: Verdict
    /// All of it in words.
    public var sentence: String

    /// The first group's.
    public var a: Estimate<Duration> { aMicroseconds.durations }
    /// The second group's.
    public var b: Estimate<Duration> { bMicroseconds.durations }
    /// How much longer the second takes; below zero where it takes less.
    public var difference: Estimate<Duration> { differenceMicroseconds.durations }
}

extension Estimate<Int64> {
    /// Of microseconds.
    fileprivate var durations: Estimate<Duration> {
        func duration(_ microseconds: Int64?) -> Duration? { microseconds.map { .microseconds($0) } }
        return Estimate<Duration>(value: duration(value), low: duration(low), high: duration(high))
    }
}

/// The 97.5 % quantile of the normal distribution: 95 % lie between it and its negative.
private let normalQuantile = 1.959_963_984_540_054

extension Estimate<Double> {
    /// How often something happens that happened so many times of so many: the score interval of Wilson, "Probable
    /// inference, the law of succession, and statistical inference", Journal of the American Statistical Association 22
    /// (1927), 209-212.
    ///
    /// - Parameter total: Where it is 0, nothing is known.
    package init(rateOf count: Int, of total: Int) {
        self.init(rateOf: Double(count) / Double(max(1, total)), by: Double(total))
    }

    /// The same of a rate.
    ///
    /// - Parameter n: How many say so. Of unequal weights, the square of their sum by the sum of their squares (Kish,
    ///   "Survey Sampling", 1965, section 11.7): fewer than there are, so that the limits are no closer than they may be.
    package init(rateOf rate: Double, by n: Double) {
        guard n > 0 else {
            self.init(value: nil, low: nil, high: nil)
            return
        }
        let z = normalQuantile
        let middle = rate + z * z / (2 * n)
        let spread = z * (rate * (1 - rate) / n + z * z / (4 * n * n)).squareRoot()
        let scale = 1 + z * z / n
        // At the ends the two terms are equal, and rounding would leave a little of them.
        self.init(
            value: rate, low: rate == 0 ? 0 : (middle - spread) / scale,
            high: rate == 1 ? 1 : (middle + spread) / scale)
    }

    /// How much more often it happens in the second of two independent samples: method 10 of Newcombe, "Interval
    /// estimation for the difference between independent proportions: comparison of eleven methods", Statistics in
    /// Medicine 17 (1998), 873-890.
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

    private var known: (value: Double, low: Double, high: Double)? {
        guard let value, let low, let high else { return nil }
        return (value, low, high)
    }
}

/// Sorted values, as far as quantiles and their limits go.
package enum QuantileSample {
    /// Each stands for itself.
    case values([Int64])
    /// Some stand for others.
    case weighed(WeighedValues)

    /// How many say something; of those with weights, fewer than there are.
    fileprivate var count: Int {
        switch self {
        case .values(let values): values.count
        case .weighed(let values): values.effectiveCount
        }
    }

    /// The value at a rank of ``count``, from 1; nil: there is none.
    fileprivate func value(at rank: Int) -> Int64? {
        switch self {
        case .values(let values): values[rank - 1]
        case .weighed(let values): values.value(at: Int64(rank), of: Int64(values.effectiveCount))
        }
    }

    fileprivate func quantile(_ percent: Int) -> Int64? {
        switch self {
        case .values(let values): values[(percent * values.count + 99) / 100 - 1]
        case .weighed(let values): values.value(atPercent: percent)
        }
    }
}

extension Estimate<Int64> {
    /// A quantile of what sorted values are a sample of, between two of these values.
    ///
    /// - Parameter isForDifference: Whether its limits are to be part of a difference's, where each has to be surer.
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

    /// How much more a quantile is in the second of two independent sorted samples.
    ///
    /// Conservative, and free of assumptions about the distribution: each quantile lies within its own limits with a
    /// probability of √0.95, both do with 0.95, and then the difference lies between the differences of opposite
    /// limits.
    package init(percent: Int, from a: QuantileSample, to b: QuantileSample) {
        let a = Estimate(percent: percent, of: a, isForDifference: true)
        let b = Estimate(percent: percent, of: b, isForDifference: true)
        func difference(_ b: Int64?, _ a: Int64?) -> Int64? { b.flatMap { b in a.map { b - $0 } } }
        self.init(value: difference(b.value, a.value), low: difference(b.low, a.high), high: difference(b.high, a.low))
    }
}
