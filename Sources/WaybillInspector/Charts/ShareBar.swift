import WaybillExport

/// A number as a bar, to be compared with those above and below it.
struct ShareBar {
    /// What the whole width stands for.
    var whole: Int
    /// One after the other, with the class of each one's colour.
    var parts: [(tone: String, count: Int)]

    /// Whether it stands for itself rather than in a row.
    var isTall: Bool

    init(_ count: Int, of whole: Int, tone: String = "") { self.init([(tone, count)], of: whole) }

    init(_ parts: [(tone: String, count: Int)], of whole: Int, isTall: Bool = false) {
        self.parts = parts
        self.whole = max(1, whole)
        self.isTall = isTall
    }

    var html: HTML {
        var before = 0
        let rects = parts.map { tone, count -> HTML in
            guard count > 0 else { return "" }
            let start = Int(Double(before) / Double(whole) * 100_000)
            before += count
            // Something for every number above zero.
            let end = max(Int(Double(before) / Double(whole) * 100_000), start + 300)
            return
                "<rect class=\"\(tone)\" x=\(thousandths: start)% width=\(thousandths: min(end, 100_000) - min(start, 99_700))% />"
        }
        return "<svg class=\"share\(" tall", if: isTall)\" aria-hidden=true>\(rects)</svg>"
    }
}
