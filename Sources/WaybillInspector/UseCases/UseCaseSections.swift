import WaybillCore
import WaybillExport
import WaybillQueries

/// How often a use case was run and how it ended, over time, and with which errors.
extension UseCaseSection {
    /// - Parameter step: Of the rates, in microseconds.
    func overview(_ summary: UseCaseSummary, each step: Int64) -> HTML {
        let times = summary.rates.map(\.startMicroseconds)
        let over = OutcomeSteps(
            summary.rates, steps: TimeSteps(covering: times, each: step, atLeast: TimeSteps.leastCount, in: timeZone))
        let numbers: HTML =
            "<dl class=figures>\(UseCaseNumbers(summary, useCase, links).html)\(installations(summary))</dl>"
        let bar = OutcomeBar(summary.outcomes) { links.transactions(of: useCase, [("outcome", $0.name)]) }
        let outcomes = section(
            "Outcomes, each \(over.steps.length), in \(over.steps.zoneName)", file: "outcomes.csv",
            "\(numbers)\(bar.html)\(chart(over))\(folded(table(over)))")
        return "\(outcomes)\(errors(summary))"
    }

    private func installations(_ summary: UseCaseSummary) -> HTML {
        "<div><dt>Installations<dd>\(summary.installations)</div>"
    }

    private func chart(_ over: OutcomeSteps) -> HTML {
        let columns = over.outcomes.indices.map { index in
            ColumnChart.Column(
                title: "\(over.steps.title(index)): \(over.outcomeWords(index))", address: transactions(over, index),
                parts: over.parts(index))
        }
        let count = over.steps.count
        let marked = count < 3 ? Array(0..<count) : [0, count / 2, count - 1]
        return ColumnChart(columns: columns, labels: marked.map(over.steps.label)).html
    }

    private func table(_ over: OutcomeSteps) -> AnswerTable {
        let outcomes = OutcomeBar.order.filter { outcome in over.outcomes.contains { $0[outcome] != nil } }
        let rows = over.outcomes.indices.filter { !over.outcomes[$0].isEmpty }.map { index -> [HTML] in
            let counts = outcomes.map { outcome -> HTML in
                guard let count = over.outcomes[index][outcome] else { return "" }
                return "<a href=\"\(transactions(over, index, [("outcome", outcome.name)]))\">\(count)</a>"
            }
            let runs = over.outcomes[index].values.reduce(0, +)
            return ["\(over.steps.title(index))", "<a href=\"\(transactions(over, index))\">\(runs)</a>"] + counts
        }
        return AnswerTable(
            caption: "Outcomes over time",
            columns: ["Begun in", "Runs"] + outcomes.map { .init(stringLiteral: Words.outcome($0)) },
            rows: rows)
    }

    private func transactions(_ over: OutcomeSteps, _ index: Int, _ others: [(name: String, value: String)] = [])
        -> String
    {
        let (start, end) = (over.steps.borders[index], over.steps.borders[index + 1])
        return links.transactions(of: useCase, [("since", Self.instant(start)), ("until", Self.instant(end))] + others)
    }

    /// `2026-03-01T12:00:00Z`: steps begin with whole seconds.
    private static func instant(_ microseconds: Int64) -> String { "\(Words.iso8601(microseconds).prefix(19))Z" }

    private func errors(_ summary: UseCaseSummary) -> HTML {
        guard let most = summary.errors.first?.count else { return "" }
        let rows = summary.errors.prefix(Self.errorLimit).map { error -> [HTML] in
            let name = Words.error(error.error)
            return [
                "<a href=\"\(links.transactions(of: useCase, [], [.error(error)]))\">\(name)</a>",
                ShareBar(error.count, of: most, tone: TransactionOutcome.failed.name).html, "\(error.count)",
                "\(Words.percent(error.count, of: summary.runs))",
            ]
        }
        let more = summary.errors.count - rows.count
        let table = AnswerTable(caption: "Errors", columns: ["Error", .drawn(), "Times", "Of all runs"], rows: rows)
        return section(
            "Errors", file: "errors.csv",
            "\(table.html)\(remarks(more > 0 ? ["And \(more) more in the file."] : []))")
    }

    /// Errors that are shown.
    private static let errorLimit = 20
}

/// How long it takes, as a histogram with its quantiles.
extension UseCaseSection {
    func duration(_ query: DurationQuestion, _ answer: DurationAnswer) -> HTML {
        let (from, to) = (Words.point(query.from), Words.point(query.to))
        let segment = answer.total
        // What a list can ask for is the whole duration alone.
        let isWhole = query.from == .begun && query.to == .finished
        let histogram = Histogram(segment, address: isWhole ? { list(of: $0) } : nil)
        let rows = segment.histogram.map { bar -> [HTML] in
            let count: HTML = isWhole ? "<a href=\"\(list(of: bar))\">\(bar.count)</a>" : "\(bar.count)"
            return ["\(Histogram.range(bar))", count, "\(Words.percent(bar.count, of: segment.statistics.count))"]
        }
        var sentences = [Words.counted(segment.outcomes)].compactMap(\.self)
        if segment.withoutEnd > 0 {
            sentences.append("\(Words.count(segment.withoutEnd, "transaction")) had \(from), and not \(to).")
        }
        if segment.reversed > 0 {
            sentences.append("\(Words.count(segment.reversed, "transaction")) had \(to) before \(from).")
        }
        let numbers = folded(
            AnswerTable(caption: "Durations", columns: ["Duration", "Transactions", "Of all"], rows: rows))
        return section(
            "Duration from \(from) to \(to)", file: "duration.csv",
            "\(statistics(segment.statistics))\(histogram.html)\(remarks(sentences))\(numbers)")
    }

    private func statistics(_ statistics: DurationStatistics) -> HTML {
        let cells: [(String, Int64?)] = [
            ("Least", statistics.minimumMicroseconds), ("p50", statistics.p50Microseconds),
            ("p75", statistics.p75Microseconds),
            ("p90", statistics.p90Microseconds), ("p95", statistics.p95Microseconds),
            ("p99", statistics.p99Microseconds),
            ("Most", statistics.maximumMicroseconds), ("Mean", statistics.meanMicroseconds),
        ]
        return """
            <dl class=figures><div><dt>Transactions<dd>\(statistics.count)</div>\
            \(cells.map { "<div><dt>\($0.0)<dd>\(time($0.1))</div>" as HTML })</dl>

            """
    }

    /// Exactly those of a column: durations are whole microseconds.
    private func list(of bar: DurationSegment.Bar) -> String {
        let below = FilterExpression.Term(FilterCondition.tookLessThan(.microseconds(bar.toMicroseconds)))
        guard bar.fromMicroseconds > 0 else { return links.transactions(of: useCase, [], [below]) }
        return links.transactions(
            of: useCase, [],
            [FilterExpression.Term(FilterCondition.tookMoreThan(.microseconds(bar.fromMicroseconds - 1))), below])
    }
}

/// How many get how far, and what those did last who did not finish.
extension UseCaseSection {
    func funnel(_ query: FunnelQuestion, _ answer: FunnelAnswer) -> HTML {
        let total = answer.total
        let rows = total.steps.indices.map { index -> [HTML] in
            let step = total.steps[index]
            let before = index == 0 ? total.transactions : total.steps[index - 1].reached
            let bar = ShareBar([("", step.reached), ("lost", step.lost)], of: total.transactions)
            return [
                linked(step.point), bar.html, "\(step.reached)",
                "\(Words.percent(step.reached, of: total.transactions))",
                lost(step, after: index == 0 ? nil : total.steps[index - 1].point),
                step.lost > 0 ? "<span class=bad>\(Words.percent(step.lost, of: before))</span>" : "",
                "\(time(step.statistics.p50Microseconds))", "\(time(step.statistics.p90Microseconds))",
            ]
        }
        let table = AnswerTable(
            caption: "Funnel",
            columns: ["Step", .drawn(), "Reached", "Of all", "Lost", "Of those before", "p50", "p90"], rows: rows)
        return section(
            "Funnel of \(Words.count(total.transactions, "transaction"))", file: "funnel.csv",
            "\(table.html)\(remarks(["Times are from the step before. A step counts where it comes after that one."]))")
    }

    private func linked(_ point: TransactionPoint) -> HTML {
        guard case .event(let event) = point else { return "\(Words.point(point))" }
        return
            "<a href=\"\(links.transactions(of: useCase, [], [FilterExpression.Term(FilterCondition.event(event))]))\">\(event)</a>"
    }

    /// Who was lost is nearly who lacks the step's event: a list knows no order of events.
    private func lost(_ step: FunnelSegment.Step, after before: TransactionPoint?) -> HTML {
        guard step.lost > 0 else { return "" }
        var terms: [FilterExpression.Term] = []
        if case .event(let name)? = before { terms.append(FilterExpression.Term(FilterCondition.event(name))) }
        switch step.point {
        case .event(let name): terms.append(FilterExpression.Term(FilterCondition.event(name)).negated)
        case .finished: terms.append(FilterExpression.Term(.outcome, .equal, "open,interrupted,timed_out"))
        case .begun: break
        }
        guard !terms.isEmpty else { return "<span class=bad>\(step.lost)</span>" }
        return "<a class=bad href=\"\(links.transactions(of: useCase, [], terms))\">\(step.lost)</a>"
    }

    func dropOff(_ answer: DropOffAnswer) -> HTML {
        let most = answer.lastEvents.map(\.count).max() ?? 0
        let unfinished = address["outcome"] == nil ? [(name: "outcome", value: "abandoned,interrupted,timed_out")] : []
        let rows = answer.lastEvents.map { last -> [HTML] in
            let name: HTML =
                last.event.map { event in
                    let list = links.transactions(
                        of: useCase, unfinished, [FilterExpression.Term(FilterCondition.event(event))])
                    return "<a href=\"\(list)\" title=\"Those that have this event and did not finish\">\(event)</a>"
                } ?? "(no event)"
            return [
                name, ShareBar(last.count, of: most, tone: TransactionOutcome.abandoned.name).html, "\(last.count)",
                "\(Words.percent(last.count, of: answer.transactions))", "\(time(last.statistics.p50Microseconds))",
                "\(time(last.statistics.p90Microseconds))",
            ]
        }
        let all: HTML = """
            <p><a href="\(links.transactions(of: useCase, unfinished))">\(Words.count(answer.transactions, "transaction"))</a> did not finish. \
            This is what they did last.
            """
        let table = AnswerTable(
            caption: "Last events",
            columns: ["Last event", .drawn(), "Times", "Of them", "p50 since the beginning", "p90"], rows: rows)
        return section("Drop-off", file: "dropoff.csv", "\(all)\(table.html)")
    }
}

/// Where the time goes: the client, the network, the server.
extension UseCaseSection {
    func legs(_ answer: LegsAnswer) -> HTML {
        let total = answer.total
        let legs = total.legs.filter { $0.statistics.count > 0 }
        let whole = legs.reduce(0) { $0 + $1.totalMicroseconds }
        let most = legs.map(\.totalMicroseconds).max() ?? 0
        let rows = legs.map { share -> [HTML] in
            [
                "<svg class=\"sign \(share.leg.rawValue)\" aria-hidden=true><rect /></svg> \(Words.leg(share.leg))",
                ShareBar(share.totalMicroseconds, of: most, tone: share.leg.rawValue).html,
                "\(Words.percent(share.totalMicroseconds, of: whole))",
            ] + times(share.statistics)
        }
        let stack = ShareBar(legs.map { ($0.leg.rawValue, $0.totalMicroseconds) }, of: whole, isTall: true)
        let table = AnswerTable(
            caption: "Legs", columns: ["Leg", .drawn(), "Of all time", "Transactions", "p50", "p90", "p99"], rows: rows,
            sum: ["All of it", "", ""] + times(total.duration))
        return section(
            "Where the time of \(Words.count(total.duration.count, "transaction")) goes", file: "legs.csv",
            "\(stack.html)\(table.html)\(remarks(Words.remarks(total)))")
    }

    private func times(_ statistics: DurationStatistics) -> [HTML] {
        [
            "\(statistics.count)", "\(time(statistics.p50Microseconds))", "\(time(statistics.p90Microseconds))",
            "\(time(statistics.p99Microseconds))",
        ]
    }
}

/// Two groups beside each other, with what sets them apart as intervals and in plain sentences.
extension UseCaseSection {
    func compare(_ query: CompareQuestion, _ answer: CompareAnswer) -> HTML {
        let rates = Whisker.reach(answer.rates.map { ($0.difference.value, $0.difference.low, $0.difference.high) })
        let times = Whisker.reach(answer.quantiles.map(Self.relative))
        let rows =
            answer.rates.map { rate -> [HTML] in
                let difference = rate.difference
                let whisker = Whisker(
                    value: difference.value, low: difference.low, high: difference.high, reach: rates,
                    tone: rate.verdict.tone(rate.measure)
                )
                return row(
                    "\(rate.measure.rawValue)", rate.a, rate.b, difference, rate.verdict, whisker,
                    { Words.percent($0) },
                    more: \.pointsText, unit: " points")
            }
            + answer.quantiles.map { quantile -> [HTML] in
                let (value, low, high) = Self.relative(quantile)
                let whisker = Whisker(
                    value: value, low: low, high: high, reach: times, tone: quantile.verdict.tone(nil))
                return row(
                    "p\(quantile.percent)", quantile.aMicroseconds, quantile.bMicroseconds,
                    quantile.differenceMicroseconds,
                    quantile.verdict, whisker, Words.duration, more: \.differenceText)
            }
        let (a, b) = Self.names(query, answer)
        let table = AnswerTable(
            caption: "\(a) and \(b)",
            columns: [
                "Measure", .drawn("<span class=mid>\(b) has less | more</span>"), group(a, answer.a),
                group(b, answer.b), "Difference",
                .long("95 % interval"), "Verdict",
            ], rows: rows)
        let scales = """
            Lines are the intervals, dots the differences; a line without a bar at its end goes on beyond the picture. Of the first three, half the width is \(rates.pointsText.dropFirst()) points; of the \
            durations, from \(Words.point(query.from)) to \(Words.point(query.to)), it is \(Words.percent(times)) of what \(a) takes.
            """
        let sentences: HTML = "<ul class=sentences>\(answer.sentences.map { "<li>\($0)" as HTML })</ul>"
        return section("\(a) and \(b)", file: "compare.csv", "\(table.html)\(remarks([scales]))\(sentences)")
    }

    /// What the groups are called where there is little room: by their values; stretches of time by letters.
    private static func names(_ query: CompareQuestion, _ answer: CompareAnswer) -> (a: String, b: String) {
        switch query.groups {
        case .values: (Segmentation.title(of: answer.a.value), Segmentation.title(of: answer.b.value))
        case .windows: ("A", "B")
        }
    }

    private func group(_ name: String, _ group: CompareAnswer.Group) -> AnswerTable.Column {
        let value = Segmentation.title(of: group.value)
        let label = name == value ? name : "\(name): \(value)"
        return AnswerTable.Column(
            "\(label) <small>\(Words.count(group.transactions, "transaction"))</small>", label: label)
    }

    private func row<Value>(
        _ title: HTML, _ a: Estimate<Value>, _ b: Estimate<Value>, _ difference: Estimate<Value>, _ verdict: Verdict,
        _ whisker: Whisker,
        _ text: (Value) -> String, more: (Value) -> String, unit: String = ""
    ) -> [HTML] {
        let isUnknown = difference.low == nil && difference.high == nil
        let range =
            isUnknown ? "unknown" : "\(difference.low.map(more) ?? "?") to \(difference.high.map(more) ?? "?")\(unit)"
        return [
            title, whisker.html, "\(a.value.map(text) ?? "-")", "\(b.value.map(text) ?? "-")",
            "\(difference.value.map { more($0) + unit } ?? "-")", "\(range)", "\(verdict.word)",
        ]
    }

    /// As a share of what the first group takes, so that quantiles of different lengths have one scale.
    private static func relative(_ quantile: QuantileComparison) -> (value: Double?, low: Double?, high: Double?) {
        guard let a = quantile.aMicroseconds.value, a > 0 else { return (nil, nil, nil) }
        let difference = quantile.differenceMicroseconds
        func share(_ value: Int64?) -> Double? { value.map { Double($0) / Double(a) } }
        return (share(difference.value), share(difference.low), share(difference.high))
    }
}

extension Verdict {
    fileprivate var word: String {
        switch self {
        case .higher: "more"
        case .lower: "less"
        case .noise: "may be noise"
        case .tooFew: "too few"
        }
    }

    /// The class of its colour: what is better is good, and what may be noise has none.
    ///
    /// - Parameter measure: nil: of how long it takes.
    fileprivate func tone(_ measure: RateComparison.Measure?) -> String {
        switch self {
        case .higher: measure == .succeeded ? TransactionOutcome.succeeded.name : TransactionOutcome.failed.name
        case .lower: measure == .succeeded ? TransactionOutcome.failed.name : TransactionOutcome.succeeded.name
        case .noise, .tooFew: ""
        }
    }
}
