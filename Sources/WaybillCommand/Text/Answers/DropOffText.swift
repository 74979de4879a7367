#if Collector
import WaybillAnalysis
import WaybillCollector
import WaybillCore
import WaybillExport

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
#endif
