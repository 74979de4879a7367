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

    private static var columns: [(title: String, value: KeyPath<NumberStatistics, Double?>)] {
        [
            ("MIN", \.minimum), ("P50", \.p50), ("P75", \.p75), ("P90", \.p90), ("P95", \.p95), ("P99", \.p99),
            ("MAX", \.maximum), ("MEAN", \.mean),
        ]
    }

    func lines(_ palette: Palette, width: Int) -> [String] {
        let titles: [(String, TextTable.Alignment)] = Self.columns.map { ($0.title, .right) }
        var table = TextTable(
            columns: [(query.segmentation?.description.uppercased() ?? "", .left), ("COUNT", .right)] + titles)
        let segments = [("all", answer.total)] + answer.segments.map { (Segmentation.title(of: $0.value), $0) }
        for (title, segment) in segments {
            let numbers: [Cell] = Self.columns.map { column in
                Cell(segment.statistics[keyPath: column.value].map(Words.number) ?? "-")
            }
            table.rows.append([Cell(title), Cell("\(segment.statistics.count)")] + numbers)
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
