#if Collector
import WaybillAnalysis
import WaybillCollector
import WaybillCore
import WaybillExport

/// How long it takes: a line for all and for each segment, then how many took how long.
struct DurationText: AnswerText {
    let query: DurationQuestion
    let answer: DurationAnswer
    let subject: String

    var isEmpty: Bool { answer.total.statistics.count == 0 }

    private var segments: [(title: String, segment: DurationSegment)] {
        [("all", answer.total)] + answer.segments.map { (Segmentation.title(of: $0.value), $0) }
    }

    func lines(_ palette: Palette, width: Int) -> [String] {
        let columns = DurationColumns(segments.map(\.segment.statistics))
        let (from, to) = (Words.point(query.from), Words.point(query.to))
        var table = TextTable(
            columns: [(query.segmentation?.description.uppercased() ?? "", .left), ("COUNT", .right)] + columns.columns)
        table.rows = segments.map { title, segment in
            [Cell(title), Cell("\(segment.statistics.count)")] + columns.cells(segment.statistics)
        }
        table.drop(DurationColumns.spare, width: width)
        table.cut(column: 0, width: width)
        let headline = palette.paint(subject, .bold) + " from \(from) to \(to)\(columns.unit)"
        return [headline, ""] + table.lines(palette) + remarks + histogram(palette, width: width)
    }

    private var remarks: [String] {
        let (from, to) = (Words.point(query.from), Words.point(query.to))
        var remarks = [Words.counted(answer.total.outcomes)].compactMap(\.self)
        if answer.total.withoutEnd > 0 {
            remarks.append("\(Words.count(answer.total.withoutEnd, "transaction")) had \(from), and not \(to).")
        }
        if answer.total.reversed > 0 {
            remarks.append("\(Words.count(answer.total.reversed, "transaction")) had \(to) before \(from).")
        }
        return remarks.isEmpty ? [] : [""] + remarks
    }

    private func histogram(_ palette: Palette, width: Int) -> [String] {
        let bars = answer.total.histogram
        guard bars.count > 1 else { return [] }
        var table = TextTable(
            columns: [("", .right), ("", .left), ("", .right), ("", .right), ("", .right)], hasTitles: false)
        // A stretch where nothing lies takes one line.
        let shown = bars.indices.filter { bars[$0].count > 0 || bars[max(0, $0 - 1)].count > 0 }.map { bars[$0] }
        table.rows = shown.map { bar in
            guard bar.count > 0 else { return [Cell("…", .dim), "", "", "", ""] }
            return [
                Cell(Self.round(bar.fromMicroseconds)), Cell("to", .dim), Cell(Self.round(bar.toMicroseconds)),
                Cell("\(bar.count)"),
                Cell(Words.percent(bar.count, of: answer.total.statistics.count), .dim),
            ]
        }
        table.addBars(shown.map(\.count), width: width)
        return [""] + table.lines(palette)
    }

    /// `20 ms`, `5 s`: the bounds are round numbers of a decimal unit.
    private static func round(_ microseconds: Int64) -> String {
        switch microseconds {
        case ..<1000: "\(microseconds) µs"
        case ..<1_000_000: "\(microseconds / 1000) ms"
        default: "\(microseconds / 1_000_000) s"
        }
    }
}
#endif
