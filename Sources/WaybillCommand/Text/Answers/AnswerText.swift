#if Collector
import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillQueries

/// An answer for people.
protocol AnswerText {
    /// Whether nothing counted.
    var isEmpty: Bool { get }
    /// All lines.
    ///
    /// - Parameter width: Columns that a line may take.
    func lines(_ palette: Palette, width: Int) -> [String]
}

extension Redacted<AnyAnswer> {
    /// As text.
    ///
    /// - Parameter subject: What it was asked about, e.g. the use case.
    func text(about subject: String) -> any AnswerText {
        switch value {
        case .summary(let query, let answer): SummaryText(query: query, answer: answer)
        case .duration(let query, let answer): DurationText(query: query, answer: answer, subject: subject)
        case .measure(let query, let answer): MeasureText(query: query, answer: answer, subject: subject)
        case .transitions(_, let answer): TransitionsText(answer: answer, subject: subject)
        case .funnel(let query, let answer): FunnelText(query: query, answer: answer, subject: subject)
        case .dropOff(_, let answer): DropOffText(answer: answer, subject: subject)
        case .legs(let query, let answer): LegsText(query: query, answer: answer, subject: subject)
        case .network(let query, let answer): NetworkText(query: query, answer: answer)
        case .compare(let query, let answer): CompareText(query: query, answer: answer, subject: subject)
        }
    }
}

/// A line for each use case, and the errors below.
struct SummaryText: AnswerText {
    let query: SummaryQuestion
    let answer: SummaryAnswer

    /// Errors that are shown; more are in `--json`.
    private static let errorLimit = 12
    private static let sparkWidth = 24

    var isEmpty: Bool { answer.useCases.isEmpty }

    func lines(_ palette: Palette, width: Int) -> [String] {
        var table = useCases
        table.drop(["INSTALLATIONS", everyStep], width: width)
        table.cut(column: 0, width: width)
        return table.lines(palette) + errors(palette, width: width)
    }

    private var useCases: TextTable {
        let outcomes = TransactionOutcome.allCases.filter { outcome in
            outcome != .succeeded && answer.useCases.contains { $0.outcomes[outcome] != nil }
        }
        var table = TextTable(columns: [("USE CASE", .left), ("RUNS", .right), ("SUCCEEDED", .right)])
        table.columns += outcomes.map { (Words.outcome($0).uppercased(), .right) }
        table.columns += [("INSTALLATIONS", .right), (everyStep, .left)]
        table.rows = answer.useCases.map { summary in
            let succeeded = Words.percent(summary.outcomes[.succeeded] ?? 0, of: summary.runs)
            let others = outcomes.map { outcome in
                summary.outcomes[outcome].map { Cell("\($0)", Words.cell(outcome).ink) } ?? Cell("-", .dim)
            }
            return [Cell(summary.name, .bold), Cell("\(summary.runs)"), Cell(succeeded, .green)] + others
                + [Cell("\(summary.installations)"), Cell(Bars.sparkline(runs(summary.rates)), .blue)]
        }
        return table
    }

    /// `EACH DAY`.
    private var everyStep: String {
        switch query.stepMicroseconds {
        case 86_400_000_000: "EACH DAY"
        case 3_600_000_000: "EACH HOUR"
        default: "EACH \(Words.duration(query.stepMicroseconds))"
        }
    }

    /// Runs by step, those without any included; of more steps than there is room for, several together.
    private func runs(_ rates: [UseCaseSummary.Rate]) -> [Int] {
        let all = answer.useCases.flatMap(\.rates).map(\.startMicroseconds)
        guard let first = all.min(), let last = all.max() else { return [] }
        let step = max(1, query.stepMicroseconds)
        let count = (last - first) / step + 1
        var runs = [Int](repeating: 0, count: Int(min(count, Int64(Self.sparkWidth))))
        for rate in rates {
            let place = Double((rate.startMicroseconds - first) / step) / Double(count)
            runs[Int(place * Double(runs.count))] += rate.runs
        }
        return runs
    }

    private func errors(_ palette: Palette, width: Int) -> [String] {
        let all = answer.useCases.flatMap { summary in summary.errors.map { (summary: summary, error: $0) } }
        guard !all.isEmpty else { return [] }
        let shown = all.sorted { $0.error.count > $1.error.count }.prefix(Self.errorLimit)
        var table = TextTable(columns: [
            ("USE CASE", .left), ("ERROR", .left), ("TIMES", .right), ("OF ITS RUNS", .right),
        ])
        table.rows = shown.map { summary, error in
            [
                Cell(summary.name), Cell(Words.error(error.error), .red),
                Cell("\(error.count)"),
                Cell(Words.percent(error.count, of: summary.runs)),
            ]
        }
        table.cut(column: 1, width: width)
        table.addBars(shown.map(\.error.count), ink: .red, width: width)
        let rest = all.count - shown.count
        return [""] + table.lines(palette) + (rest > 0 ? ["and \(Words.count(rest, "error")) more: --json"] : [])
    }
}

/// A line for each step, over all and for each segment.
struct FunnelText: AnswerText {
    let query: FunnelQuestion
    let answer: FunnelAnswer
    let subject: String

    var isEmpty: Bool { answer.total.transactions == 0 }

    func lines(_ palette: Palette, width: Int) -> [String] {
        let columns = DurationColumns(
            ([answer.total] + answer.segments).flatMap(\.steps).map(\.statistics), titles: ["P50", "P90"])
        var lines = [
            palette.paint(subject, .bold)
                + ", \(Words.count(answer.total.transactions, "transaction")); times from the step before\(columns.unit)"
        ]
        lines += [""] + table(answer.total, columns, width: width).lines(palette)
        for segment in answer.segments {
            let title = "\(query.segmentation?.description ?? "") \(Segmentation.title(of: segment.value))".printable
            lines += ["", palette.paint(title, .bold) + ", \(Words.count(segment.transactions, "transaction"))"]
            lines += table(segment, columns, width: width).lines(palette)
        }
        return lines
    }

    private func table(_ segment: FunnelSegment, _ columns: DurationColumns, width: Int) -> TextTable {
        var table = TextTable(
            columns: [("STEP", .left), ("REACHED", .right), ("OF ALL", .right), ("LOST", .right), ("", .right)]
                + columns.columns)
        var before = segment.transactions
        table.rows = segment.steps.map { step in
            defer { before = step.reached }
            let lost =
                step.lost > 0
                ? [Cell("\(step.lost)", .red), Cell(Words.percent(step.lost, of: before), .red)] : ["", ""]
            return [
                Cell(Words.point(step.point), .bold), Cell("\(step.reached)"),
                Cell(Words.percent(step.reached, of: segment.transactions)),
            ] + lost + (step.statistics.count > 0 ? columns.cells(step.statistics) : columns.columns.map { _ in "" })
        }
        table.drop(["P90"], width: width)
        table.cut(column: 0, width: width)
        table.addBars(segment.steps.map(\.reached), width: width)
        return table
    }
}

/// A line for each event that was a transaction's last.
struct DropOffText: AnswerText {
    let answer: DropOffAnswer
    let subject: String

    var isEmpty: Bool { answer.transactions == 0 }

    func lines(_ palette: Palette, width: Int) -> [String] {
        let columns = DurationColumns(answer.lastEvents.map(\.statistics), titles: ["P50", "P90"])
        var table = TextTable(columns: [("LAST EVENT", .left), ("COUNT", .right), ("", .right)] + columns.columns)
        table.rows = answer.lastEvents.map { last in
            [
                last.event.map { Cell($0, .bold) } ?? Cell("(no event)", .dim), Cell("\(last.count)"),
                Cell(Words.percent(last.count, of: answer.transactions)),
            ] + columns.cells(last.statistics)
        }
        table.cut(column: 0, width: width)
        table.addBars(answer.lastEvents.map(\.count), ink: .yellow, width: width)
        let headline =
            "\(palette.paint(subject, .bold)), \(Words.count(answer.transactions, "transaction")); times since the beginning\(columns.unit)"
        return [headline, ""] + table.lines(palette)
    }
}

/// A line for each pair of events that follow each other.
struct TransitionsText: AnswerText {
    let answer: TransitionsAnswer
    let subject: String

    var isEmpty: Bool { answer.transitions.isEmpty }

    func lines(_ palette: Palette, width: Int) -> [String] {
        let columns = DurationColumns(answer.transitions.map(\.statistics), titles: ["P50", "P90", "P99", "MAX"])
        var table = TextTable(columns: [("FROM", .left), ("TO", .left), ("COUNT", .right)] + columns.columns)
        table.rows = answer.transitions.map {
            [Cell($0.from), Cell($0.to), Cell("\($0.statistics.count)")] + columns.cells($0.statistics)
        }
        table.drop(["MAX", "P99"], width: width)
        for column in [0, 1] { table.cut(column: column, width: width) }
        table.addBars(answer.transitions.map { $0.statistics.p50Microseconds ?? 0 }, width: width)
        return [palette.paint(subject, .bold) + " from each event to the next\(columns.unit)", ""]
            + table.lines(palette)
    }
}

/// Two groups beside each other, and in plain sentences what sets them apart.
struct CompareText: AnswerText {
    let query: CompareQuestion
    let answer: CompareAnswer
    let subject: String

    var isEmpty: Bool { answer.a.transactions == 0 || answer.b.transactions == 0 }

    func lines(_ palette: Palette, width: Int) -> [String] {
        let columns = DurationColumns([answer.a.statistics, answer.b.statistics])
        var table = TextTable(columns: [
            ("", .left), ("A", .right), ("B", .right), ("DIFFERENCE", .right), ("95 %", .left), ("", .left),
        ])
        table.rows = [
            [
                "group", Cell(Segmentation.title(of: answer.a.value), .bold),
                Cell(Segmentation.title(of: answer.b.value), .bold), "", "",
                "",
            ],
            ["transactions", Cell("\(answer.a.transactions)"), Cell("\(answer.b.transactions)"), "", "", ""],
        ]
        table.rows += answer.rates.map { rate in
            row(
                rate.measure.rawValue, rate.a, rate.b, rate.difference, rate.verdict, { Words.percent($0) },
                more: \.pointsText,
                unit: " points")
        }
        table.rows += answer.quantiles.map { quantile in
            let title = "p\(quantile.percent)" + (columns.scale.unit.map { ", \($0)" } ?? "")
            return row(
                title, quantile.aMicroseconds, quantile.bMicroseconds, quantile.differenceMicroseconds,
                quantile.verdict,
                { columns.scale.text($0) }, more: { ($0 > 0 ? "+" : "") + columns.scale.text($0) })
        }
        for column in [1, 2] { table.cut(column: column, width: width) }
        let path = "from \(Words.point(query.from)) to \(Words.point(query.to))"
        return ["\(palette.paint(subject, .bold)), A and B; durations \(path)", ""] + table.lines(palette) + [""]
            + answer.sentences.flatMap { Self.wrap($0.printable, width: width) }
    }

    private func row<Value>(
        _ title: String, _ a: Estimate<Value>, _ b: Estimate<Value>, _ difference: Estimate<Value>, _ verdict: Verdict,
        _ text: (Value) -> String, more: (Value) -> String, unit: String = ""
    ) -> [Cell] {
        let range =
            difference.value == nil
            ? "" : "\(difference.low.map(more) ?? "?") to \(difference.high.map(more) ?? "?")\(unit)"
        let (word, ink): (String, Ink?) =
            switch verdict {
            case .higher: ("more", .yellow)
            case .lower: ("less", .yellow)
            case .noise: ("noise", .dim)
            case .tooFew: ("too few", .dim)
            }
        return [
            Cell(title), Cell(a.value.map(text) ?? "-"), Cell(b.value.map(text) ?? "-"),
            Cell(difference.value.map { more($0) + unit } ?? "-"), Cell(range, .dim), Cell(word, ink),
        ]
    }

    /// Lines that have room, broken between words.
    private static func wrap(_ sentence: String, width: Int) -> [String] {
        sentence.split(separator: " ").reduce(into: [String]()) { lines, word in
            if let last = lines.last, last.columnCount + 1 + String(word).columnCount <= width {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(lines.isEmpty ? String(word) : "  \(word)")
            }
        }
    }
}
#endif
