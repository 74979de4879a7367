#if Collector
import WaybillAnalysis
import WaybillCollector
import WaybillCore
import WaybillExport

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
#endif
