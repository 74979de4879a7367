import StoreConformance
import TestSupport
import Testing
import WaybillCore
import WaybillTesting

@testable import WaybillQueries
@testable import WaybillStore
@testable import WaybillStoreTests

/// Removes facts from histories. The remaining facts must bound the answers over the whole history.
@Suite(.timeLimit(.minutes(10))) struct CertifiedAnswerTests {
    /// Several histories, and a store that lacks some of their facts.
    private struct Case {
        let naive: NaiveAnswers
        let reader: StoreReader
        var random: RandomNumbers
        var filters: FilterMaker
        var now: Int64 { naive.now }

        /// - Parameter isContested: Whether several sources may begin one transaction.
        init(seed: Int, isContested: Bool) throws {
            var histories: [SourceHistory] = []
            random = RandomNumbers(seed: seed)
            for number in 0..<4 {
                var maker = HistoryMaker(seed: 10 * seed + number)
                histories += maker.histories()
            }
            for index in histories.indices { histories[index].refused = 0 }
            if !isContested { Self.beginOnce(&histories) }
            let ends = histories.flatMap { history in
                history.facts.map { $0.atMicroseconds + history.clocks[0].offsetMicroseconds }
            }
            naive = NaiveAnswers(
                histories: histories, now: (ends.max() ?? 0) + 960_000 + Int64.random(in: 0...60_000, using: &random))
            let (store, place) = try Store.inMemory()
            let rate = [3, 8, 20].randomElement(using: &random) ?? 3
            for history in histories {
                let share = Self.share(of: history, incompleteOneIn: rate, random: &random)
                try store.ingest(TransactionSet(id: random.guid(), sources: [share]))
            }
            reader = try StoreReader(place)
            filters = FilterMaker(random: random, naive: naive)
        }

        private static func beginOnce(_ histories: inout [SourceHistory]) {
            var begun: Set<GUID> = []
            for source in histories.indices {
                for fact in histories[source].facts.indices {
                    guard case .opened(var opened) = histories[source].facts[fact].content, !opened.isJoined,
                        !begun.insert(opened.transaction).inserted
                    else { continue }
                    (opened.isJoined, opened.parent, opened.parentPart) = (true, nil, nil)
                    histories[source].facts[fact].content = .opened(opened)
                }
            }
        }

        /// Returns the facts of a source that have arrived, usually all. The ledger counts the missing ones.
        private static func share(
            of history: SourceHistory, incompleteOneIn rate: Int, random: inout RandomNumbers
        ) -> TransactionSet.Share {
            var history = history
            let recorded = Int64(history.facts.count)
            var missing: Set<Int64> = []
            if recorded > 0, random.oneIn(rate) {
                for _ in 0..<Int.random(in: 1...2, using: &random) {
                    let first = random.oneIn(3) ? recorded : Int64.random(in: 1...recorded, using: &random)
                    let last = min(recorded, first + Int64.random(in: 0...2, using: &random))
                    missing.formUnion(first...last)
                    guard random.oneIn(3) else { continue }
                    let reason = [Ledger.DropReason.quota, .age, .damaged, .sampled].randomElement(using: &random)
                    if history.dropped.allSatisfy({ $0.last < first || $0.first > last }) {
                        history.dropped.append(DroppedRange(first: first, last: last, reason: reason ?? .age))
                    }
                }
                // The source may have ended without the store knowing.
                if random.oneIn(2) { (history.hasEnded, history.endedBy) = (false, nil) }
            }
            return TransactionSet.Share(
                source: history.source, clocks: history.clocks, hasEnded: history.hasEnded, endedBy: history.endedBy,
                names: history.names, ledger: Ledger(recorded: recorded),
                dropped: history.dropped.sorted { $0.first < $1.first },
                facts: history.facts.filter { !missing.contains($0.sequence) },
                sourceProof: IdentityProof("the secret of source \(history.source.id)"))
        }

        /// Returns the store's answer, with bounds from `owed`, or from the store's ledgers if that is `nil`.
        func ask(_ question: AnyQuestion, _ owed: OwedFacts? = nil) throws -> AnyAnswer {
            func ask<Asked: FoldedQuestion>(_ asked: Asked) throws -> AnyAnswer {
                let context = AnswerContext(reader: reader, now: now, owed: owed)
                return asked.answered(try reader.read { () throws(WaybillError) in try asked.answer(from: context) })
            }
            return try ask(question.asked)
        }

        func owed(_ question: AnyQuestion) throws -> OwedFacts {
            try OwedFacts(of: question.asked, AnswerContext(reader: reader, now: now))
        }

        mutating func questions(readsOnlyEnds: Bool) -> [AnyQuestion] {
            let points: [TransactionPoint] =
                readsOnlyEnds ? [.begun, .finished] : [.begun, .finished, .event("event 0"), .event("event 2")]
            func point() -> TransactionPoint { points.randomElement(using: &random) ?? .begun }
            func segmentation() -> Segmentation? {
                let fixed: [Segmentation?] = [nil, .appVersion, .app, .hour]
                let others: [Segmentation?] = [.attribute("user"), .attribute("yes"), .ended]
                return (readsOnlyEnds ? fixed : fixed + others).randomElement(using: &random) ?? nil
            }
            func filter() -> TransactionFilter {
                var filter = TransactionFilter([.useCase(3)])
                if readsOnlyEnds {
                    let begun = naive.runs.map(\.begun).sorted()
                    let since = begun.isEmpty ? 0 : begun[begun.count / 3]
                    let conditions: [FilterCondition] = [
                        .app("app 0"), .not(.appVersion("1.0")), .outcome([.succeeded, .failed]),
                        .sinceMicroseconds(since), .untilMicroseconds(since + 30_000),
                        .tookMoreThan(.microseconds(3_000)),
                    ]
                    if random.oneIn(2), let condition = conditions.randomElement(using: &random) {
                        filter.conditions.append(condition)
                    }
                } else if random.oneIn(2) {
                    filter.conditions += filters.filter().conditions
                }
                return filter
            }
            var summary = SummaryQuestion(filter: filter())
            var duration = DurationQuestion(
                filter: filter(), from: point(), to: point(), segmentation: segmentation())
            var funnel = FunnelQuestion(
                filter: filter(), steps: [point(), point()], isStrict: random.oneIn(3), segmentation: segmentation())
            let values: [(Segmentation, String?, String?)] =
                [(.appVersion, "1.0", "1.1"), (.app, "app 1", "app 0")]
                + (readsOnlyEnds ? [] : [(.attribute("user"), "1", "2"), (.attribute("yes"), nil, "true")])
            let (by, a, b) = values.randomElement(using: &random) ?? values[0]
            var compare = CompareQuestion(
                filter: filter(), groups: .values(of: by, a, b), from: point(), to: point())
            summary.isCertified = true
            duration.isCertified = true
            funnel.isCertified = true
            compare.isCertified = true
            return [.summary(summary), .duration(duration), .funnel(funnel), .compare(compare)]
        }
    }

    private struct Counts {
        /// The compared answers, those with missing facts, and those with broken bounds.
        var compared = 0
        var incomplete = 0
        var broken = 0
    }

    /// Asks questions about many histories, and counts the answers by question.
    private func trial(
        rounds: Int,
        narrowed: (OwedFacts) -> OwedFacts?, found: (Int, AnyQuestion, [String]) -> Void = { _, _, _ in }
    ) throws -> [AnyQuestion.Word: Counts] {
        var counts: [AnyQuestion.Word: Counts] = [:]
        for seed in seeds(70_000..<70_000 + rounds) {
            var it = try Case(seed: seed, isContested: !seed.isMultiple(of: 2))
            for question in it.questions(readsOnlyEnds: seed.isMultiple(of: 2)) {
                // A store without the name or value of a question returns no answer.
                guard let owed = try? it.owed(question), let bounds = try? it.ask(question, narrowed(owed)).bounds,
                    let whole = try? it.naive.answer(question)
                else { continue }
                counts[question.word, default: Counts()].compared += 1
                if owed.transactionCount > 0 { counts[question.word, default: Counts()].incomplete += 1 }
                let broken = brokenBounds(bounds, whole)
                if !broken.isEmpty { counts[question.word, default: Counts()].broken += 1 }
                found(seed, question, broken)
            }
        }
        return counts
    }

    /// Breaks when a missing fact changes more than the bounds allow, or changes a safe verdict.
    @Test func boundsHoldTheAnswerOverTheWholeHistory() throws {
        let counts = try trial(
            rounds: 1_200,
            narrowed: { _ in nil },
            found: { seed, question, broken in
                #expect(broken.isEmpty, "seed \(seed): \(question): \(broken)")
            })
        for word in [AnyQuestion.Word.summary, .duration, .funnel, .compare] {
            let count = try #require(counts[word])
            #expect(count.compared >= seeds(0..<500).count, "\(word): \(count)")
            #expect(count.incomplete >= seeds(0..<300).count, "\(word): \(count)")
        }
    }

    /// Breaks when the check above would not notice that a bound leaves out a part of the transactions.
    @Test func boundsThatAreTooNarrowAreNoticed() throws {
        let counts = try trial(rounds: 600) { owed in
            var narrowed = owed
            narrowed.transactionCount /= 8
            return narrowed
        }
        for word in [AnyQuestion.Word.summary, .duration, .funnel, .compare] {
            let count = try #require(counts[word])
            #expect(count.broken > 0, "\(word): \(count)")
        }
    }

    /// Returns the rows that exclude a number of the whole answer.
    private func brokenBounds(_ bounds: AnswerBounds, _ whole: AnyAnswer) -> [String] {
        let (numbers, verdicts) = WholeNumbers.of(whole)
        return bounds.rows.compactMap { row in
            let key = "\(row.subject)|\(row.measure)|\(row.unit.rawValue)"
            if row.isVerdictSafe == true, verdicts[key].map({ $0.now != $0.expected(row) }) ?? false {
                return "\(row), and the verdict is \(String(describing: verdicts[key]))"
            }
            // The whole has no entry for a count of 0.
            guard let number = numbers[key] ?? (row.unit == .count ? 0 : nil) else { return nil }
            // Rates are quotients, which differ in their last bits.
            let rest = 1e-9
            let isHeld = (row.low.map { $0 <= number + rest } ?? true) && (row.high.map { number <= $0 + rest } ?? true)
            return isHeld ? nil : "\(row), and the whole has \(number)"
        }
    }
}

/// The numbers of an answer, read from its members rather than from its bounds.
private enum WholeNumbers {
    struct Judgement {
        var now: Verdict

        /// The verdict that a safe row promises.
        func expected(_ row: AnswerBounds.Row) -> Verdict {
            if let low = row.worstLow, low > 0 { return .higher }
            if let high = row.worstHigh, high < 0 { return .lower }
            return .noise
        }
    }

    static func of(_ answer: AnyAnswer) -> (numbers: [String: Double], verdicts: [String: Judgement]) {
        var numbers: [String: Double] = [:]
        var verdicts: [String: Judgement] = [:]
        func add(_ subject: String, _ measure: String, _ unit: AnswerBounds.Unit, _ value: Double?) {
            numbers["\(subject)|\(measure)|\(unit.rawValue)"] = value
        }
        func add(_ subject: String, _ prefix: String, _ statistics: DurationStatistics) {
            let values = [
                ("p50", statistics.p50Microseconds), ("p75", statistics.p75Microseconds),
                ("p90", statistics.p90Microseconds), ("p95", statistics.p95Microseconds),
                ("p99", statistics.p99Microseconds),
            ]
            for (name, value) in values { add(subject, prefix + name, .microseconds, value.map(Double.init)) }
        }
        func segments<Segment>(_ answer: SegmentedAnswer<Segment>, _ value: KeyPath<Segment, String?>) -> [(
            String, Segment
        )] {
            [("all", answer.total)] + answer.segments.map { ($0[keyPath: value] ?? "(none)", $0) }
        }
        switch answer {
        case .summary(_, let answer):
            for useCase in answer.useCases {
                add(useCase.name, "runs", .count, Double(useCase.runs))
                for outcome in TransactionOutcome.allCases {
                    add(useCase.name, outcome.name, .count, Double(useCase.outcomes[outcome] ?? 0))
                }
                add(useCase.name, "", useCase.duration)
                add(useCase.name, "succeeded ", useCase.succeeded)
            }
        case .duration(_, let answer):
            for (name, segment) in segments(answer, \.value) {
                add(name, "count", .count, Double(segment.statistics.count))
                add(name, "", segment.statistics)
            }
        case .funnel(_, let answer):
            for (name, segment) in segments(answer, \.value) {
                add(name, "transactions", .count, Double(segment.transactions))
                for (number, step) in segment.steps.enumerated() {
                    let measure = "step \(number + 1), \(step.point)"
                    add(name, measure, .count, Double(step.reached))
                    guard segment.transactions > 0 else { continue }
                    add(name, "\(measure), of all", .rate, Double(step.reached) / Double(segment.transactions))
                }
            }
        case .compare(_, let answer):
            let (a, b) = (answer.a.value ?? "(none)", answer.b.value ?? "(none)")
            for rate in answer.rates {
                add(a, rate.measure.rawValue, .rate, rate.a.value)
                add(b, rate.measure.rawValue, .rate, rate.b.value)
                add("\(b) against \(a)", rate.measure.rawValue, .rateDifference, rate.difference.value)
                verdicts["\(b) against \(a)|\(rate.measure.rawValue)|rate_difference"] = Judgement(now: rate.verdict)
            }
            for quantile in answer.quantiles {
                let value = quantile.differenceMicroseconds.value.map(Double.init)
                add("\(b) against \(a)", "p\(quantile.percent)", .microsecondsDifference, value)
                verdicts["\(b) against \(a)|p\(quantile.percent)|microseconds_difference"] = Judgement(
                    now: quantile.verdict)
            }
        case .measure, .transitions, .dropOff, .legs, .network, .errors, .why: break
        }
        return (numbers, verdicts)
    }
}
