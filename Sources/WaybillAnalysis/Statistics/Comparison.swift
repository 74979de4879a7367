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
