#if Collector
/// Text in a column, and how it is emphasized.
struct Cell: ExpressibleByStringInterpolation {
    var text: String
    var ink: Ink?

    init(_ text: String, _ ink: Ink? = nil) {
        self.text = text.printable
        self.ink = ink
    }

    init(stringLiteral value: String) { self.init(value) }
}

/// Columns that line up, with one line for each row.
struct TextTable {
    enum Alignment { case left, right }

    var columns: [(title: String, alignment: Alignment)]
    var rows: [[Cell]] = []
    /// Whether the titles are shown.
    var hasTitles = true
    /// For each column how wide it is at least; empty: as wide as what is in it.
    var leastWidths: [Int] = []

    /// How wide each column is.
    var widths: [Int] {
        columns.indices.map { column in
            let title = hasTitles ? columns[column].title.count : 0
            let least = leastWidths.indices.contains(column) ? leastWidths[column] : 0
            return rows.reduce(max(title, least)) { max($0, $1[column].text.count) }
        }
    }

    /// The lines, without spaces at their ends.
    func lines(_ palette: Palette) -> [String] {
        let titles = columns.map { Cell($0.title, .dim) }
        let all = hasTitles ? [titles] + rows : rows
        let widths = widths
        return all.map { row in
            var line = ""
            var gap = ""
            for (column, cell) in row.enumerated() {
                let padding = String(repeating: " ", count: widths[column] - cell.text.count)
                let painted = palette.paint(cell.text, cell.ink)
                if columns[column].alignment == .right {
                    line += gap + padding + painted
                    gap = "  "
                } else {
                    line += gap + painted
                    gap = padding + "  "
                }
            }
            // An empty last cell leaves the gap of the one before it.
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }
}
#endif
