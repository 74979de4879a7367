import WaybillExport

/// A difference and the interval in which it lies, around a line that stands for none.
struct Whisker {
    /// The difference; nil: unknown.
    var value: Double?
    /// Where the interval begins; nil: it has no beginning.
    var low: Double?
    /// Where the interval ends; nil: it has no end.
    var high: Double?
    /// What half of the width stands for.
    var reach: Double
    /// The class of its colour.
    var tone: String

    /// What half of the width has to stand for: so that all differences can be seen, and the intervals as far as they
    /// are no more than three times as long. One wide interval must not press all others into the middle.
    static func reach(_ estimates: [(value: Double?, low: Double?, high: Double?)]) -> Double {
        func magnitudes(_ values: [Double?]) -> [Double] {
            values.compactMap(\.self).filter(\.isFinite).map(\.magnitude).sorted()
        }
        let differences = magnitudes(estimates.map(\.value))
        let ends = magnitudes(estimates.flatMap { [$0.value, $0.low, $0.high] })
        // Where nothing differs, by the interval in the middle.
        let usual = differences.last.flatMap { $0 > 0 ? $0 : nil } ?? (ends.isEmpty ? 0 : ends[ends.count / 2])
        return max(min(ends.last ?? 0, 3 * usual), .leastNormalMagnitude)
    }

    var html: HTML {
        guard let value else {
            return "<svg class=whisker aria-hidden=true><line class=none x1=50% x2=50% y2=100% /></svg>"
        }
        let (start, end) = (low.map(place) ?? 0, high.map(place) ?? 100_000)
        // An end that is known and in the picture has a bar across.
        let known = [(low, start), (high, end)].filter { end, _ in end.map { $0.magnitude <= reach } ?? false }
        let ends = known.map { _, x -> HTML in
            "<line x1=\(thousandths: x)% x2=\(thousandths: x)% y1=5 y2=15 />"
        }
        return """
            <svg class="whisker \(tone)" aria-hidden=true><line class=none x1=50% x2=50% y2=100% />\
            <line x1=\(thousandths: start)% x2=\(thousandths: end)% y1=10 y2=10 />\(ends)<circle cx=\(thousandths: place(value))% cy=10 r=4 /></svg>
            """
    }

    /// Thousandths of a percent of the width, with a little room at the ends.
    private func place(_ difference: Double) -> Int {
        let share = max(-1, min(1, difference / reach))
        return Int(((share.isFinite ? share : 0) * 0.47 + 0.5) * 100_000)
    }
}
