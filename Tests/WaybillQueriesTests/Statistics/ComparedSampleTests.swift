import TestSupport
import Testing
import WaybillTesting

@testable import WaybillCore
@testable import WaybillQueries

/// People act on the verdict, and read its sentence.
@Suite(.timeLimit(.minutes(5))) struct ComparedSampleTests {
    private func sample(_ value: String?, _ outcomes: [TransactionOutcome: Int], durations: [Int64] = [])
        -> ComparedSample
    {
        var sample = ComparedSample(value: value)
        var durations = durations[...]
        for (outcome, count) in outcomes { for _ in 0..<count { sample.add(outcome, duration: durations.popFirst()) } }
        return sample
    }

    @Test func aDifferenceThatIsMoreThanNoiseIsSaidToBe() throws {
        let answer = CompareAnswer(
            sample("A", [.succeeded: 920, .failed: 80], durations: Array(1...1_000)),
            sample("B", [.succeeded: 850, .failed: 150], durations: (1...1_000).map { $0 + 500 }))
        #expect(answer.rates.map(\.verdict) == [.lower, .higher, .noise])
        #expect(answer.quantiles.map(\.verdict) == [.higher, .higher, .higher])
        #expect(
            answer.sentences == [
                "“B” succeeded less often than “A”: 85.0 % against 92.0 %, a difference of -7.0 points (95 % interval -9.8 to -4.2). That is more than noise.",
                "“B” failed more often than “A”: 15.0 % against 8.0 %, a difference of +7.0 points (95 % interval +4.2 to +9.8). That is more than noise.",
                "“B” was abandoned in 0.0 % and “A” in 0.0 %, a difference of +0.0 points (95 % interval -0.4 to +0.4). That may be noise.",
                "The p50 of “B” is longer than that of “A”: 1.00 ms against 500 µs, a difference of +500 µs (95 % interval +429 µs to +571 µs). That is more than noise.",
                "The p90 of “B” is longer than that of “A”: 1.40 ms against 900 µs, a difference of +500 µs (95 % interval +456 µs to +544 µs). That is more than noise.",
                "The p99 of “B” is longer than that of “A”: 1.49 ms against 990 µs, a difference of +500 µs (95 % interval +485 µs to +515 µs). That is more than noise.",
            ])
    }

    @Test func fewTransactionsSayLittle() {
        let answer = CompareAnswer(
            sample("A", [.succeeded: 5], durations: [10, 20, 30, 40, 50]),
            sample(nil, [.failed: 2, .succeeded: 3], durations: [1, 2, 3, 4, 9]))
        #expect(answer.rates.map(\.verdict) == [.noise, .noise, .noise])
        #expect(answer.quantiles.map(\.verdict) == [.tooFew, .tooFew, .tooFew])
        #expect(
            answer.quantiles[0].sentence
                == "The p50 is 3 µs for the rest without a value and 30 µs for “A”. With 5 and 5 durations there are too few to say whether that is more than noise."
        )
    }

    @Test func whatIsOpenIsNoPartOfARate() {
        let answer = CompareAnswer(sample("A", [.open: 7, .succeeded: 1]), sample("B", [.open: 9]))
        #expect(answer.a.transactions == 8 && answer.a.ended == 1 && answer.rates[0].a.value == 1)
        #expect(answer.b.ended == 0 && answer.rates[0].b.value == nil && answer.rates[0].verdict == .tooFew)
        #expect(
            answer.rates[1].sentence
                == "No transaction of “B” is over, so nothing can be said about how often it failed.")
        #expect(answer.quantiles[0].sentence == "There is no duration of “A”, so nothing can be said about the p50.")
    }

    @Test func whoeverDidNotFinishCountsAsAbandoned() {
        let answer = CompareAnswer(
            sample("A", [.abandoned: 1, .interrupted: 2, .timedOut: 3, .cancelled: 4]),
            sample("B", [.succeeded: 1, .cancelled: 1]))
        #expect(answer.rates.map(\.aCount) == [0, 0, 6] && answer.rates.map(\.bCount) == [1, 0, 0])
        #expect(answer.rates[2].a.value == 0.6)
    }

    /// For equal groups, a measure may look different at most once in twenty times; for different groups, nearly
    /// always.
    @Test func noiseIsTakenForADifferenceSeldomAndADifferenceForNoiseAsWell() {
        var random = RandomNumbers(seed: 7)
        func sample(failing: Double, slower: Int64) -> ComparedSample {
            var sample = ComparedSample(value: "")
            for _ in 0..<400 {
                let factors = (0..<3).map { _ in Int64.random(in: 10...100, using: &random) }
                let isFailed = Double.random(in: 0..<1, using: &random) < failing
                sample.add(isFailed ? .failed : .succeeded, duration: factors.reduce(1, *) * slower)
            }
            return sample
        }
        var (noise, found) = (0, 0)
        for _ in 0..<500 {
            let same = CompareAnswer(sample(failing: 0.2, slower: 10), sample(failing: 0.2, slower: 10))
            if same.rates[1].verdict != .noise { noise += 1 }
            if same.quantiles[0].verdict != .noise { noise += 1 }
            let other = CompareAnswer(sample(failing: 0.2, slower: 10), sample(failing: 0.4, slower: 20))
            if other.rates[1].verdict == .higher { found += 1 }
            if other.quantiles[0].verdict == .higher { found += 1 }
        }
        #expect(noise <= 60, "of 1,000")
        #expect(found >= 990, "of 1,000")
    }
}
