import StoreConformance
import TestSupport
import Testing
import WaybillCore
import WaybillTesting

@testable import WaybillQueries
@testable import WaybillStore
@testable import WaybillStoreTests

/// A comparison covers exactly the transactions of its groups. Other tests check the values computed from them.
@Suite(.timeLimit(.minutes(10))) struct CompareAnswerTests {
    private func ask(_ query: CompareQuestion, _ it: AnswerTests.Case) throws -> CompareAnswer {
        try it.ask(query)
    }

    /// Returns the same comparison for runs that were chosen by brute force.
    private func naive(
        _ query: CompareQuestion, _ it: AnswerTests.Case, _ names: [String?], _ isIn: [(NaiveAnswers.Run) -> Bool]
    )
        -> CompareAnswer
    {
        let durations = DurationQuestion(
            filter: query.filter, from: query.from, to: query.to, occurrence: query.occurrence)
        let samples = zip(names, isIn).map { name, isIn in
            var sample = ComparedSample(value: name)
            for run in it.naive.begun.filter(isIn) {
                sample.add(run.outcome, duration: it.naive.durations(durations, [run]).durations.first)
            }
            return sample
        }
        return CompareAnswer(samples[0], samples[1])
    }

    /// Returns the answer without the reason why a group is empty.
    private func withoutReason(_ answer: CompareAnswer) -> CompareAnswer {
        var answer = answer
        answer.whyEmpty = nil
        return answer
    }

    @Test(arguments: seeds(700..<800)) func groupsByValueHaveTheirTransactions(seed: Int) throws {
        var it = try AnswerTests.Case(seed: seed)
        let known = [TransactionPoint.begun, .finished, .event("event 0"), .event("event 2")]
        let answers = it.naive
        let histories = answers.histories
        let values: [(Segmentation, (NaiveAnswers.Run) -> String?)] = [
            (.appVersion, { histories[$0.leader.source].source.appVersion }),
            (.app, { histories[$0.leader.source].source.app }),
            (.attribute("yes"), { answers.latest("yes", in: $0)?.description }),
        ]
        for (segmentation, value) in values {
            let values = Set(it.naive.begun.map(value)).sorted { ($0 ?? "") < ($1 ?? "") }
            guard values.count >= 2 else { continue }
            let pair = Array(values.shuffled(using: &it.random).prefix(2))
            let query = CompareQuestion(
                filter: it.filter, groups: .values(of: segmentation, pair[0], pair[1]),
                from: known.randomElement(using: &it.random) ?? .begun,
                to: known.randomElement(using: &it.random) ?? .finished, occurrence: it.random.oneIn(2) ? .first : .last
            )
            let answer = try ask(query, it)
            #expect(
                answer == naive(query, it, pair, pair.map { name in { value($0) == name } }), "seed \(seed): \(query)")
            #expect(answer.a.transactions > 0 && answer.b.transactions > 0)
        }
    }

    @Test(arguments: seeds(800..<860)) func groupsByTimeHaveTheirTransactions(seed: Int) throws {
        var it = try AnswerTests.Case(seed: seed)
        let times = it.naive.begun.map(\.begun).sorted()
        guard let first = times.first, let last = times.last, let middle = times.randomElement(using: &it.random) else {
            return
        }
        let query = CompareQuestion(
            filter: it.filter,
            groups: .windows(Range(microseconds: middle..<(last + 1)), Range(microseconds: first..<middle)))
        let answer = try ask(query, it)
        let names = [answer.a.value, answer.b.value]
        #expect(
            withoutReason(answer) == naive(query, it, names, [{ $0.begun >= middle }, { $0.begun < middle }]),
            "seed \(seed): \(query)")
        #expect(answer.a.transactions + answer.b.transactions == times.count)
    }

    // MARK: Questions that make no sense

    private func reader() throws -> StoreReader {
        let (store, place) = try Store.inMemory()
        let writer = FactWriter()
        for variant in ["A", "B"] {
            writer.close(writer.open(GUID(), attributes: ["variant": .string(variant)]), .succeeded)
        }
        try store.ingest(writer.set())
        return try StoreReader(place)
    }

    private func message(_ groups: CompareQuestion.Groups) throws -> String? {
        let error = #expect(throws: WaybillError.self) {
            try reader().answer(CompareQuestion(filter: TransactionFilter(), groups: groups), now: FactWriter.wall)
        }
        return error?.message
    }

    @Test func aValueThatNothingHasSuggestsTheNearest() throws {
        #expect(
            try message(.values(of: .attribute("variant"), "A", "b"))
                == "No transaction that counts has the variant “b”: did you mean “B”?"
        )
        #expect(
            try message(.values(of: .attribute("variant"), "A", "control"))
                == "No transaction that counts has the variant “control”: there are A, B.")
    }

    @Test func anAttributeThatNothingHasSuggestsTheNearest() throws {
        #expect(
            try message(.values(of: .attribute("varient"), "A", "B"))
                == "No transaction here has an attribute “varient”: did you mean “variant”?")
    }

    @Test func groupsMustDiffer() throws {
        #expect(try message(.values(of: .app, "app", "app")) == "Both groups are the same; say two values.")
        #expect(
            try message(.windows(Range(microseconds: 0..<10), Range(microseconds: 9..<20)))
                == "The two stretches of time overlap, so they cannot be compared.")
    }
}
