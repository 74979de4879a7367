import WaybillCore
import WaybillExport
import WaybillQueries

extension UseCasePage {
    func sections(of answer: Redacted<AnyAnswer>) -> HTML {
        let tables = answer.tables(about: useCase.name, in: frame.timeZone)
        let bounds = answer.boundsTable.map { table in
            section(
                "Bounds for the missing facts", file: "\(view.rawValue).csv",
                "\(self.table(table, "Bounds"))\(remarks(table.sentences))")
        }
        return "\(sections(of: answer, tables))\(bounds ?? "")"
    }

    private func sections(of answer: Redacted<AnyAnswer>, _ tables: [AnswerTable]) -> HTML {
        switch answer.value {
        case .summary(let question, let answer):
            answer.useCases.first.map { overview($0, each: question.stepMicroseconds, errors: tables[1]) } ?? ""
        case .duration(let question, let answer): duration(question, answer, tables)
        case .funnel: section(tables[0])
        case .dropOff(let question, let answer): section(tables[0], above: unfinished(question, answer))
        case .legs(_, let answer): section(tables[0], above: stack(answer.total))
        case .compare(let question, let answer): compare(question, answer, tables[0])
        case .why(_, let answer): why(answer, tables[0])
        // Pages of use cases do not ask these questions.
        case .measure, .transitions, .network, .errors: ""
        }
    }

    private func section(_ table: AnswerTable, above: HTML = "") -> HTML {
        section(
            "\(view.title)\(table.heading?.text ?? "")", file: "\(view.rawValue).csv",
            "\(above)\(self.table(table, view.title))\(remarks(table.notes))")
    }

    private func unfinished(_ question: DropOffQuestion, _ answer: DropOffAnswer) -> HTML {
        """
        <p><a href="\(links.transactions(of: useCase, question.unfinishedParameters))">\(Words.count(answer.transactions, "transaction"))</a> did not finish. \
        This is what they did last.
        """
    }

    private func stack(_ total: LegsSegment) -> HTML {
        let legs = total.legs.filter { $0.statistics.count > 0 }
        let whole = legs.reduce(0) { $0 + $1.totalMicroseconds }
        return HTML.shares(legs.map { ($0.leg.rawValue, $0.totalMicroseconds) }, of: whole, isTall: true)
    }
}

extension UseCasePage {
    /// On a narrow page, each row is a block. If `drawings` is `nil`, it draws the rows' bars.
    func table(_ table: AnswerTable, _ caption: String, _ heading: HTML = "", drawings: [HTML]? = nil) -> HTML {
        let columns = table.columns.enumerated().compactMap { index, column in
            column.title.map { (index: index, title: $0, column: column) }
        }
        let rows = table.rows.filter(\.isShown)
        let hasBars = rows.contains { !$0.bar.isEmpty }
        let drawings =
            drawings
            ?? (hasBars ? rows.map { HTML.shares($0.bar.map { ($0.tone, $0.count) }, of: $0.whole) } : [])
        func titles(_ place: Int) -> HTML {
            let note: HTML = columns[place].column.note.map { " <small>\($0)</small>" } ?? ""
            let title: HTML = "<th scope=col>\(columns[place].title)\(note)"
            guard place == 0, !drawings.isEmpty else { return title }
            return heading.bytes.isEmpty ? "\(title)<td class=drawn>" : "\(title)<th scope=col class=drawn>\(heading)"
        }
        func row(_ cells: [AnswerTable.Cell], _ drawing: HTML) -> HTML {
            let (first, others) = (cells[columns[0].index], columns.dropFirst())
            let drawn: HTML = "<td class=drawn>\(drawing)"
            let numbers = others.map { place -> HTML in
                let isLong = place.column.kind == .interval
                return "<td data-label=\"\(place.title)\"\(" class=two", if: isLong)>\(text(of: cells[place.index]))"
            }
            return "<tr><th scope=row>\(text(of: first))\(drawn, if: !drawings.isEmpty)\(numbers)</tr>"
        }
        let body = rows.indices.map { row(rows[$0].cells, drawings.isEmpty ? "" : drawings[$0]) }
        let foot: HTML = table.sum.isEmpty ? "" : "<tfoot>\(row(table.sum, ""))</tfoot>"
        return """
            <div class=scroll tabindex=0 role=region aria-label="\(caption)"><table><thead><tr>\(columns.indices.map(titles))</tr></thead>\
            <tbody>\(body)</tbody>\(foot)</table></div>

            """
    }

    private func text(of cell: AnswerTable.Cell) -> HTML {
        let sign: HTML = cell.sign.map { "<svg class=\"sign \($0)\" aria-hidden=true><rect /></svg> " } ?? ""
        let (words, isBad) = (cell.words(), cell.tone == .bad)
        if let listing = cell.listing {
            let hint: HTML = listing.hint.map { " title=\"\($0)\"" } ?? ""
            let address = links.transactions(of: useCase, listing)
            return "\(sign)<a\(" class=bad", if: isBad) href=\"\(address)\"\(hint)>\(words)</a>"
        }
        return isBad && !words.isEmpty ? "<span class=bad>\(words)</span>" : "\(sign)\(words)"
    }
}

extension UseCasePage {
    private func overview(_ summary: UseCaseSummary, each step: Int64, errors: AnswerTable) -> HTML {
        let times = summary.rates.map(\.startMicroseconds)
        let over = OutcomeSteps(
            summary.rates,
            steps: TimeSteps(covering: times, each: step, atLeast: TimeSteps.leastCount, in: frame.timeZone))
        let installations = HTML.cells([("Installations", "\(summary.installations)")])
        let numbers: HTML =
            "<dl class=figures>\(UseCaseNumbers(summary: summary, useCase: useCase, links: links).html)\(installations)</dl>"
        let bar = HTML.outcomes(summary.outcomes) { links.transactions(of: useCase, [("outcome", $0.name)]) }
        let columns = over.columns { links.transactions(of: useCase, $0) }
        let chart = ColumnChart(columns: columns, label: over.steps.label)
        let outcomes = section(
            "Outcomes, each \(over.steps.length), in \(over.steps.zoneName)", file: "outcomes.csv",
            "\(numbers)\(bar)\(chart.html)\(folded(table(over.table, "Outcomes over time")))")
        guard !errors.rows.isEmpty else { return outcomes }
        let more = errors.moreCount > 0 ? ["And \(errors.moreCount) more in the file."] : []
        return "\(outcomes)\(section("Errors", file: "errors.csv", "\(table(errors, "Errors"))\(remarks(more))"))"
    }
}

extension UseCasePage {
    private func duration(_ question: DurationQuestion, _ answer: DurationAnswer, _ tables: [AnswerTable]) -> HTML {
        let figures = zip(tables[0].columns, tables[0].rows[0].cells).compactMap { column, cell in
            column.title.map { ($0, "\(cell.words())" as HTML) }
        }
        let count: HTML = "\(answer.total.statistics.count)"
        let histogram = Histogram(answer.total) { bar in
            bar.listing(question).map { links.transactions(of: useCase, $0) }
        }
        let whole = section(
            "Duration\(tables[0].heading?.text ?? "")", file: "duration.csv",
            """
            <dl class=figures>\(HTML.cells([("Transactions", count)] + figures.dropFirst(2)))</dl>
            \(histogram.html)\(remarks(tables[0].notes))\(folded(table(tables[1], "Durations", drawings: [])))
            """)
        return "\(trend(question, answer, tables))\(whole)"
    }

    /// More rows are in the file.
    private static let segmentLimit = 30
    private static let numbersLimit = 8

    private func trend(_ question: DurationQuestion, _ answer: DurationAnswer, _ tables: [AnswerTable]) -> HTML {
        guard let length = question.stepMicroseconds,
            let chart = TrendChart(answer.total.steps ?? [], FixedSteps(each: length, in: frame.timeZone))
        else { return "" }
        let all = [answer.total] + answer.segments.prefix(Self.segmentLimit)
        let small = chart.small(all.map { $0.steps ?? [] })
        var segments = tables[0].onPage
        segments.rows = Array(segments.rows.prefix(all.count))
        let more = answer.segments.count - (all.count - 1)
        let notes = more > 0 ? ["And \(more) more in the file."] : []
        let by: HTML = question.segmentation.map { " by \($0.description)" } ?? ""
        let numbers = tables.dropFirst(2).prefix(1 + Self.numbersLimit).map { trend -> HTML in
            let title = "\(trend.heading?.subject ?? "")\(trend.heading?.text ?? "")"
            return "<h3>\(title)</h3>\(table(trend, title))"
        }
        let ends: HTML = "<h3>How they ended</h3>\(chart.ends)"
        return section(
            "p50 and p95 over time\(by), in \(chart.unit)", file: nil,
            """
            \(chart.html(marks: question.segmentation?.hasBeginnings == true ? Self.beginnings(answer) : []))\(chart.remark)
            \(ends, if: view == .duration)\(table(segments, "Durations\(question.segmentation == nil ? "" : " by segment")", drawings: small))\
            \(remarks(notes))\(folded("\(numbers)"))
            """)
    }

    private static func beginnings(_ answer: DurationAnswer) -> [(start: Int64, name: String)] {
        answer.segments.compactMap { segment in
            guard let value = segment.value, let first = segment.steps?.first else { return nil }
            return (first.startMicroseconds, value)
        }
    }
}

extension Segmentation {
    /// Whether it matters when a value was first seen. Each hour and day begins at its own time.
    fileprivate var hasBeginnings: Bool {
        switch self {
        case .attribute, .app, .appVersion, .device, .os, .osVersion, .parentUseCase: true
        case .hour, .day, .ended, .parentOutcome: false
        }
    }
}

extension AnswerTable {
    /// The table without the columns that a narrow terminal drops, too.
    fileprivate var onPage: AnswerTable {
        var table = self
        for index in columns.indices where columns[index].title.map(spare.contains) == true {
            table.columns[index].title = nil
        }
        return table
    }
}

extension UseCasePage {
    private func compare(_ question: CompareQuestion, _ answer: CompareAnswer, _ table: AnswerTable) -> HTML {
        let relatives = answer.quantiles.map(Self.relative)
        let (rates, times) = (Whisker.reach(answer.rates.map(\.difference)), Whisker.reach(relatives))
        let whiskers =
            answer.rates.map {
                Whisker(difference: $0.difference, reach: rates, tone: $0.verdict.tone($0.measure)).html
            }
            + zip(answer.quantiles, relatives).map { quantile, difference in
                Whisker(difference: difference, reach: times, tone: quantile.verdict.tone(nil)).html
            }
        let (a, b) = Self.names(question, answer)
        let scales = """
            Lines are the intervals, dots the differences; a line without a bar at its end goes on beyond the picture. Of the first three, half the width is \(rates.pointsText.dropFirst()) points; of the \
            durations, from \(Words.point(question.from)) to \(Words.point(question.to)), it is \(times.percentText) of what \(a) takes.
            """
        let heading: HTML = "<span class=mid>\(b) has less | more</span>"
        let sentences: HTML = "<ul class=sentences>\(table.sentences.map { "<li>\($0)" as HTML })</ul>"
        return section(
            "\(a) and \(b)", file: "compare.csv",
            "\(self.table(table, "\(a) and \(b)", heading, drawings: whiskers))\(remarks(table.notes + [scales]))\(sentences)"
        )
    }

    private static func names(_ question: CompareQuestion, _ answer: CompareAnswer) -> (a: String, b: String) {
        switch question.groups {
        case .values: (Segmentation.title(of: answer.a.value), Segmentation.title(of: answer.b.value))
        case .windows: ("A", "B")
        }
    }

    /// A relative difference gives all quantiles the same scale.
    private static func relative(_ quantile: QuantileComparison) -> Estimate<Double> {
        guard let a = quantile.aMicroseconds.value, a > 0 else { return Estimate(value: nil, low: nil, high: nil) }
        let difference = quantile.differenceMicroseconds
        func share(_ value: Int64?) -> Double? { value.map { Double($0) / Double(a) } }
        return Estimate(value: share(difference.value), low: share(difference.low), high: share(difference.high))
    }
}

extension UseCasePage {
    private func why(_ answer: WhyAnswer, _ table: AnswerTable) -> HTML {
        let reach = Whisker.reach(answer.differences.map(\.difference))
        let whiskers = answer.differences.map { Whisker(difference: $0.difference, reach: reach).html }
        let chosen: HTML = "<a href=\"\(links.transactions(of: useCase, [UseCaseView.failed]))\">failed ones</a>"
        let hint: HTML =
            address.chooses
            ? "<p class=hint>The filter chooses transactions. They are compared with all others that have ended."
            : "<p class=hint>The \(chosen) are compared with all others that have ended. To choose other transactions, write a filter such as took&gt;2s."
        return section(
            "\(Words.count(answer.chosen, "chosen transaction")), \(Words.count(answer.others, "other"))",
            file: "\(view.rawValue).csv",
            "\(hint)\(self.table(table, view.title, "<span class=mid>chosen have less | more</span>", drawings: whiskers))\(remarks(table.sentences.suffix(1)))"
        )
    }
}

extension Verdict {
    /// Returns no class if the difference may be noise.
    fileprivate func tone(_ measure: RateComparison.Measure?) -> String {
        switch self {
        case .higher: measure == .succeeded ? TransactionOutcome.succeeded.name : TransactionOutcome.failed.name
        case .lower: measure == .succeeded ? TransactionOutcome.failed.name : TransactionOutcome.succeeded.name
        case .noise, .tooFew: ""
        }
    }
}
