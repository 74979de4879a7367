#if Collector
import WaybillAnalysis
import WaybillCollector
import WaybillCore
import WaybillExport

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
