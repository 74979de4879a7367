import TestSupport
import Testing
import WaybillCore
import WaybillQueries

/// The question "why" finds the traits that distinguish transactions, and doesn't report chance.
@Suite(.timeLimit(.minutes(5))) struct WhyTests {
    private typealias Trait = WhyAnswer.Trait

    /// Collects 1,000 transactions with 60 attributes of three values each. `isChosen` chooses some of them.
    private func collected(
        seed: Int, isChosen: (Set<WhyAnswer.Trait>, inout RandomNumbers) -> Bool
    ) -> CollectedTraits {
        var random = RandomNumbers(seed: seed)
        var collected = CollectedTraits()
        for _ in 0..<1_000 {
            let traits = Set(
                (0..<60).map { name in
                    Trait(.attribute, name: "\(name)", value: "\(Int.random(in: 0..<3, using: &random))")
                })
            collected.add(traits, isChosen: isChosen(traits, &random), weight: Weights.one)
        }
        return collected
    }

    /// Breaks when somebody looks for the cause of a failure in an attribute that differs by chance: without a
    /// correction, nine of 180 comparisons do.
    @Test func chanceSetsNothingApart() {
        let runs = (0..<100).map { seed in
            collected(seed: seed) { _, random in Int.random(in: 0..<10, using: &random) == 0 }.answer(limit: 20)
        }
        #expect(runs.allSatisfy { $0.comparisons == 180 })
        #expect(runs.count { !$0.differences.isEmpty } <= 8, "of a hundred, at most five are expected")
    }

    /// Breaks when the cause isn't first, or isn't found at all.
    @Test func aPlantedCauseIsFirst() {
        for seed in 0..<20 {
            let cause = Trait(.attribute, name: "7", value: "2")
            let answer = collected(seed: seed) { traits, random in
                Int.random(in: 0..<100, using: &random) < (traits.contains(cause) ? 30 : 5)
            }.answer(limit: 20)
            #expect(answer.differences.first?.trait == cause)
            #expect(answer.differences.count <= 2)
        }
    }

    /// Breaks when an answer from several buckets of a database differs from the answer from one file.
    @Test func partsInAnyOrderMakeTheSameAnswer() {
        let parts = (0..<4).map { seed in
            collected(seed: seed) { traits, _ in traits.contains(Trait(.attribute, name: "0", value: "0")) }
        }
        func answer(_ parts: [CollectedTraits]) -> WhyAnswer {
            var all = CollectedTraits()
            for part in parts { all.merge(part) }
            return all.answer(limit: 500)
        }
        #expect(answer(parts) == answer(parts.reversed()))
    }

    /// Breaks when weights that a client made up stop the process.
    @Test func extremeWeightsAreCounted() {
        var collected = CollectedTraits()
        for index in 0..<100 {
            let traits: Set = [Trait(.event, value: "\(index % 2)")]
            collected.add(traits, isChosen: index % 2 == 0, weight: index % 3 == 0 ? 0 : 1 << 61)
        }
        let answer = collected.answer(limit: .max)
        #expect(answer.differences.allSatisfy { $0.difference.value?.isNaN == false })
        #expect(CollectedTraits().answer(limit: -1).differences.isEmpty)
    }

    /// Quantiles from a table of the normal distribution.
    @Test func theQuantileIsThatOfTheNormalDistribution() {
        for (probability, quantile) in [(0.05, 1.959_963_985), (0.01, 2.575_829_304), (0.000_05, 4.055_626_981)] {
            #expect((Estimate<Double>.quantile(outside: probability) - quantile).magnitude < 1e-6)
        }
    }
}
