/// Between which of the sorted values of a sample a quantile of the whole lies.
///
/// Of n independent values, as many as a binomial variable of n and p says are below the quantile p, for every
/// distribution; where it has steps, the limits are only surer (David and Nagaraja, "Order Statistics", 3rd edition
/// 2003, section 7.1).
struct QuantileRanks {
    /// Counted from 1; nil: even below the least value it may lie.
    let low: Int?
    /// Counted from 1; nil: even above the greatest value it may lie.
    let high: Int?

    /// The probability on each side of an interval at the 95 % level.
    static let outside = 0.025
    /// The same of two intervals that both hold at the 95 % level.
    static let outsideEachOfTwo = (1 - 0.95.squareRoot()) / 2

    /// The narrowest ranks that leave at most this probability outside on each side.
    init(percent: Int, of count: Int, outside: Double) {
        let binomial = Binomial(count: count, probability: Double(percent) / 100)
        // At most `low - 1` values below the quantile: then it lies below the value at `low`.
        let low = binomial.least(above: outside)
        let high = binomial.greatest(above: outside) + 1
        self.low = low == 0 ? nil : low
        self.high = high > count ? nil : high
    }
}

/// The binomial distribution, around where it has all but a negligible part of its mass.
private struct Binomial {
    private var first: Int
    private var probabilities: [Double]

    /// From the most probable number outwards, by the ratio of neighbours, so that nothing large is ever computed:
    /// takes the square root of `count` steps.
    init(count: Int, probability: Double) {
        let odds = probability / (1 - probability)
        let mode = min(count, Int(Double(count + 1) * probability))
        let negligible = 1e-20
        var below: [Double] = []
        var weight = 1.0
        var number = mode
        while number > 0 {
            weight *= Double(number) / (Double(count - number + 1) * odds)
            guard weight > negligible else { break }
            below.append(weight)
            number -= 1
        }
        first = mode - below.count
        var weights = Array(below.reversed()) + [1]
        weight = 1
        number = mode
        while number < count {
            weight *= Double(count - number) * odds / Double(number + 1)
            guard weight > negligible else { break }
            weights.append(weight)
            number += 1
        }
        let sum = weights.reduce(0, +)
        probabilities = weights.map { $0 / sum }
    }

    /// The least number that, with those below it, has a probability above this.
    func least(above probability: Double) -> Int {
        var sum = 0.0
        return first
            + (probabilities.firstIndex {
                sum += $0
                return sum > probability
            } ?? 0)
    }

    /// The greatest number that, with those above it, has a probability above this.
    func greatest(above probability: Double) -> Int {
        var sum = 0.0
        return first
            + (probabilities.lastIndex {
                sum += $0
                return sum > probability
            } ?? probabilities.count - 1)
    }
}
