#if Collector
import WaybillAnalysis
import WaybillCollector
import WaybillCore
import WaybillExport

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
#endif
