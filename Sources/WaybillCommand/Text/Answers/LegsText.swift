#if Collector
import WaybillAnalysis
import WaybillCollector
import WaybillCore
import WaybillExport

/// A line for each leg, over all and for each segment.
struct LegsText: AnswerText {
    let query: LegsQuestion
    let answer: LegsAnswer
    let subject: String

    var isEmpty: Bool { answer.total.duration.count == 0 }

    func lines(_ palette: Palette, width: Int) -> [String] {
        let columns = DurationColumns(
            ([answer.total] + answer.segments).map(\.duration), titles: ["P50", "P90", "P99", "MAX"])
        let count = Words.count(answer.total.duration.count, "transaction")
        var lines = [palette.paint(subject, .bold) + ", where the time of \(count) goes\(columns.unit)", ""]
        lines += table(answer.total, columns, width: width).lines(palette)
        for segment in answer.segments {
            let title = "\(query.segmentation?.description ?? "") \(Segmentation.title(of: segment.value))".printable
            lines += ["", palette.paint(title, .bold) + ", \(Words.count(segment.duration.count, "transaction"))"]
            lines += table(segment, columns, width: width).lines(palette)
        }
        let remarks = Words.remarks(answer.total)
        return lines + (remarks.isEmpty ? [] : [""] + remarks)
    }

    private func table(_ segment: LegsSegment, _ columns: DurationColumns, width: Int) -> TextTable {
        let legs = segment.legs.filter { $0.statistics.count > 0 }
        let whole = legs.reduce(0) { $0 + $1.totalMicroseconds }
        var table = TextTable(columns: [("LEG", .left), ("OF ALL TIME", .right), ("COUNT", .right)] + columns.columns)
        table.rows = legs.map { leg in
            [
                Cell(Words.leg(leg.leg), .bold), Cell(Words.percent(leg.totalMicroseconds, of: whole)),
                Cell("\(leg.statistics.count)"),
            ] + columns.cells(leg.statistics)
        }
        table.rows.append(["all of it", "", Cell("\(segment.duration.count)")] + columns.cells(segment.duration))
        table.drop(["MAX"], width: width)
        table.addBars(legs.map(\.totalMicroseconds) + [0], width: width)
        return table
    }
}
#endif
