import Foundation
import Testing

@testable import WaybillCore
@testable import WaybillQueries

/// The JSON of questions and answers is public: `POST /v1/answers` accepts and returns it.
@Suite(.timeLimit(.minutes(5))) struct QuestionJSONTests {
    private static let logins = TransactionFilter([
        .useCase(0), .outcome([.timedOut]), .sinceMicroseconds(5), .text("x"), .not(.event("paid")),
    ])

    private static let failed = ExchangeFilter([
        .method(["GET"]), .status(400...499), .state([.inProgress]), .not(.host("example.com")),
    ])

    private static let filter =
        #""filter":{"beginner":"known","conditions":["-event:paid"],"order":"newest","outcomes":["timed_out"],"since_us":5,"text":"x","use_case":0}"#

    static var questions: [(AnyQuestion, String)] {
        var trend = DurationQuestion(filter: logins, segmentation: .appVersion)
        trend.step = .microseconds(7)
        return [
            (
                .duration(trend),
                #"{\#(filter),"from":"^","occurrence":"first","question":"duration","segmentation":"version","step_us":7,"to":"$"}"#
            ),
            (
                .summary(SummaryQuestion(filter: logins, step: .microseconds(7))),
                #"{\#(filter),"question":"summary","step_us":7}"#
            ),
            (
                .duration(
                    DurationQuestion(
                        filter: logins, from: .event("sent"), to: .finished, occurrence: .last,
                        segmentation: .attribute("app"))),
                #"{\#(filter),"from":"sent","occurrence":"last","question":"duration","segmentation":"attribute.app","to":"$"}"#
            ),
            (
                .measure(MeasureQuestion(filter: logins, attribute: "bytes", segmentation: .appVersion)),
                #"{"attribute":"bytes",\#(filter),"question":"measure","segmentation":"version"}"#
            ),
            (.transitions(TransitionsQuestion(filter: logins)), #"{\#(filter),"question":"transitions"}"#),
            (
                .funnel(
                    FunnelQuestion(
                        filter: logins, steps: [.begun, .event("sent")], window: .microseconds(9), isStrict: true)),
                #"{\#(filter),"is_strict":true,"question":"funnel","steps":["^","sent"],"window_us":9}"#
            ),
            (.dropOff(DropOffQuestion(filter: logins)), #"{\#(filter),"question":"dropoff"}"#),
            (
                .legs(LegsQuestion(filter: logins, segmentation: .os)),
                #"{\#(filter),"question":"legs","segmentation":"os"}"#
            ),
            (
                .network(NetworkQuestion(filter: failed, grouping: .method, exampleCount: 1)),
                #"{"example_count":1,"filter":{"conditions":["-host:example.com"],"methods":["GET"],"outcomes":[],"states":["in_progress"],"statuses":[400,499]},"#
                    + #""grouping":"method","limit":2000,"question":"network","sort":"count","templates":[]}"#
            ),
            (
                .errors(
                    ErrorsQuestion(
                        filter: logins, newSince: Date(microseconds: 9), order: .new, limit: 3, step: .microseconds(7))),
                #"{\#(filter),"limit":3,"new_since_us":9,"order":"new","question":"errors","step_us":7}"#
            ),
            (
                .why(WhyQuestion(filter: logins, limit: 3)), #"{\#(filter),"limit":3,"question":"why"}"#
            ),
            (
                .compare(CompareQuestion(filter: logins, groups: .values(of: .appVersion, nil, "2.0"))),
                #"{\#(filter),"from":"^","groups":{"b":"2.0","segmentation":"version"},"occurrence":"first","question":"compare","to":"$"}"#
            ),
            (
                .compare(
                    CompareQuestion(
                        filter: logins, groups: .windows(Range(microseconds: 1..<2), Range(microseconds: 3..<4)))),
                #"{\#(filter),"from":"^","groups":{"a_since_us":1,"a_until_us":2,"b_since_us":3,"b_until_us":4},"occurrence":"first","#
                    + #""question":"compare","to":"$"}"#
            ),
        ]
    }

    @Test(arguments: questions) func aQuestionIsWrittenAndReadAsThis(query: AnyQuestion, json: String) throws {
        #expect(String(decoding: try JSONEncoder.waybill().encode(query), as: UTF8.self) == json)
        #expect(try JSONDecoder.waybill().decode(AnyQuestion.self, from: Data(json.utf8)) == query)
    }

    @Test(arguments: [
        (#"{"question":"summary"}"#, AnyQuestion.summary(SummaryQuestion())),
        (#"{"question":"duration"}"#, .duration(DurationQuestion(filter: TransactionFilter()))),
        (#"{"attribute":"bytes","question":"measure"}"#, .measure(MeasureQuestion(attribute: "bytes"))),
        (#"{"question":"transitions","filter":{}}"#, .transitions(TransitionsQuestion(filter: TransactionFilter()))),
        (
            #"{"question":"funnel","steps":["^"]}"#,
            .funnel(FunnelQuestion(filter: TransactionFilter(), steps: [.begun]))
        ),
        (#"{"question":"dropoff"}"#, .dropOff(DropOffQuestion(filter: TransactionFilter()))),
        (#"{"question":"legs"}"#, .legs(LegsQuestion(filter: TransactionFilter()))),
        (#"{"question":"network","filter":{}}"#, .network(NetworkQuestion())),
        (
            #"{"question":"compare","groups":{"segmentation":"day"}}"#,
            .compare(CompareQuestion(filter: TransactionFilter(), groups: .values(of: .day, nil, nil)))
        ),
    ])
    func whatIsLeftOutIsAsByDefault(json: String, query: AnyQuestion) throws {
        #expect(try JSONDecoder.waybill().decode(AnyQuestion.self, from: Data(json.utf8)) == query)
    }

    private static let statistics: DurationStatistics = {
        var values: [Int64] = [1, 2, 3]
        return DurationStatistics(&values)
    }()
    private static let numbers =
        #"{"count":3,"maximum_us":3,"mean_us":2,"minimum_us":1,"p50_us":2,"p75_us":3,"p90_us":3,"p95_us":3,"p99_us":3}"#

    static var answers: [(AnyAnswer, String)] {
        let useCase = UseCaseSummary(
            useCase: 0, name: "login", runs: 2, outcomes: [.failed: 1, .timedOut: 1],
            errors: [.init(domain: "E", code: 3, count: 1)],
            installations: 1, rates: [.init(start: Date(microseconds: 5), outcomes: [.failed: 1, .timedOut: 1])],
            duration: statistics, succeeded: statistics)
        let segment = DurationSegment(
            value: "B", statistics: statistics, withoutEnd: 1, reversed: 0, outcomes: [.failed: 3],
            histogram: [.init(from: .microseconds(1), to: .microseconds(2), count: 3)],
            steps: [
                .init(
                    start: Date(microseconds: 5), statistics: statistics, withoutEnd: 1, reversed: 0,
                    outcomes: [.failed: 3])
            ])
        let segmentJSON =
            #""histogram":[{"count":3,"from_us":1,"to_us":2}],"outcomes":{"failed":3},"reversed":0,"statistics":\#(numbers),"#
            + #""steps":[{"outcomes":{"failed":3},"reversed":0,"start_us":5,"statistics":\#(numbers),"without_end":1}],"value":"B","without_end":1"#
        let steps = FunnelSegment(
            value: nil, transactions: 4, steps: [.init(point: .finished, reached: 3, lost: 1, statistics: statistics)])
        let stepsJSON = #"{"steps":[{"lost":1,"point":"$","reached":3,"statistics":\#(numbers)}],"transactions":4}"#
        let legs = LegsSegment(
            value: nil, legs: [.init(leg: .clientBefore, total: .microseconds(6), statistics: statistics)],
            duration: statistics,
            withoutEnd: 1, withoutExchange: 2, withoutServer: 3, withoutSplit: 4, uncertainty: statistics)
        let legsJSON =
            #"{"duration":\#(numbers),"legs":[{"leg":"client_before","statistics":\#(numbers),"total_us":6}],"uncertainty":\#(numbers),"#
            + #""without_end":1,"without_exchange":2,"without_server":3,"without_split":4}"#
        let compared = CompareAnswer(
            a: .init(value: "A", transactions: 4, ended: 3, statistics: statistics),
            b: .init(value: nil, transactions: 3, ended: 3, statistics: statistics),
            rates: [
                RateComparison(
                    measure: .failed, aCount: 1, bCount: 2, a: Estimate(value: 0.25, low: 0.125, high: 0.5),
                    b: Estimate(value: 0.5, low: 0.25, high: 0.75),
                    difference: Estimate(value: 0.25, low: -0.5, high: 0.5),
                    verdict: .noise,
                    sentence: "As often.")
            ],
            quantiles: [
                QuantileComparison(
                    percent: 50, aMicroseconds: Estimate(value: 2, low: 1, high: nil),
                    bMicroseconds: Estimate(value: 3, low: nil, high: nil),
                    differenceMicroseconds: Estimate(value: 1, low: nil, high: nil), verdict: .tooFew,
                    sentence: "Too few.")
            ])
        let comparedJSON =
            #""a":{"ended":3,"statistics":\#(numbers),"transactions":4,"value":"A"},"b":{"ended":3,"statistics":\#(numbers),"transactions":3},"#
            + #""quantiles":[{"a_us":{"low":1,"value":2},"b_us":{"value":3},"difference_us":{"value":1},"percent":50,"sentence":"Too few.","#
            + #""verdict":"too_few"}],"question":"compare","rates":[{"a":{"high":0.5,"low":0.125,"value":0.25},"a_count":1,"#
            + #""b":{"high":0.75,"low":0.25,"value":0.5},"b_count":2,"difference":{"high":0.5,"low":-0.5,"value":0.25},"measure":"failed","#
            + #""sentence":"As often.","verdict":"noise"}]"#
        let all = TransactionFilter()
        return [
            (
                .compare(
                    CompareQuestion(
                        filter: all, groups: .windows(Range(microseconds: 1..<2), Range(microseconds: 3..<4))), compared
                ),
                "{\(comparedJSON)}"
            ),
            (
                .legs(LegsQuestion(filter: all), LegsAnswer(total: legs, segments: [])),
                #"{"question":"legs","segments":[],"total":\#(legsJSON)}"#
            ),
            (
                .summary(SummaryQuestion(), SummaryAnswer(useCases: [useCase])),
                #"{"question":"summary","use_cases":[{"duration":\#(numbers),"errors":[{"code":3,"count":1,"domain":"E"}],"#
                    + #""installations":1,"name":"login","outcomes":{"failed":1,"timed_out":1},"rates":[{"abandoned":0,"failed":1,"#
                    + #""outcomes":{"failed":1,"timed_out":1},"runs":2,"start_us":5}],"runs":2,"succeeded":\#(numbers),"use_case":0}]}"#
            ),
            (
                .duration(DurationQuestion(filter: all), DurationAnswer(total: segment, segments: [])),
                #"{"question":"duration","segments":[],"total":{\#(segmentJSON)}}"#
            ),
            (
                .transitions(
                    TransitionsQuestion(filter: all),
                    TransitionsAnswer(transitions: [.init(from: "a", to: "b", statistics: statistics)])),
                #"{"question":"transitions","transitions":[{"from":"a","statistics":\#(numbers),"to":"b"}]}"#
            ),
            (
                .funnel(FunnelQuestion(filter: all, steps: [.begun]), FunnelAnswer(total: steps, segments: [steps])),
                #"{"question":"funnel","segments":[\#(stepsJSON)],"total":\#(stepsJSON)}"#
            ),
            (
                .dropOff(
                    DropOffQuestion(filter: all),
                    DropOffAnswer(transactions: 3, lastEvents: [.init(event: nil, count: 3, statistics: statistics)])),
                #"{"last_events":[{"count":3,"statistics":\#(numbers)}],"question":"dropoff","transactions":3}"#
            ),
            (
                .errors(
                    ErrorsQuestion(),
                    ErrorsAnswer(
                        errors: [
                            .init(
                                error: RecordedError(domain: "E", code: 3, name: "x", underlying: [.init(code: 4)]),
                                useCases: [.init(useCase: 0, name: "login")], count: 1, transactions: 2, users: 1,
                                installations: 1, first: Date(microseconds: 5), last: Date(microseconds: 6),
                                versions: ["1"], rates: [.init(start: Date(microseconds: 0), count: 1)], isNew: true)
                        ], errorCount: 7)),
                #"{"error_count":7,"errors":[{"count":1,"error":{"code":3,"domain":"E","name":"x","underlying":[{"code":4,"domain":""}]},"#
                    + #""first_us":5,"installations":1,"is_new":true,"last_us":6,"rates":[{"count":1,"start_us":0}],"transactions":2,"#
                    + #""use_cases":[{"name":"login","use_case":0}],"users":1,"versions":["1"]}],"question":"errors"}"#
            ),
            (
                .why(
                    WhyQuestion(filter: all),
                    WhyAnswer(
                        chosen: 2, others: 3, comparisons: 4,
                        differences: [
                            .init(
                                trait: .init(.attribute, name: "variant", value: "B"), chosenCount: 1, otherCount: 0,
                                chosen: Estimate(value: 0.5, low: 0.25, high: 0.75),
                                others: Estimate(value: 0, low: 0, high: 0.5),
                                difference: Estimate(value: 0.5, low: 0.125, high: 0.75), sentence: "More.")
                        ])),
                #"{"chosen":2,"comparisons":4,"differences":[{"chosen":{"high":0.75,"low":0.25,"value":0.5},"chosen_count":1,"#
                    + #""difference":{"high":0.75,"low":0.125,"value":0.5},"other_count":0,"others":{"high":0.5,"low":0,"value":0},"#
                    + #""sentence":"More.","trait":{"kind":"attribute","name":"variant","value":"B"}}],"others":3,"question":"why"}"#
            ),
            (
                .network(NetworkQuestion(), NetworkAnswer(exchanges: 0, groups: [], whyEmpty: "None.")),
                #"{"exchanges":0,"groups":[],"other":[],"question":"network","why_empty":"None."}"#
            ),
        ]
    }

    @Test(arguments: answers) func anAnswerIsWrittenAndReadAsThis(answer: AnyAnswer, json: String) throws {
        #expect(String(decoding: try JSONEncoder.waybill().encode(answer), as: UTF8.self) == json)
        #expect(try answer.question.answer(json: Data(json.utf8)) == answer)
    }

    /// Breaks when Swift and JSON have different times.
    @Test func datesAndDurationsAreTheMicrosecondsOfTheJSON() {
        var summary = SummaryQuestion()
        #expect(summary.step == .seconds(86_400) && summary.stepMicroseconds == 86_400_000_000)
        summary.step = .milliseconds(1)
        #expect(summary.stepMicroseconds == 1_000)
        var funnel = FunnelQuestion(filter: TransactionFilter(), steps: [], window: .seconds(2))
        #expect(funnel.window == .seconds(2) && funnel.windowMicroseconds == 2_000_000)
        funnel.window = nil
        #expect(funnel.windowMicroseconds == nil)
        let now: Int64 = 1_760_000_000_000_001
        let example = NetworkGroup.Example(
            id: FactID(source: GUID(), sequence: 1), transaction: nil, opened: Date(microseconds: now),
            duration: .microseconds(3),
            status: nil, error: nil)
        #expect((example.openedMicroseconds, example.durationMicroseconds) == (now, 3))
        #expect((example.opened, example.duration) == (Date(microseconds: now), .microseconds(3)))
        #expect(UseCaseSummary.Rate(start: Date(microseconds: now), outcomes: [:]).start == Date(microseconds: now))
        let bar = DurationSegment.Bar(from: .milliseconds(1), to: .milliseconds(2), count: 1)
        #expect((bar.from, bar.to, bar.toMicroseconds) == (.milliseconds(1), .milliseconds(2), 2_000))
        let quantile = QuantileComparison(
            percent: 50, aMicroseconds: Estimate(value: 2_000, low: 1_000, high: nil),
            bMicroseconds: Estimate(value: 1_000, low: nil, high: 4_000),
            differenceMicroseconds: Estimate(value: -1_000, low: nil, high: nil), verdict: .tooFew, sentence: "")
        #expect(quantile.a == Estimate(value: .milliseconds(2), low: .milliseconds(1), high: nil))
        #expect(quantile.b == Estimate(value: .milliseconds(1), low: nil, high: .milliseconds(4)))
        #expect(quantile.difference == Estimate(value: .milliseconds(-1), low: nil, high: nil))
    }

    @Test(arguments: TransactionOutcome.allCases) func countsByOutcomeComeBack(outcome: TransactionOutcome) throws {
        let data = try JSONEncoder.waybill().encode([outcome: 1])
        #expect(String(decoding: data, as: UTF8.self) == "{\"\(outcome.name)\":1}")
        #expect(try JSONDecoder.waybill().decode([TransactionOutcome: Int].self, from: data) == [outcome: 1])
    }

    @Test(arguments: ExchangeRecord.State.allCases) func countsByStateComeBack(state: ExchangeRecord.State) throws {
        let data = try JSONEncoder.waybill().encode([state: 1])
        #expect(String(decoding: data, as: UTF8.self) == "{\"\(state.rawValue)\":1}")
        #expect(try JSONDecoder.waybill().decode([ExchangeRecord.State: Int].self, from: data) == [state: 1])
    }

    @Test(arguments: [
        "{}", "[]", #"{"question":"how"}"#, #"{"question":"funnel"}"#, #"{"question":"compare","groups":{}}"#,
        #"{"question":"compare","groups":{"a_since_us":2,"a_until_us":1,"b_since_us":3,"b_until_us":4}}"#,
        #"{"question":"duration","occurrence":"middle"}"#, #"{"question":"network","filter":{"statuses":[499,400]}}"#,
    ])
    func whatIsNoQuestionIsAnError(json: String) {
        #expect(throws: DecodingError.self) {
            try JSONDecoder.waybill().decode(AnyQuestion.self, from: Data(json.utf8))
        }
    }

    @Test func theAnswerToAnotherQuestionIsAnError() throws {
        let json = try JSONEncoder.waybill().encode(AnyAnswer.summary(SummaryQuestion(), SummaryAnswer(useCases: [])))
        #expect(throws: WaybillError.self) {
            try AnyQuestion.dropOff(DropOffQuestion(filter: TransactionFilter())).answer(json: json)
        }
    }
}
