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
