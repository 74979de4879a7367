import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillStore

@testable import WaybillExport
@testable import WaybillInspector
@testable import WaybillQueries

/// The pages of use cases, made from values.
@Suite(.timeLimit(.minutes(5))) struct UseCasePageTests {
    private let frame = InspectorFrame(store: "waybill", isLoggedIn: true, timeZone: .gmt)
    private let filter = TransactionFilter()

    private static func statistics(_ values: [Int64]) -> DurationStatistics {
        var values = values
        return DurationStatistics(&values)
    }

    private func summary(_ name: String, code: Int = 0) -> UseCaseSummary {
        UseCaseSummary(
            useCase: code, name: name, runs: 40, outcomes: [.succeeded: 25, .failed: 12, .open: 3],
            errors: [.init(domain: name, code: 401, count: 9), .init(domain: "", code: 7, count: 3)], installations: 5,
            rates: [
                .init(start: Date(microseconds: LoginHistory.begun), outcomes: [.succeeded: 25, .failed: 2]),
                .init(
                    start: Date(microseconds: LoginHistory.begun + 7_200_000_000), outcomes: [.failed: 10, .open: 3]),
            ], duration: Self.statistics([15_000, 20_000, 90_000]), succeeded: Self.statistics([15_000, 20_000]))
    }

    private func segment(_ values: [Int64]) -> DurationSegment {
        var durations = Durations()
        for value in values { durations.append(value) }
        return DurationSegment(
            value: nil, statistics: DurationStatistics(&durations), withoutEnd: 4, reversed: 1, outcomes: [:],
            histogram: [DurationSegment.Bar](of: durations))
    }

    private func answers(_ name: String) -> [(UseCaseView, AnyAnswer)] {
        let spread = Self.statistics([1000, 2000, 3000])
        let steps = [(TransactionPoint.begun, 40, 0), (.event(name), 30, 10), (.finished, 25, 5)].map {
            FunnelSegment.Step(point: $0.0, reached: $0.1, lost: $0.2, statistics: spread)
        }
        let legs = Leg.allCases.map { LegsSegment.Share(leg: $0, total: .milliseconds(1), statistics: spread) }
        var (a, b) = (ComparedSample(value: name), ComparedSample(value: nil))
        for index in 0..<60 {
            a.add(index < 40 ? .succeeded : .failed, duration: 1000 + Int64(index))
            b.add(index < 55 ? .succeeded : .failed, duration: 5000 + Int64(index))
        }
        let groups = CompareQuestion.Groups.values(of: .attribute("variant"), name, nil)
        return [
            (.overview, .summary(SummaryQuestion(), SummaryAnswer(useCases: [summary(name)]))),
            (
                .duration,
                .duration(
                    DurationQuestion(filter: filter, from: .event(name)),
                    DurationAnswer(total: segment([15_000, 20_000, 90_000]), segments: []))
            ),
            (
                .funnel,
                .funnel(
                    FunnelQuestion(filter: filter, steps: steps.map(\.point)),
                    FunnelAnswer(total: FunnelSegment(value: nil, transactions: 40, steps: steps), segments: []))
            ),
            (
                .dropOff,
                .dropOff(
                    DropOffQuestion(filter: filter),
                    DropOffAnswer(
                        transactions: 7,
                        lastEvents: [
                            .init(event: name, count: 5, statistics: spread),
                            .init(event: nil, count: 2, statistics: spread),
                        ]))
            ),
            (
                .legs,
                .legs(
                    LegsQuestion(filter: filter),
                    LegsAnswer(
                        total: LegsSegment(
                            value: nil, legs: legs, duration: spread, withoutEnd: 1, withoutExchange: 2,
                            withoutServer: 3,
                            withoutSplit: 4, uncertainty: spread), segments: []))
            ),
            (.compare, .compare(CompareQuestion(filter: filter, groups: groups), CompareAnswer(a, b))),
            (
                .why,
                .why(
                    WhyQuestion(filter: filter),
                    WhyAnswer(
                        chosen: 9, others: 90, comparisons: 20,
                        differences: [
                            .init(
                                trait: .init(.attribute, name: name, value: name), chosenCount: 8, otherCount: 1,
                                chosen: Estimate(value: 0.9, low: 0.5, high: 1),
                                others: Estimate(value: 0, low: 0, high: .nan),
                                difference: Estimate(value: 0.9, low: 0.3, high: .infinity), sentence: name)
                        ]))
            ),
        ]
    }

    private func page(
        _ view: UseCaseView, _ answers: [AnyAnswer], _ items: [(name: String, value: String)] = [],
        mistake: String? = nil
    ) -> String {
        let useCase = UseCaseReference(code: 0, among: unredacted([RecordedName(useCase: 0, name: "login")]))
        return UseCasePage(
            useCase: useCase, view: view, answers: answers.map(unredacted), events: ["requestSent"],
            frame: frame.at(items, root: view == .overview ? "../" : "../../", mistake: mistake)
        ).html.text
    }

    @Test func whateverWasRecordedStaysTextOnThePagesOfUseCases() {
        for name in HostileText.corpus {
            let names = unredacted([
                RecordedName(useCase: 0, name: name), RecordedName(useCase: 0, event: 1, name: name),
            ])
            let useCase = UseCaseReference(code: 0, among: names)
            let items = [
                ("filter", name), ("from", name), ("step", name), ("by", name), ("within", name), ("a", name),
            ]
            let frame = frame.at(items)
            var pages = answers(name).map { view, answer in
                UseCasePage(
                    useCase: useCase, view: view, answers: [unredacted(answer)], events: [name],
                    frame: frame
                ).html.text
            }
            pages.append(
                UseCasePage(
                    useCase: useCase, view: .funnel, answers: [], events: [name],
                    frame: frame.at(items, mistake: name)
                ).html.text)
            pages.append(
                UseCasesPage(
                    answer: unredacted(SummaryAnswer(useCases: [summary(name)])), names: names, frame: frame
                ).html.text)
            for page in pages {
                #expect(page.matches(of: #/<script/#).count == 1)
                #expect(
                    page.matches(
                        of:
                            #/<(img|base|iframe|object|style|link rel=stylesheet href=https|a href="(https|javascript))/#
                    ).isEmpty)
                #expect(!page.contains("<svg onload") && !page.contains("style=\""))
                #expect(page.matches(of: #/ on[a-z]+="/#).isEmpty)
                #expect(
                    !page.contains("&lt;td&gt;") && !page.contains("&lt;section"),
                    "No markup of our own was taken for text.")
                #expect(!page.contains("\u{202E}"))
            }
            #expect(pages.count == 9)
        }
    }

    @Test func theNumbersOfThePageAreThoseOfTheAnswerAndLeadToTheirTransactions() {
        let all = answers("requestSent")
        func shown(_ view: UseCaseView, _ items: [(name: String, value: String)] = []) -> String {
            page(view, all.filter { $0.0 == view }.map(\.1), items)
        }
        let overview = shown(.overview, [("since", "7d"), ("filter", "os:iOS")])
        for text in [
            "<b>12</b> failed",
            "href=\"../transactions?use_case=login&amp;since=7d&amp;filter=os%3AiOS&amp;outcome=failed\"",
            "<dt title=\"Of those that are over\">Failed<dd>32.4 %", "p95 succeeded<dd>20.0 ms",
            "p95 closed<dd>90.0 ms",
            "filter=os%3AiOS%20error%3A%22requestSent%20401%22\">requestSent 401</a>",
            "<td data-label=\"Times\">9<td data-label=\"Of all runs\">22.5 %",
            "2026-03-01 14:00 UTC<td data-label=\"Runs\"><a href=\"../transactions?use_case=login&amp;filter=os%3AiOS&amp;since=2026-03-01T14%3A00%3A00Z"
                + "&amp;until=2026-03-01T15%3A00%3A00Z\">13</a>",
            "login/outcomes.csv?since=7d&amp;filter=os%3AiOS\">CSV", "login/errors.csv?",
        ] { #expect(overview.contains(text), "\(text)") }
        let duration = shown(.duration)
        #expect(
            duration.contains("<dt>p50<dd>20.0 ms")
                && duration.contains("4 transactions had requestSent, and not the outcome."))
        #expect(
            duration.contains(
                "<th scope=row>20 ms to 50 ms<td data-label=\"Transactions\">1<td data-label=\"Of all\">33.3 %"))
        let funnel = shown(.funnel)
        #expect(funnel.contains("<td data-label=\"Reached\">30<td data-label=\"Of all\">75.0 %"))
        #expect(
            funnel.contains(
                "filter=-event%3ArequestSent\">10</a>"
                    + "<td data-label=\"Of those before\"><span class=bad>25.0 %</span>"))
        let dropOff = shown(.dropOff)
        #expect(dropOff.contains("title=\"Those that have this event and did not finish\">requestSent</a>"))
        #expect(dropOff.contains("<td data-label=\"Times\">5<td data-label=\"Of them\">71.4 %"))
        let legs = shown(.legs)
        #expect(legs.matches(of: #/<tr><th scope=row><svg class="sign /#).count == Leg.allCases.count)
        #expect(
            legs.contains(
                "<td data-label=\"Of all time\">12.5 %<td data-label=\"Transactions\">3<td data-label=\"p50\">2.00 ms"))
        #expect(legs.contains("Of 4 too little is known of the clocks"))
        let compare = shown(.compare)
        guard case .compare(_, let answer) = all[5].1 else { return #expect(Bool(false)) }
        for sentence in answer.sentences { #expect(compare.contains("<li>\(sentence)"), "\(sentence)") }
        #expect(compare.matches(of: #/<svg class="whisker/#).count == 6)
        for rate in answer.rates {
            let points = (rate.difference.value ?? 0).pointsText
            #expect(rate.sentence.contains("a difference of \(points) points"))
            let cell = "<td data-label=\"Difference\">\(points) points<td "
            #expect(compare.contains(cell), "The table says \(points) as the sentence does.")
        }
        #expect(compare.contains("<h2>requestSent and (none)</h2>") && compare.contains("(none) has less | more"))
    }

    /// Breaks when the page differs from `waybill ask duration`, or does not say when each version was first seen.
    @Test func aTrendHasTheNumbersOfTheAnswerForEachVersion() throws {
        let day: Int64 = 86_400_000_000
        let start = LoginHistory.begun / day * day
        func segment(_ value: String?, days: ClosedRange<Int64>, _ durations: [Int64]) -> DurationSegment {
            var segment = self.segment(durations)
            segment.value = value
            segment.outcomes = [.succeeded: 2, .failed: 1]
            segment.steps = days.map { number in
                DurationSegment.Step(
                    start: Date(microseconds: start + number * day), statistics: Self.statistics(durations),
                    withoutEnd: 1, reversed: 0, outcomes: [.succeeded: 2, .failed: 1])
            }
            return segment
        }
        var question = DurationQuestion(filter: filter, segmentation: .appVersion)
        question.step = .seconds(86_400)
        let all = (0..<40).map { segment("3.\($0)", days: 0...5, [1000, 2000, 3000]) }
        let answer = AnyAnswer.duration(
            question,
            DurationAnswer(
                total: segment(nil, days: 0...5, [15_000, 20_000, 90_000]),
                segments: [segment("2.0", days: 0...5, [15_000]), segment("<2.1>", days: 3...5, [90_000])] + all))
        for view in [UseCaseView.duration, .overview] {
            let html = page(view, [answer])
            #expect(html.contains("p50 and p95 over time by version, in ms"))
            #expect(html.contains("<th scope=row>&lt;2.1&gt;<td class=drawn>") && html.contains(">&lt;2.1&gt;</text>"))
            #expect(html.contains("<td data-label=\"First seen\">2026-03-04</tr>"))
            #expect(html.contains("<td data-label=\"Failed\"><span class=bad>100.0 %</span>"))
            #expect(html.contains("<h3>version 2.0, 1 transaction</h3>") && !html.contains("<h3>version 3.30"))
            #expect(html.contains("And 12 more in the file.") && html.utf8.count < 300_000)
            #expect(html.contains("<h3>How they ended</h3>") == (view == .duration))
            #expect(html.contains("<option value=\"version\" selected>") == (view == .duration))
        }
    }

    @Test func whatCanBeComparedIsChosenFromLists() {
        var seen = SeenValues()
        for (value, count) in [("A", 3), ("B", 5)] { seen.add(value, of: .attribute("variant"), count: count) }
        for (name, value) in [("token", "secret"), ("note", "Bearer abcdefghijklmnopqrstuvwxyz0123456789")] {
            seen.add(value, of: .attribute(name))
        }
        seen.add("4.2", of: .appVersion)
        let useCase = UseCaseReference(code: 0, among: unredacted([]))
        func form(_ items: [(name: String, value: String)]) -> String {
            UseCasePage(
                useCase: useCase, view: .compare, answers: [], events: [],
                seen: seen.redacted(by: Redactor()), frame: frame.at(items)
            ).html.text
        }
        let variants = form([("by", "variant"), ("b", "C")])
        #expect(variants.contains("<option value=\"variant\" selected>variant</option>"))
        #expect(variants.contains("<option value=\"version\">version of the app</option>"))
        #expect(
            variants.contains(
                "<select name=a><option value=\"\">(none)</option><option value=\"B\">B</option><option value=\"A\">A"))
        #expect(variants.contains("<option value=\"C\" selected>C</option>"), "What the address says can be seen.")
        #expect(!variants.contains(">token<") && !variants.contains("Bearer"), "No secret is offered.")
        #expect(!variants.contains("<option value=\"day\">"), "What nothing has is no choice.")
        #expect(
            form([]).contains("<input name=a size=12 placeholder=\"48h..24h\" value=\"\" list=windows>"),
            "Times are written.")
    }

    /// Breaks when a number in a table appears on a phone without its heading, such as `A` and `B` of a comparison.
    @Test func everyNumberOfATableHasItsHeadingBesideIt() throws {
        for (view, answer) in answers("requestSent") {
            let html = page(view, [answer])
            let tables = html.matches(of: #/<table>.*?<\/table>/#.dotMatchesNewlines())
            #expect(!tables.isEmpty)
            for table in tables {
                let cells = table.output.components(separatedBy: "<tbody>")[1]
                let headings = table.output.matches(of: #/<th scope=col>/#).count
                let rows = cells.matches(of: #/<th scope=row>/#).count
                let named = cells.matches(of: #/<td data-label="[^"]+"[ >]/#).count
                #expect(named == rows * (headings - 1) && named > 0, "\(view)")
                #expect(
                    cells.matches(of: #/<td[ >]/#).count == named + cells.matches(of: #/<td class=drawn>/#).count,
                    "\(view)")
            }
        }
    }

    /// Breaks when the form, with a choice for each step, comes before the answer on a phone, or is out of reach there
    /// before the first question.
    @Test func aFormFoldsWhenItsQuestionIsAnsweredAndNotBefore() throws {
        let (view, answer) = try #require(answers("requestSent").first { $0.0 == .funnel })
        let answered = page(view, [answer])
        #expect(
            answered.contains("popovertarget=question>")
                && answered.contains("<form class=ask id=question method=get popover>"))
        for mistake in [nil, "No such event."] {
            let open = page(.compare, [], mistake: mistake)
            #expect(
                !open.contains("popovertarget=question") && open.contains("<form class=ask id=question method=get>"))
        }
    }

    @Test func anEmptyAnswerSaysOnceWhy() {
        let nothing = "Nothing here was ever recorded."
        let page = page(
            .overview,
            [
                .summary(SummaryQuestion(), SummaryAnswer(useCases: [], whyEmpty: nothing)),
                .duration(
                    DurationQuestion(filter: filter),
                    DurationAnswer(total: segment([]), segments: [], whyEmpty: nothing)),
            ])
        #expect(page.matches(of: #/Nothing here was ever recorded\./#).count == 1)
        let answer = SummaryAnswer(useCases: [], whyEmpty: nothing)
        let list = UseCasesPage(
            answer: unredacted(answer), names: unredacted([]), frame: frame
        ).html.text
        #expect(list.contains(nothing) && !list.contains("CSV"))
    }

    /// Breaks when whoever can send sets can make the page arbitrarily long: 40,000 use cases were 31 MB.
    @Test func thePageOfUseCasesHasAnEnd() {
        let many = (0..<40_000).map { summary("", code: $0) }
        let (first, leftOut) = UseCasesPage.first(of: SummaryAnswer(useCases: many))
        let page = UseCasesPage(
            answer: unredacted(first), leftOut: leftOut, names: unredacted([]), frame: frame
        ).html.text
        #expect(page.utf8.count < 1_000_000)
        #expect(page.contains("use case 199</a>") && !page.contains("use case 200</a>"))
        #expect(page.contains("a filter finds the 39800 others"))
    }

    @Test func aMistakeLeavesWhatWasChosenInTheForm() {
        let page = page(
            .duration, [], [("from", "x"), ("since", "1h"), ("last", "yes")], mistake: "No event here is called “x”.")
        #expect(page.contains("<p>No event here is called “x”."))
        #expect(page.contains("<option value=\"x\" selected>"))
        #expect(page.contains("<input type=checkbox name=last value=yes checked>"))
        #expect(page.contains("<input type=hidden name=\"since\" value=\"1h\">"))
        #expect(page.contains("<input type=hidden name=\"from\" value=\"x\">"), "The filter's form keeps the question.")
    }

    @Test(arguments: [
        ("login", "login"), ("", "3"), ("42", "3"), (".", "3"), ("..", "3"), ("a/b", "a/b"), ("twice", "3"),
        ("Bearer abcdefghijklmnopqrstuvwxyz0123456789", "3"),
    ])
    func aNameStandsInTheAddressWhereItLeadsBack(name: String, key: String) throws {
        let recorded = [
            RecordedName(useCase: 3, name: name), RecordedName(useCase: 4, name: "twice"),
            RecordedName(useCase: 4, event: 3, name: name),
        ]
        let names = Redactor().redacted(recorded)
        let useCase = UseCaseReference(code: 3, among: names)
        #expect(useCase.key == key)
        #expect(!useCase.name.isEmpty)
        #expect(UseCaseReference(key: useCase.key, among: names) == useCase)
        #expect(
            UseCaseReference(key: "twice", among: unredacted([RecordedName(useCase: 3, name: "twice")] + recorded))
                == nil)
    }
}
