import Foundation
import TestSupport
import Testing
import WaybillTesting

@testable import WaybillCore
@testable import WaybillQueries

/// An interval that is too narrow finds false differences; one that is too wide finds none.
@Suite(.timeLimit(.minutes(5))) struct EstimateTests {
    // MARK: Rates

    /// Newcombe, Statistics in Medicine 17 (1998), 857-872, table I, method 3.
    @Test(arguments: [
        (81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0, 0.1611), (1, 29, 0.0061, 0.1718),
    ])
    func ratesHaveThePublishedLimits(count: Int, total: Int, low: Double, high: Double) throws {
        let estimate = Estimate(rateOf: count, of: total)
        #expect(estimate.value == Double(count) / Double(total))
        #expect(try abs(#require(estimate.low) - low) < 0.00005)
        #expect(try abs(#require(estimate.high) - high) < 0.00005)
    }

    /// Newcombe, Statistics in Medicine 17 (1998), 873-890, table II, method 10, contrasts (a) to (h).
    @Test(arguments: [
        (56, 70, 48, 80, 0.0524, 0.3339), (9, 10, 3, 10, 0.1705, 0.8090), (6, 7, 2, 7, 0.0582, 0.8062),
        (5, 56, 0, 29, -0.0381, 0.1926),
        (0, 10, 0, 20, -0.1611, 0.2775), (0, 10, 0, 10, -0.2775, 0.2775), (10, 10, 0, 20, 0.6791, 1),
        (10, 10, 0, 10, 0.6075, 1),
        // Computed by statsmodels 0.15.0, `confint_proportions_2indep(method="newcomb")`.
        (1_234, 100_000, 1_301, 99_000, -0.0017883, 0.0001843), (7, 9, 2, 400, 0.4473274, 0.9318163),
    ])
    func differencesOfRatesHaveThePublishedLimits(b: Int, ofB: Int, a: Int, ofA: Int, low: Double, high: Double) throws
    {
        let difference = Estimate(from: Estimate(rateOf: a, of: ofA), to: Estimate(rateOf: b, of: ofB))
        #expect(try abs(#require(difference.low) - low) < 0.00005)
        #expect(try abs(#require(difference.high) - high) < 0.00005)
    }

    /// At the limits of the score interval, the difference to the rate is z standard errors of the limit itself. This
    /// test finds the limits by bisection.
    @Test func limitsAreWhereTheScoreSaysSo() throws {
        for total in 1...60 {
            for count in 0...total {
                let estimate = Estimate(rateOf: count, of: total)
                let rate = Double(count) / Double(total)
                func isInside(_ limit: Double) -> Bool {
                    abs(rate - limit) <= 1.959963984540054 * (limit * (1 - limit) / Double(total)).squareRoot()
                }
                func limit(towards end: Double) -> Double {
                    var (inside, outside) = (rate, end)
                    for _ in 0..<60 {
                        let middle = (inside + outside) / 2
                        if isInside(middle) { inside = middle } else { outside = middle }
                    }
                    return count == 0 && end == 0 ? 0 : count == total && end == 1 ? 1 : inside
                }
                #expect(try abs(#require(estimate.low) - limit(towards: 0)) < 1e-9, "\(count) of \(total)")
                #expect(try abs(#require(estimate.high) - limit(towards: 1)) < 1e-9, "\(count) of \(total)")
            }
        }
    }

    @Test func ofNothingNoRateIsKnown() {
        let nothing = Estimate(rateOf: 0, of: 0)
        #expect(nothing == Estimate(value: nil, low: nil, high: nil))
        #expect(Estimate(from: nothing, to: Estimate(rateOf: 1, of: 2)) == nothing)
    }

    // MARK: Quantiles

    /// Computed by scipy 1.17.1, `binom.cdf` and `binom.sf`; n = 100 also by its `quantile_test`.
    @Test(
        arguments: [
            (50, 5, nil, nil), (50, 6, 1, 6), (50, 10, 2, 9), (50, 20, 6, 15), (50, 30, 10, 21), (50, 50, 18, 33),
            (50, 100, 40, 61),
            (50, 1_000, 469, 532), (50, 1_000_000, 499_020, 500_981), (90, 5, 3, nil), (90, 30, 23, nil),
            (90, 50, 41, 50),
            (90, 100, 84, 96),
            (90, 12_345, 11_045, 11_176), (99, 100, 97, nil), (99, 371, 363, 371), (99, 1_000, 983, 997),
            (99, 1_000_000, 989_805, 990_196),
        ] as [(Int, Int, Int?, Int?)])
    func ranksAreThoseOfTheBinomialDistribution(percent: Int, count: Int, low: Int?, high: Int?) {
        let ranks = QuantileRanks(percent: percent, of: count, outside: QuantileRanks.outside)
        #expect(ranks.low == low && ranks.high == high)
    }

    /// As above, with more confidence in each interval, because two of them must hold together.
    @Test(
        arguments: [
            (50, 6, nil, nil), (50, 20, 5, 16), (50, 1_000, 465, 536), (90, 100, 83, 97), (99, 371, 362, nil),
            (99, 435, 425, 435),
            (99, 12_345, 12_196, 12_247),
        ] as [(Int, Int, Int?, Int?)])
    func ranksForADifferenceAreWider(percent: Int, count: Int, low: Int?, high: Int?) {
        let ranks = QuantileRanks(percent: percent, of: count, outside: QuantileRanks.outsideEachOfTwo)
        #expect(ranks.low == low && ranks.high == high)
    }

    @Test func aQuantileLiesBetweenTheValuesAtItsRanks() {
        let values = (1...100).map { Int64($0 * 10) }
        #expect(Estimate(percent: 90, of: .values(values)) == Estimate(value: 900, low: 840, high: 960))
        #expect(Estimate(percent: 50, of: .values([])) == Estimate<Int64>(value: nil, low: nil, high: nil))
        // The limits are at ranks 39 and 62 of both samples.
        #expect(
            Estimate(percent: 50, from: .values(values), to: .values(values.map { $0 + 5_000 }))
                == Estimate(value: 5_000, low: 4_770, high: 5_230))
    }

    // MARK: Coverage

    /// Draws 2,000 samples from a known distribution: at least 93 % of the intervals must contain the true value.
    @Test(arguments: [
        (0.1, 50, 0.2, 80), (0.02, 300, 0.05, 400), (0.5, 40, 0.5, 40), (0.9, 120, 0.7, 30), (0.3, 25, 0.35, 500),
    ])
    func differencesOfRatesCoverTheTruth(a: Double, ofA: Int, b: Double, ofB: Int) throws {
        var random = RandomNumbers(seed: ofA + ofB)
        func count(_ rate: Double, _ total: Int) -> Int {
            (0..<total).count { _ in Double.random(in: 0..<1, using: &random) < rate }
        }
        var covered = 0
        for _ in 0..<2_000 {
            let difference = Estimate(
                from: Estimate(rateOf: count(a, ofA), of: ofA), to: Estimate(rateOf: count(b, ofB), of: ofB))
            let (low, high) = (try #require(difference.low), try #require(difference.high))
            if low <= b - a, b - a <= high { covered += 1 }
        }
        #expect(covered >= 1_860)
        #expect(covered < 1_960, "limits so wide that they say little")
    }

    /// Realistic durations, mostly short with few long ones, and a known truth: a quantile p of an exponential
    /// distribution is -ln(1 - p) means.
    @Test(arguments: [(50, 40, 60), (90, 100, 80), (99, 500, 600)]) func quantilesAndTheirDifferencesCoverTheTruth(
        percent: Int, ofA: Int, ofB: Int
    ) {
        var random = RandomNumbers(seed: percent)
        func sample(_ count: Int, mean: Double) -> [Int64] {
            (0..<count).map { _ in Int64(-log(1 - Double.random(in: 0..<1, using: &random)) * mean) }.sorted()
        }
        func quantile(mean: Double) -> Double { -log(1 - Double(percent) / 100) * mean }
        func covers(_ estimate: Estimate<Int64>, _ truth: Double) -> Bool {
            // Durations are truncated to whole microseconds, and the difference of two is off by at most one.
            (estimate.low.map { Double($0) - 1 <= truth } ?? true)
                && (estimate.high.map { truth <= Double($0) + 1 } ?? true)
        }
        var (covered, coveredDifference) = (0, 0)
        for _ in 0..<2_000 {
            let (a, b) = (sample(ofA, mean: 1_000_000), sample(ofB, mean: 1_300_000))
            if covers(Estimate(percent: percent, of: .values(a)), quantile(mean: 1_000_000)) { covered += 1 }
            if covers(Estimate(percent: percent, from: .values(a), to: .values(b)), quantile(mean: 300_000)) {
                coveredDifference += 1
            }
        }
        #expect(covered >= 1_860 && coveredDifference >= 1_860)
    }
}
