import TestSupport
import Testing
import WaybillTesting

@testable import WaybillCore
@testable import WaybillQueries

/// A quantile that is off by one rank makes every answer about durations wrong.
@Suite(.timeLimit(.minutes(5))) struct QuantileTests {
    /// Covers inputs that are hard for partitioning: many equal values, sorted and reversed ones, small ranges, and
    /// values of more than four bytes among smaller ones.
    @Test(arguments: 0..<200) func everyQuantileIsTheOneThatSortingGives(seed: Int) {
        var random = RandomNumbers(seed: seed)
        let range: ClosedRange<Int64> = [
            0...0, 0...3, -5...5, -1_000_000...1_000_000_000, -10_000_000_000...10_000_000_000,
            -2_200_000_000...1_000_000,
            2_100_000_000...2_200_000_000,
        ][seed % 7]
        var values = (0..<Int.random(in: 1...3_000, using: &random)).map { _ in Int64.random(in: range, using: &random)
        }
        if seed % 5 == 1 { values.sort() }
        if seed % 5 == 2 { values.sort(by: >) }
        let sorted = values.sorted()
        var durations = Durations()
        for value in values { durations.append(value) }
        let statistics = DurationStatistics(&durations)
        var left: [Int64] = []
        durations.forEach { value, _ in left.append(value) }
        #expect(left.sorted() == sorted, "nothing is lost")
        for (percent, value) in [
            (50, statistics.p50), (75, statistics.p75), (90, statistics.p90), (95, statistics.p95),
            (99, statistics.p99),
        ] {
            let index = (percent * sorted.count + 99) / 100 - 1
            #expect(value == .microseconds(sorted[index]), "p\(percent) of \(sorted.count)")
        }
        #expect(
            (statistics.minimum, statistics.maximum) == (
                .microseconds(sorted[0]), .microseconds(sorted[sorted.count - 1])
            ))
        #expect(
            statistics.mean == .microseconds(Int64((Double(sorted.reduce(0, +)) / Double(sorted.count)).rounded(.down)))
        )
    }

    @Test func ofNothingThereIsNothingToSay() {
        var none = Durations()
        let statistics = DurationStatistics(&none)
        #expect(statistics.count == 0 && statistics.p50 == nil && statistics.mean == nil)
    }
}
