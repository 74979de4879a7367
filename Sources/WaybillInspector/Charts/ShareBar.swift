import WaybillExport

/// A number as a bar, to be compared with those above and below it.
struct ShareBar {
    /// What the whole width stands for.
    private let whole: Double
    /// One after the other, with the class of each one's colour.
    private let parts: [(tone: String, count: Double)]

    /// Whether it stands for itself rather than in a row.
    private let isTall: Bool

    init<Number: BinaryInteger>(_ count: Number, of whole: Number, tone: String = "") {
        self.init([(tone, count)], of: whole)
    }

    init<Number: BinaryInteger>(_ parts: [(tone: String, count: Number)], of whole: Number, isTall: Bool = false) {
        self.parts = parts.map { ($0.tone, Double($0.count)) }
        self.whole = Double(max(1, whole))
        self.isTall = isTall
    }

    var html: HTML {
        var before = 0.0
        let rects = parts.map { tone, count -> HTML in
            guard count > 0 else { return "" }
            let start = Int(min(before / whole, 1) * 100_000)
            before += count
            // Something for every number above zero.
            let end = max(Int(min(before / whole, 1) * 100_000), start + 300)
            return
                "<rect class=\"\(tone)\" x=\(thousandths: start)% width=\(thousandths: min(end, 100_000) - min(start, 99_700))% />"
        }
        return "<svg class=\"share\(" tall", if: isTall)\" aria-hidden=true>\(rects)</svg>"
    }
}
