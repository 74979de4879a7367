import StoreConformance
import TestSupport
import Testing
import WaybillCore
import WaybillTesting

@testable import WaybillQueries
@testable import WaybillStore
@testable import WaybillStoreTests

/// Compares every answer of a store with a brute-force search of the recorded facts. The facts arrive late, repeatedly
/// and out of order, or not at all. They come from several sources with skewed, jumping clocks, and app versions name
/// events differently.
@Suite(.timeLimit(.minutes(10))) struct AnswerTests {
    struct Case {
        var naive: NaiveAnswers
        var reader: StoreReader
        var random: RandomNumbers
        var points: [TransactionPoint]
        var filter: TransactionFilter

        init(seed: Int) throws {
            var maker = HistoryMaker(seed: seed)
            let histories = maker.histories()
            let (store, place) = try Store.inMemory()
            var sets = SetMaker(random: maker.random)
            for set in sets.sets(of: histories) { try store.ingest(set) }
            random = sets.random
            reader = try StoreReader(place)
            let end = histories.flatMap { history in
                history.facts.map { $0.atMicroseconds + history.clocks[0].offsetMicroseconds }
            }.max()
            // Some open transactions have timed out by then.
            naive = NaiveAnswers(
                histories: histories, now: (end ?? 0) + 960_000 + Int64.random(in: 0...60_000, using: &random))
            let names = Set((0...3).map { "event \($0)" } + histories.indices.map { "event of \($0)" } + ["event of 9"])
            points = [.begun, .finished] + names.sorted().map { .event($0) }
            filter = TransactionFilter([.useCase(3)])
        }

        mutating func point() -> TransactionPoint { points.randomElement(using: &random) ?? .begun }

        func ask<Asked: Question>(_ question: Asked) throws -> Asked.Answer {
            try reader.answer(question, now: naive.now)
        }
    }

    @Test(arguments: seeds(0..<60)) func theSummaryCountsEveryRunOnce(seed: Int) throws {
        let it = try Case(seed: seed)
        let answer = try it.ask(SummaryQuestion(step: .milliseconds(10)))
        let runs = it.naive.begun
        guard !runs.isEmpty else { return #expect(answer.useCases.isEmpty) }
        let summary = try #require(answer.useCases.first)
        #expect(answer.useCases.count == 1)
        #expect(summary.name == "login")
        #expect(summary.runs == runs.count)
        #expect(summary.outcomes == Dictionary(grouping: runs, by: \.outcome).mapValues(\.count), "seed \(seed)")
        #expect(
            summary.installations
                == Set(runs.compactMap { it.naive.histories[$0.leader.source].source.installation }).count)
        var errors: [RecordedError: Int] = [:]
        for case let error? in runs.map(\.closing?.closed.error) {
            errors[RecordedError(domain: error.domain, code: error.code), default: 0] += 1
        }
        #expect(
            summary.errors.reduce(into: [:]) { $0[RecordedError(domain: $1.domain, code: $1.code)] = $1.count }
                == errors)
        #expect(summary.errors.map(\.count) == errors.values.sorted(by: >))
        let whole = try it.ask(DurationQuestion(filter: TransactionFilter()))
        #expect(summary.duration == whole.total.statistics)
        let steps = Dictionary(grouping: runs) { $0.begun / 10_000 * 10_000 }
        #expect(summary.rates.map(\.startMicroseconds) == steps.keys.sorted())
        for rate in summary.rates {
            let outcomes = steps[rate.startMicroseconds, default: []].map(\.outcome)
            #expect(rate.runs == outcomes.count)
            #expect(rate.outcomes == Dictionary(grouping: outcomes, by: \.self).mapValues(\.count))
            #expect(
                rate.failed == outcomes.count { $0 == .failed } && rate.abandoned == outcomes.count { $0 == .abandoned }
            )
        }
    }

    @Test(arguments: seeds(100..<220)) func durationsAreExact(seed: Int) throws {
        var it = try Case(seed: seed)
        for _ in 0..<12 {
            let query = DurationQuestion(
                filter: it.filter, from: it.point(), to: it.point(), occurrence: it.random.oneIn(2) ? .first : .last,
                segmentation: it.random.oneIn(2) ? .appVersion : nil)
            guard let answer = try? it.ask(query) else {
                // The name is unknown. The store refuses it instead of answering with nothing.
                #expect(
                    [query.from, query.to].contains { point in isUnknown(point, it.naive) }, "seed \(seed): \(query)")
                continue
            }
            let runs = it.naive.begun
            #expect(answer.total.agrees(with: it.naive.durations(query, runs)), "seed \(seed): \(query)")
            guard query.segmentation != nil else { continue }
            let groups = Dictionary(grouping: runs) { it.naive.histories[$0.leader.source].source.appVersion }
            for segment in answer.segments {
                #expect(
                    segment.agrees(with: it.naive.durations(query, groups[segment.value ?? ""] ?? [])),
                    "seed \(seed): \(query)")
            }
            #expect(answer.segments.map(\.statistics.count).reduce(0, +) == answer.total.statistics.count)
        }
    }

    @Test(arguments: seeds(300..<380)) func transitionsAreExact(seed: Int) throws {
        let it = try Case(seed: seed)
        let answer = try it.ask(TransitionsQuestion(filter: it.filter))
        var durations: [[String]: [Int64]] = [:]
        for run in it.naive.begun {
            let points = it.naive.inOrder(run)
            for (from, to) in zip(points, points.dropFirst()) {
                durations[[from.name, to.name], default: []].append(it.naive.microseconds(from, to))
            }
        }
        #expect(answer.transitions.count == durations.count, "seed \(seed)")
        for transition in answer.transitions {
            #expect(
                transition.statistics == .naive(durations[[transition.from, transition.to]] ?? []),
                "seed \(seed): \(transition)")
        }
        #expect(answer.transitions.map(\.statistics.count) == durations.values.map(\.count).sorted(by: >))
    }

    @Test(arguments: seeds(400..<540)) func funnelsAreExact(seed: Int) throws {
        var it = try Case(seed: seed)
        for _ in 0..<12 {
            let known = it.points.filter { !isUnknown($0, it.naive) }
            var steps = it.random.oneIn(2) ? [TransactionPoint.begun] : []
            for _ in 0..<Int.random(in: 1...3, using: &it.random) {
                steps.append(known.randomElement(using: &it.random) ?? .begun)
            }
            let query = FunnelQuestion(
                filter: it.filter, steps: steps,
                window: it.random.oneIn(2) ? .microseconds(Int.random(in: 0...20_000, using: &it.random)) : nil,
                isStrict: it.random.oneIn(2))
            let answer = try it.ask(query)
            let taken = it.naive.begun.map { it.naive.funnel(query, $0) }
            #expect(answer.total.transactions == taken.count)
            for (index, step) in answer.total.steps.enumerated() {
                let reached = taken.filter { $0.count > index }
                let before = taken.count { $0.count >= index }
                #expect(step.reached == reached.count, "seed \(seed): \(query)")
                #expect(step.lost == before - reached.count, "seed \(seed): \(query)")
                #expect(
                    step.statistics == .naive(index == 0 ? [] : reached.map { $0[index] }), "seed \(seed): \(query)")
            }
        }
    }

    @Test(arguments: seeds(600..<660)) func whatTheyDidLastIsExact(seed: Int) throws {
        let it = try Case(seed: seed)
        let answer = try it.ask(DropOffQuestion(filter: it.filter))
        let runs = it.naive.begun.filter { [.abandoned, .interrupted, .timedOut].contains($0.outcome) }
        #expect(answer.transactions == runs.count, "seed \(seed)")
        let last = Dictionary(grouping: runs) { it.naive.inOrder($0).last?.name }
        #expect(answer.lastEvents.count == last.count)
        for event in answer.lastEvents {
            let group = last[event.event, default: []]
            #expect(event.count == group.count, "seed \(seed)")
            let durations = group.compactMap { run in
                it.naive.inOrder(run).last.map { it.naive.microseconds(run.begin, $0) }
            }
            #expect(event.statistics == .naive(durations), "seed \(seed)")
        }
    }

    /// In UTC, also before 1970, where rounding is in the other direction.
    @Test(arguments: [
        (Segmentation.day, ["1969-12-31", "2025-10-09"]), (.hour, ["1969-12-31T23:00Z", "2025-10-09T08:00Z"]),
    ]) func runsAreToldApartByTheirHourAndDay(segmentation: Segmentation, values: [String]) throws {
        let (store, place) = try Store.inMemory()
        for wall in [-1_500_000, FactWriter.wall] {
            let writer = FactWriter(wall: wall)
            writer.close(writer.open(GUID(), at: 1), .succeeded, at: 2)
            try store.ingest(TransactionSet(id: GUID(), sources: [writer.share()]))
        }
        let query = DurationQuestion(filter: TransactionFilter(), segmentation: segmentation)
        let answer = try StoreReader(place).answer(query, now: FactWriter.wall)
        #expect(answer.segments.map(\.value) == values)
        #expect(answer.segments.map(\.statistics.count) == [1, 1])
    }

    /// Whether no source of the use case knows the name, and it isn't a code either.
    private func isUnknown(_ point: TransactionPoint, _ naive: NaiveAnswers) -> Bool {
        guard case .event(let name) = point, Int(name.dropFirst(6)) == nil else { return false }
        return !naive.histories.contains { $0.names.contains { $0.name == name } && !$0.facts.isEmpty }
    }
}

extension DurationSegment {
    func agrees(with naive: (durations: [Int64], withoutEnd: Int, reversed: Int)) -> Bool {
        statistics == .naive(naive.durations) && withoutEnd == naive.withoutEnd && reversed == naive.reversed
            && histogram.map(\.count).reduce(0, +) == naive.durations.count { $0 >= 0 }
            && histogram.allSatisfy { bar in
                bar.count == naive.durations.count { $0 >= bar.fromMicroseconds && $0 < bar.toMicroseconds }
            }
    }
}

extension NaiveAnswers {
    /// The runs that a question covers by default: those with a known beginner.
    var begun: [Run] { runs.filter { passes(TransactionFilter(), $0) } }
}
