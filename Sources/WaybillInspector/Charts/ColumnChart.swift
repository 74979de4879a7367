import WaybillExport

/// Columns over a line of time or of values, each of which may be stacked of several parts.
///
/// The marks have places in percent and the words around them are text of the page, so that it is as readable on a
/// phone as on a wall.
struct ColumnChart {
    /// One column, from the bottom up.
    struct Column {
        /// What a pointer on it is told.
        var title: String
        /// Where it leads; nil: nowhere.
        var address: String?
        /// How high each part is, and the class of its colour.
        var parts: [(tone: String, count: Int)]

        var count: Int { parts.reduce(0) { $0 + $1.count } }
    }

    var columns: [Column]
    /// Written below, the first at the left end, the last at the right one.
    var labels: [String] = []
    /// Whether it has a scale at its side.
    var hasScale = true
    /// Drawn over the columns, and below them.
    var overlay: HTML = ""

    var html: HTML {
        guard hasScale else { return "<div class=plot>\(plot(to: max(1, greatest)))</div>" }
        let top = Self.round(greatest)
        let scale: HTML =
            "<div class=scale aria-hidden=true><span>\(top)</span><span>\(top / 2)</span><span>0</span></div>"
        let below: HTML = "<div class=ticks aria-hidden=true>\(labels.map { "<span>\($0)</span>" as HTML })</div>"
        return "<div class=\"plot scaled\">\(scale)\(plot(to: top))\(below, if: !labels.isEmpty)</div>\n"
    }

    private var greatest: Int { columns.map(\.count).max() ?? 0 }

    private func plot(to top: Int) -> HTML {
        let lines: HTML = "<line x2=100% y1=0.5 y2=0.5 /><line x2=100% y1=50% y2=50% />"
        return """
            <svg class=columns aria-hidden=true>\(lines, if: hasScale)\
            \(columns.indices.map { column($0, of: top) })<line class=base x2=100% y1=100% y2=100% />\(overlay)</svg>
            """
    }

    private func column(_ index: Int, of top: Int) -> HTML {
        let column = columns[index]
        guard column.count > 0 else { return "" }
        let start = Self.thousandths(index, of: columns.count)
        let end = Self.thousandths(index + 1, of: columns.count)
        // A gap between columns, as long as they are wide enough to be told apart.
        let gap = columns.count > 60 ? (end - start) / 10 : (end - start) / 6
        var below = 0
        let rects = column.parts.map { tone, count -> HTML in
            guard count > 0 else { return "" }
            let bottom = Self.thousandths(below, of: top)
            below += count
            let height = max(Self.thousandths(below, of: top), bottom + 400) - bottom
            return """
                <rect class="\(tone)" x=\(thousandths: start + gap / 2)% width=\(thousandths: end - start - gap)% \
                y=\(thousandths: max(0, 100_000 - bottom - height))% height=\(thousandths: height)% />
                """
        }
        let content: HTML = "<title>\(column.title)</title>\(rects)"
        guard let address = column.address else { return "<g>\(content)</g>" }
        // The table beside it has the same addresses for the keyboard.
        return "<a href=\"\(address)\" tabindex=-1>\(content)</a>"
    }

    /// - Parameter count: `top` at most, which is above 0; any number, as a collector may have been told any.
    static func thousandths(_ count: Int, of top: Int) -> Int {
        top.dividingFullWidth(count.multipliedFullWidth(by: 100_000)).quotient
    }

    /// The next number of the form 2, 4, 10, 20, 40, 100, ..., of which a half is a whole number.
    static func round(_ greatest: Int) -> Int {
        var decade = 1
        while decade < (greatest + 9) / 10 { decade *= 10 }
        return [2, 4, 6, 8, 10, 20].lazy.map { $0 * decade }.first { $0 >= greatest } ?? greatest
    }
}

extension HTML.StringInterpolation {
    /// Thousandths of a percent, without the sign: `23.456`.
    mutating func appendInterpolation(thousandths: Int) {
        let (whole, rest) = thousandths.quotientAndRemainder(dividingBy: 1000)
        appendInterpolation(rest == 0 ? "\(whole)" : "\(whole).\(String(1000 + rest).dropFirst())")
    }
}
