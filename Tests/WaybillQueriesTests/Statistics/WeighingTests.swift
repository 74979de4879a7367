import Testing
import WaybillCore

@testable import WaybillQueries

/// Counts of weighted transactions.
@Suite(.timeLimit(.minutes(5))) struct WeighingTests {
    private let ten = 10 * Weights.one

    /// Breaks when a value with weight 10 counts no more than one with weight 1.
    @Test func quantilesGoByWeights() {
        var durations = Durations()
        for value in Int64(1)...9 { durations.append(value, weight: ten) }
        for value in Int64(1_001)...1_010 { durations.append(value) }
        let statistics = DurationStatistics(&durations)
        #expect(statistics.count == 100)
        #expect(statistics.p50Microseconds == 5 && statistics.p90Microseconds == 9)
        #expect(statistics.p95Microseconds == 1_005 && statistics.p99Microseconds == 1_009)
        #expect(statistics.minimumMicroseconds == 1 && statistics.maximumMicroseconds == 1_010)
        #expect(statistics.meanMicroseconds == Int64((10 * 45 + 10_055) / 100))
    }

    /// Breaks when a value with weight 0 counts, or a fractional weight loses precision.
    @Test func weightsAreAddedUpExactly() {
        var durations = Durations()
        for _ in 0..<3 { durations.append(7, weight: Weights.one * 10 / 3) }
        durations.append(9, weight: 0)
        #expect(durations.count == 10)
        #expect(DurationStatistics(&durations).maximumMicroseconds == 7)
        #expect(Int64(7).times(Weights.one * 10 / 3) == 23 && Int64(-7).times(Weights.one) == -7)
        #expect((Int64(1) << 39).times(10_000 * Weights.one) == 10_000 << 39)
    }

    /// Breaks when an answer doesn't say that it is an estimate, or says so without sampling.
    @Test func anAnswerSaysByWhatItCounts() {
        var weights = Weights()
        for _ in 0..<100 { weights.add(ten) }
        for _ in 0..<20 { weights.add(Weights.one) }
        // 1.96 times the square root of 100 times 10 times 9.
        #expect(weights.weighing == Weighing(delivered: 120, estimated: 1_020, margin: 186))
        #expect(weights.weighing?.sentence.hasPrefix("Weighed: 120 of about 1020 (± 186) count here") == true)
        var plain = Weights()
        plain.add(Weights.one)
        #expect(plain.weighing == nil)
    }

    /// Breaks when a rate estimated from few transactions has limits as narrow as if all had been delivered, or
    /// narrower.
    @Test func limitsOfEstimatesAreWider() {
        func sample(sampled: Bool) -> ComparedSample {
            var sample = ComparedSample(value: sampled ? "sampled" : "all")
            for index in Int64(0)..<100 { sample.add(.failed, duration: index) }
            for index in 0..<Int64(sampled ? 90 : 900) {
                sample.add(
                    .succeeded, duration: sampled ? 10 * index : index, weight: sampled ? ten : Weights.one)
            }
            return sample
        }
        let answer = CompareAnswer(sample(sampled: false), sample(sampled: true))
        #expect(answer.a.transactions == 1_000 && answer.b.transactions == 1_000)
        for rate in answer.rates where rate.measure != .abandoned {
            #expect(rate.aCount == rate.bCount && rate.a.value == rate.b.value)
            let (a, b) = ((rate.a.high ?? 0) - (rate.a.low ?? 0), (rate.b.high ?? 0) - (rate.b.low ?? 0))
            #expect(b > 2 * a, "\(rate.measure)")
        }
        for quantile in answer.quantiles.dropLast() {
            let (a, b) = (quantile.aMicroseconds, quantile.bMicroseconds)
            #expect((b.high ?? 0) - (b.low ?? 0) > (a.high ?? 0) - (a.low ?? 0), "\(quantile.percent)")
        }
    }
}
