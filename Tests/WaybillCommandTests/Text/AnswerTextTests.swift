#if Collector
import Foundation
import Testing
@testable import WaybillQueries
@testable import WaybillCommand
import WaybillCore
@testable import WaybillExport

/// Answers as tables.
@Suite(.timeLimit(.minutes(5))) struct AnswerTextTests {
    /// Answers with long and wide names, and times from microseconds to days.
    static var answers: [AnyAnswer] {
        let name = "zahlungsbestätigungAbgeschlossen登録済みリクエスト"
        let filter = TransactionFilter()
        let spread = statistics([1, 900, 15_000, 2_000_000, 90_000_000_000])
        func segment(_ value: String?) -> DurationSegment {
            var durations = Durations()
            for value: Int64 in [15_000, 18_000, 250_000, 2_000_000] { durations.append(value) }
            return DurationSegment(
                value: value, statistics: DurationStatistics(&durations), withoutEnd: 3, reversed: 1,
                outcomes: [.succeeded: 3, .abandoned: 1],
                histogram: [DurationSegment.Bar](of: durations),
                steps: (0..<3).map { day in
                    DurationSegment.Step(
                        start: Date(microseconds: 1_772_323_200_000_000 + day * 86_400_000_000),
                        statistics: statistics([15_000, 90_000_000_000]), withoutEnd: 3, reversed: 1,
                        outcomes: [.succeeded: 3, .abandoned: 1])
                })
        }
        var trend = DurationQuestion(filter: filter, segmentation: .appVersion)
        trend.step = .seconds(86_400)
        func steps(_ value: String?) -> FunnelSegment {
            FunnelSegment(
                value: value, transactions: 1000,
                steps: [(TransactionPoint.begun, 1000, 0), (.event(name), 617, 383), (.finished, 3, 614)].map {
                    .init(point: $0.0, reached: $0.1, lost: $0.2, statistics: $0.1 == 1000 ? statistics([]) : spread)
                })
        }
        let summaries = [name, "login"].map { name in
            UseCaseSummary(
                useCase: 0, name: name, runs: 123_456, outcomes: [.succeeded: 100_000, .failed: 23_455, .timedOut: 1],
                errors: (0..<9).map { .init(domain: name, code: Int64($0), count: 10 + $0) }, installations: 99_999,
                rates: [0, 1, 200].map {
                    .init(start: Date(microseconds: $0 * 86_400_000_000), outcomes: [.succeeded: Int($0) + 1])
                },
                duration: spread, succeeded: spread)
        }
        return [
            .summary(SummaryQuestion(), SummaryAnswer(useCases: summaries)),
            .duration(
                DurationQuestion(filter: filter, from: .event(name), segmentation: .attribute(name)),
                DurationAnswer(total: segment(nil), segments: [segment(nil), segment(name), segment("B")])),
            .duration(trend, DurationAnswer(total: segment(nil), segments: [segment(nil), segment(name)])),
            .measure(
                MeasureQuestion(filter: filter, attribute: name, segmentation: .attribute(name)),
                MeasureAnswer(total: measured(nil), segments: [measured(nil), measured(name)])),
            .transitions(
                TransitionsQuestion(filter: filter),
                TransitionsAnswer(transitions: [
                    .init(from: name, to: name, statistics: spread), .init(from: "a", to: name, statistics: spread),
                ])),
            .funnel(
                FunnelQuestion(
                    filter: filter, steps: [.begun, .event(name), .finished], segmentation: .attribute("variant")),
                FunnelAnswer(total: steps(nil), segments: [steps(nil), steps("B")])),
            .dropOff(
                DropOffQuestion(filter: filter),
                DropOffAnswer(
                    transactions: 7,
                    lastEvents: [
                        .init(event: name, count: 5, statistics: spread),
                        .init(event: nil, count: 2, statistics: statistics([])),
                    ])),
            .network(NetworkQuestion(), NetworkAnswer(exchanges: 20, groups: [timedOut])),
            .why(
                WhyQuestion(filter: filter),
                WhyAnswer(
                    chosen: 12_345, others: 123_456, comparisons: 1_234,
                    differences: WhyAnswer.Trait.Kind.allCases.map { kind in
                        .init(
                            trait: .init(kind, name: name, value: name), chosenCount: 1_234, otherCount: 99_999,
                            chosen: Estimate(value: 0.5, low: 0.4, high: 0.6),
                            others: Estimate(value: 0.1, low: 0, high: 0.2),
                            difference: Estimate(value: 0.4, low: 0.31, high: 0.49), sentence: "\(name) differs.")
                    })),
            .errors(
                ErrorsQuestion(newSince: Date(microseconds: 0)),
                ErrorsAnswer(errors: [error(name, users: 0), error("rejected", users: 12_345)], errorCount: 3)),
        ]
    }

    private static func error(_ name: String, users: Int) -> ErrorsAnswer.Entry {
        ErrorsAnswer.Entry(
            error: RecordedError(
                domain: "LoginError", code: 3, name: name, underlying: [.init(domain: name, code: -1001)]),
            useCases: [.init(useCase: 0, name: name), .init(useCase: 1, name: "login")], count: 1_234,
            transactions: 99_999, users: users, installations: 12_345, first: Date(microseconds: 1_760_000_000_000_000),
            last: Date(microseconds: 1_770_000_000_000_000), versions: ["1.2.3 (456)", "2.0", "2.1 (1024)"],
            rates: (0..<40).map {
                .init(start: Date(microseconds: 1_760_000_000_000_000 + $0 * 86_400_000_000), count: Int($0))
            }, isNew: true)
    }

    private static func measured(_ value: String?) -> MeasureSegment {
        MeasureSegment(
            value: value, statistics: NumberStatistics([(1_048_576, 1_000_000), (0.123456789, 3_000_000)]), without: 2)
    }

    /// Three quick requests, and 16 that took the whole timeout.
    private static let timedOut = NetworkGroup(
        role: .client, host: "api.example.com", path: "/login", method: "POST", count: 20,
        statuses: NetworkGroup.StatusCounts(), states: [.completed: 3, .failed: 16, .cancelled: 1],
        failingCount: 16, timeoutCount: 16, errors: [.init(domain: "NSURLErrorDomain", code: -1001, count: 16)],
        firstByte: statistics([]), succeeded: statistics([1_000, 2_000, 360_000]),
        all: statistics([1_000, 2_000, 360_000] + [Int64](repeating: 30_000_000, count: 16)),
        whole: statistics([1_000, 2_000, 360_000]),
        failed: statistics([Int64](repeating: 30_000_000, count: 16)), sentByteCount: 0, receivedByteCount: 0,
        firstOpened: Date(timeIntervalSince1970: 0), lastOpened: Date(timeIntervalSince1970: 1), slowest: [],
        failing: [])

    /// Breaks when a table shows a p99 of 360 ms without saying that four of five requests failed after thirty seconds.
    @Test func timeoutsAreToldBesideThePercentilesThatDoNotCountThem() {
        let answer = AnyAnswer.network(NetworkQuestion(), NetworkAnswer(exchanges: 20, groups: [Self.timedOut]))
        let lines = Redactor.off.redacted(answer).lines(about: "", Palette(isColored: false), width: 200)
        #expect(lines.contains("p50, p95 and p99 are of successes. “All” also counts errors and timeouts."))
        #expect(lines.contains { $0.contains("TIMEOUTS") } && lines.contains { $0.contains("80.0 %") })
        #expect(lines.contains("Cancelled ones (1) count in neither."))
        #expect(lines.contains { $0.contains("POST api.example.com/login: 16, p50 30.00 s, at most 30.00 s") })
        let csv = String(decoding: Redactor.off.redacted(answer).csv, as: UTF8.self)
        #expect(csv.contains("failed_p99_us") && csv.contains(",16,30000000,"))
    }

    /// Breaks when a reader takes a percentile of all transactions for one of the successes.
    @Test func durationsSayWhichOutcomesTheyCount() {
        for answer in Self.answers {
            let lines = Redactor.off.redacted(answer).lines(about: "login", Palette(isColored: false), width: 200)
            switch answer {
            case .summary: #expect(!lines[0].contains("P95"), "No times, and so none that could mislead.")
            case .duration:
                #expect(lines.contains { $0.hasPrefix("Counted by how they ended: 3 succeeded, 1 abandoned.") })
            case .measure, .network, .errors, .why: #expect(answer.outcomesSentence == nil)
            case .transitions, .funnel, .dropOff, .legs, .compare:
                #expect(answer.outcomesSentence?.hasPrefix("Times are of transactions with any outcome.") == true)
            }
        }
    }

    /// Breaks when the answer doesn't show when a version first appeared, or how its first days went.
    @Test func anAnswerWithStepsSaysWhenEachVersionWasFirstSeen() throws {
        let answer = try #require(
            Self.answers.first { if case .duration(let question, _) = $0 { question.step != nil } else { false } })
        let lines = lines(answer, width: 80)
        #expect(lines.contains { $0.contains("FIRST SEEN") && $0.contains("P95") })
        #expect(lines.contains { $0.hasPrefix("all ") && $0.contains("2026-03-01") })
        #expect(lines.contains("version (none), 4 transactions"))
        #expect(lines.count { $0.hasPrefix("2026-03-03") } == 3, "each segment has its last day")
        let csv = String(decoding: Redactor.off.redacted(answer).csv, as: UTF8.self).split(separator: "\r\n")
        #expect(csv[0].hasPrefix("segment,start,count,min_us,p50_us"))
        #expect(csv.count { $0.hasPrefix("all,2026-03-0") } == 3 && csv.count { $0.hasPrefix("all,,") } == 1)
    }

    private static func statistics(_ values: [Int64]) -> DurationStatistics {
        var values = values
        return DurationStatistics(&values)
    }

    private func lines(_ answer: AnyAnswer, width: Int, isColored: Bool = false) -> [String] {
        Redactor.off.redacted(answer).lines(about: "login", Palette(isColored: isColored), width: width)
    }

    @Test(arguments: answers, [80, 100, 200]) func tablesHaveRoom(answer: AnyAnswer, width: Int) {
        // Sentences may be wider, because they wrap; tables must fit.
        let tables = lines(answer, width: width).drop { !$0.isEmpty }.filter {
            !$0.contains(" had ") && !$0.hasPrefix("zahlung") && !$0.hasPrefix("Counted by ")
        }
        for line in tables { #expect(line.columnCount <= width, "\(line)") }
        #expect(tables.count > 2)
    }

    /// Breaks when a collector that sends an impossible count ends the command that asked it.
    @Test(arguments: [Int.min, -1, 0]) func aCountBelowTheRowsLeavesNoneOut(count: Int) {
        let answer = ErrorsAnswer(errors: [Self.error("rejected", users: 1)], errorCount: count)
        #expect(answer.moreCount == 0)
        #expect(!lines(.errors(ErrorsQuestion(), answer), width: 80).isEmpty)
    }

    /// Breaks when people read “Shop.Lo…” beside the whole name of a use case.
    @Test func aNarrowTerminalShowsTheWholeErrorLongest() {
        let summaries = ["signInWithAnAccountOfAnotherService", "signUp"].map { name in
            UseCaseSummary(
                useCase: 0, name: name, runs: 10, outcomes: [.failed: 10],
                errors: [.init(domain: "Shop.LoginFlow.WrongPasswordError", code: 401, count: 10)], installations: 1,
                rates: [], duration: Self.statistics([]), succeeded: Self.statistics([]))
        }
        let answer = AnyAnswer.summary(SummaryQuestion(), SummaryAnswer(useCases: summaries))
        let errors = lines(answer, width: 80).filter { $0.contains("Shop.LoginFlow.WrongPasswordError 401  ") }
        #expect(errors.count == 2 && errors.allSatisfy { $0.columnCount <= 80 })
        let narrow = lines(answer, width: 54).filter { $0.contains("Shop.LoginFlow.WrongPasswordError 401  ") }
        #expect(narrow.count == 2 && narrow.contains { $0.hasPrefix("signInW…  ") })
    }

    @Test(arguments: answers) func coloursChangeNothingButColours(answer: AnyAnswer) {
        let colored = lines(answer, width: 80, isColored: true)
        #expect(colored.map { $0.replacing(#/\u{1B}\[\d+m/#, with: "") } == lines(answer, width: 80))
    }

    @Test(arguments: answers) func everyRowOfCSVHasEveryColumn(answer: AnyAnswer) {
        let tables = Redactor.off.redacted(answer).tables()
        #expect(!tables[0].rows.isEmpty)
        for table in tables { #expect(table.rows.allSatisfy { $0.cells.count == table.columns.count }) }
        let lines = String(decoding: Redactor.off.redacted(answer).csv, as: UTF8.self).split(separator: "\r\n")
        let commas = lines[0].count { $0 == "," }
        #expect(lines.count > 1 && lines.allSatisfy { $0.count { $0 == "," } == commas })
    }
}
#endif
