import WaybillCore
import WaybillExport

/// A table of an answer. Where there is no room for its columns, each row is a block that has the headings in front of
/// its cells.
struct AnswerTable {
    struct Column: ExpressibleByStringLiteral {
        /// Above the cells; empty above bars that need none.
        var heading: HTML
        /// In front of a cell in a block.
        var label: String
        /// Whether something is drawn in it, which has the whole width of a block.
        var isDrawn = false
        /// Whether its cells take two places of a block.
        var isLong = false

        init(stringLiteral heading: String) { self.init("\(heading)", label: heading) }

        init(_ heading: HTML, label: String) { (self.heading, self.label) = (heading, label) }

        /// Bars or lines.
        static func drawn(_ heading: HTML = "") -> Column {
            var column = Column(heading, label: "")
            column.isDrawn = true
            return column
        }

        /// Texts of two numbers.
        static func long(_ heading: String) -> Column {
            var column = Column(stringLiteral: heading)
            column.isLong = true
            return column
        }
    }

    /// What a screen reader calls it.
    var caption: String
    /// The first one names the rows.
    var columns: [Column]
    /// As many cells as there are columns.
    var rows: [[HTML]]
    /// The last row, of all of them; empty: there is none.
    var sum: [HTML] = []

    var html: HTML {
        let foot: HTML = "<tfoot>\(row(sum))</tfoot>"
        return """
            <div class=scroll tabindex=0 role=region aria-label="\(caption)"><table><thead><tr>\(columns.map(heading))</tr></thead>\
            <tbody>\(rows.map(row))</tbody>\(foot, if: !sum.isEmpty)</table></div>

            """
    }

    /// What has no words is no heading.
    private func heading(_ column: Column) -> HTML {
        let name: HTML = column.heading.bytes.isEmpty ? "td" : "th scope=col"
        return "<\(name)\(" class=drawn", if: column.isDrawn)>\(column.heading)"
    }

    private func row(_ cells: [HTML]) -> HTML {
        let named = zip(columns, cells).enumerated().map { index, cell -> HTML in
            let (column, content) = cell
            if index == 0 { return "<th scope=row>\(content)" }
            if column.isDrawn { return "<td class=drawn>\(content)" }
            return "<td data-label=\"\(column.label)\"\(" class=two", if: column.isLong)>\(content)"
        }
        return "<tr>\(named)</tr>"
    }
}
