#if Collector
import WaybillCollector
import WaybillExport

struct Cell: ExpressibleByStringInterpolation {
    var text: String
    var ink: Ink?

    init(_ text: String, _ ink: Ink? = nil) {
        self.text = text.printable
        self.ink = ink
    }

    init(stringLiteral value: String) { self.init(value) }
}

struct TextTable {
    enum Alignment { case left, right }

    var columns: [(title: String, alignment: Alignment)]
    var rows: [[Cell]] = []
    var hasTitles = true
    private(set) var leastWidths: [Int] = []

    var widths: [Int] {
        columns.indices.map { column in
            let title = hasTitles ? columns[column].title.columnCount : 0
            let least = leastWidths.indices.contains(column) ? leastWidths[column] : 0
            return rows.reduce(max(title, least)) { max($0, $1[column].text.columnCount) }
        }
    }

    func lines(_ palette: Palette) -> [String] {
        let titles = columns.map { Cell($0.title, .dim) }
        let all = hasTitles ? [titles] + rows : rows
        let widths = widths
        return all.map { row in
            var line = ""
            var gap = ""
            for (column, cell) in row.enumerated() {
                let padding = String(repeating: " ", count: widths[column] - cell.text.columnCount)
                let painted = palette.paint(cell.text, cell.ink)
                if columns[column].alignment == .right {
                    line += gap + padding + painted
                    gap = "  "
                } else {
                    line += gap + painted
                    gap = padding + "  "
                }
            }
            // An empty last cell leaves trailing spaces.
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }

    var width: Int { widths.reduce(0, +) + 2 * max(0, columns.count - 1) }

    /// Keeps the columns of `previous`, at least as wide, without titles.
    mutating func continueColumns(of previous: TextTable) {
        drop(columns.map(\.title).filter { title in !previous.columns.contains { $0.title == title } })
        (hasTitles, leastWidths) = (false, previous.widths)
    }

    func isEmpty(_ title: String) -> Bool {
        guard let column = columns.firstIndex(where: { $0.title == title }) else { return true }
        return rows.allSatisfy { $0[column].text.isEmpty }
    }

    /// Removes the given columns, in this order, until the table fits.
    mutating func drop(_ titles: [String], width: Int = 0) {
        for title in titles where self.width > width {
            guard let column = columns.firstIndex(where: { $0.title == title }) else { continue }
            columns.remove(at: column)
            for row in rows.indices { rows[row].remove(at: column) }
        }
    }

    /// Shortens a column until the table fits, to eight characters at least.
    mutating func cut(column: Int, width: Int) {
        let excess = self.width - width
        guard excess > 0 else { return }
        let room = max(8, widths[column] - excess)
        columns[column].title = columns[column].title.cut(toColumns: room)
        for row in rows.indices { rows[row][column].text = rows[row][column].text.cut(toColumns: room) }
    }

    /// Adds a column of bars if there is enough room for them.
    mutating func addBars<Number: BinaryInteger>(_ values: [Number], ink: Ink? = .blue, width: Int) {
        let room = min(32, width - self.width - 2)
        guard room >= 6, let greatest = values.max() else { return }
        columns.append(("", .left))
        for (row, value) in values.enumerated() {
            rows[row].append(Cell(Bars.bar(value, of: greatest, width: room), ink))
        }
    }
}

extension String {
    /// The number of terminal columns (Unicode Standard Annex 11). Ambiguous characters are narrow.
    var columnCount: Int {
        // Most text is ASCII, with a column for each byte.
        if utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return utf8.count }
        return reduce(0) { $0 + $1.columnCount }
    }

    func cut(toColumns columns: Int) -> String {
        guard columnCount > columns else { return self }
        var text = ""
        var taken = 1
        for character in self {
            taken += character.columnCount
            guard taken <= columns else { break }
            text.append(character)
        }
        return columns > 0 ? text + "…" : ""
    }
}

extension Character {
    fileprivate var columnCount: Int {
        guard let first = unicodeScalars.first else { return 0 }
        // Combining marks and format characters take no column.
        if [.nonspacingMark, .enclosingMark, .format].contains(first.properties.generalCategory) { return 0 }
        // Emoji, by default or with variation selector 16.
        if first.properties.isEmojiPresentation || unicodeScalars.contains("\u{FE0F}") { return 2 }
        return Self.wide.contains { $0.contains(first.value) } ? 2 : 1
    }

    /// Blocks of wide and full-width characters.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F,
        0xAC00...0xD7A3,
        0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F,
        0x1F900...0x1F9FF,
        0x20000...0x3FFFD,
    ]
}
#endif
