#if Collector
import WaybillAnalysis
import WaybillCollector
import WaybillCore

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
#endif
