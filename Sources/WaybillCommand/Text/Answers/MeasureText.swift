#if Collector
import WaybillAnalysis
import WaybillCollector
import WaybillCore
import WaybillExport

/// What a numeric attribute looks like: a line for all and for each segment.
struct MeasureText: AnswerText {
    let query: MeasureQuestion
    let answer: MeasureAnswer
    let subject: String

    var isEmpty: Bool { answer.total.statistics.count == 0 }

    func lines(_ palette: Palette, width: Int) -> [String] {
        var table = TextTable(
            columns: [(query.segmentation?.description.uppercased() ?? "", .left)]
                + ["COUNT", "MIN", "P50", "P75", "P90", "P95", "P99", "MAX", "MEAN"].map { ($0, .right) })
        let segments = [("all", answer.total)] + answer.segments.map { (Segmentation.title(of: $0.value), $0) }
        table.rows = segments.map { title, segment in
            let numbers = segment.statistics
            return [Cell(title), Cell("\(numbers.count)")]
                + [
                    numbers.minimum, numbers.p50, numbers.p75, numbers.p90, numbers.p95, numbers.p99, numbers.maximum,
                    numbers.mean,
                ].map { Cell($0.map(Words.number) ?? "-") }
        }
        table.drop(["MIN", "P75", "P95", "MEAN"], width: width)
        table.cut(column: 0, width: width)
        let without = answer.total.without
        let remark = without == 0 ? [] : ["", "\(Words.count(without, "transaction")) had no such number."]
        return [palette.paint(subject, .bold) + ", attribute \(query.attribute.printable)", ""]
            + table.lines(palette) + remark
    }
}
#endif
