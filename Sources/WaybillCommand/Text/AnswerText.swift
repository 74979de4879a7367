#if Collector
import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillQueries

extension Redacted<AnyAnswer> {
    func lines(about subject: String, _ palette: Palette, width: Int) -> [String] {
        let tables = tables(about: subject) + [boundsTable].compactMap { $0 }
        let others = tables.dropFirst().filter { $0.rows.contains(where: \.isShown) }
        let first = tables[0].headline(palette, hasUnit: true).map { [$0, ""] } ?? []
        return first + tables[0].lines(palette, width: width)
            + others.flatMap { table in
                [""] + (table.headline(palette).map { [$0] } ?? []) + table.lines(palette, width: width)
            }
    }
}

extension AnswerTable {
    fileprivate func headline(_ palette: Palette, hasUnit: Bool = false) -> String? {
        guard let heading else { return nil }
        if heading.subject.isEmpty { return palette.paint(heading.text, .dim) }
        let unit = hasUnit ? scale?.unit.map { ", in \($0)" } ?? "" : ""
        return palette.paint(heading.subject.printable, .bold) + heading.text.printable + unit
    }

    fileprivate func lines(_ palette: Palette, width: Int) -> [String] {
        let more = moreCount > 0 ? ["and \(moreCount) more: --json"] : []
        let notes = notes.isEmpty ? [] : [""] + notes.map(\.printable)
        let sentences = sentences.isEmpty ? [] : [""] + sentences.flatMap { wrap($0.printable, width: width) }
        return TextTable(self, width: width).lines(palette) + more + notes + sentences
    }

    private func wrap(_ sentence: String, width: Int) -> [String] {
        sentence.split(separator: " ").reduce(into: [String]()) { lines, word in
            if let last = lines.last, last.columnCount + 1 + String(word).columnCount <= width {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(lines.isEmpty ? String(word) : "  \(word)")
            }
        }
    }
}

extension TextTable {
    fileprivate init(_ table: AnswerTable, width: Int) {
        let shown = table.columns.enumerated().filter { $0.element.title != nil }
        let rows = table.rows.filter(\.isShown)
        self.init(columns: shown.map { (Self.title($0.element), $0.element.kind.alignment) })
        self.rows = (rows.map(\.cells) + (table.sum.isEmpty ? [] : [table.sum])).map { cells in
            shown.map { cells[$0.offset].cell(table.scale) }
        }
        if shown.contains(where: { $0.element.note != nil }) {
            self.rows.insert(shown.map { Cell($0.element.note ?? "", .bold) }, at: 0)
        }
        drop(table.spare.map { $0.uppercased() }, width: width)
        for column in table.columns where column.kind == .name || column.kind == .group {
            guard let place = columns.firstIndex(where: { $0.title == Self.title(column) }) else { continue }
            cut(column: place, width: width)
        }
        guard let tone = rows.first?.bar.first?.tone else { return }
        let outcome = TransactionOutcome.allCases.first { $0.name == tone }
        let bars = rows.map { $0.bar.first?.count ?? 0 } + (table.sum.isEmpty ? [] : [0])
        addBars(bars, ink: outcome.map { Words.cell($0).ink } ?? .blue, width: width)
    }

    private static func title(_ column: AnswerTable.Column) -> String { column.title?.uppercased() ?? "" }
}

extension AnswerTable.Column.Kind {
    fileprivate var alignment: TextTable.Alignment {
        switch self {
        case .number, .group: .right
        case .word, .name, .interval: .left
        }
    }
}

extension AnswerTable.Cell {
    fileprivate func cell(_ scale: TimeScale?) -> Cell {
        if case .series(let counts) = value { return Cell(Bars.sparkline(counts), .blue) }
        return Cell(words(scale), tone?.ink)
    }
}

extension AnswerTable.Tone {
    fileprivate var ink: Ink? {
        switch self {
        case .strong: .bold
        case .faint: .dim
        case .good: .green
        case .bad: .red
        case .warning: .yellow
        case .outcome(let outcome): Words.cell(outcome).ink
        }
    }
}
#endif
