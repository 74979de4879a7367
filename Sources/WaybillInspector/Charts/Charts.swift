import WaybillCore
import WaybillExport
import WaybillQueries

struct ColumnChart {
    struct Column {
        var title: String
        var address: String?
        var parts: [(tone: String, count: Int)]

        var count: Int { parts.reduce(0) { $0 + $1.count } }
    }

    var columns: [Column]
    var label: ((Int) -> String)?
    var hasScale = true
    var overlay: HTML = ""
    /// The number that the whole height represents without a scale; `nil` for the greatest.
    var top: Int?

    var html: HTML {
        guard hasScale else { return "<div class=plot>\(plot(to: max(1, greatest, top ?? 0)))</div>" }
        let top = Self.round(greatest)
        let scale: HTML =
            "<div class=scale aria-hidden=true><span>\(top)</span><span>\(top / 2)</span><span>0</span></div>"
        let marked = columns.count < 3 ? Array(columns.indices) : [0, columns.count / 2, columns.count - 1]
        let below = label.map { label -> HTML in
            "<div class=ticks aria-hidden=true>\(marked.map { "<span>\(label($0))</span>" as HTML })</div>"
        }
        return "<div class=\"plot scaled\">\(scale)\(plot(to: top))\(below ?? "")</div>\n"
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
        // For the keyboard, pages have a table with the same links, or fields for the time.
        return "<a href=\"\(address)\" tabindex=-1>\(content)</a>"
    }

    /// - Parameter count: At most `top`, which is positive. A collector accepts any number.
    static func thousandths(_ count: Int, of top: Int) -> Int {
        top.dividingFullWidth(count.multipliedFullWidth(by: 100_000)).quotient
    }

    /// Rounds up to 2, 4, 6, 8, 10 or 20 times a power of ten, to make half of it a whole number.
    static func round(_ greatest: Int) -> Int {
        var decade = 1
        while decade < (greatest + 9) / 10 { decade *= 10 }
        return [2, 4, 6, 8, 10, 20].lazy.map { $0 * decade }.first { $0 >= greatest } ?? greatest
    }
}

extension ColumnChart.Column {
    init(_ time: String, _ outcomes: [TransactionOutcome: Int], withoutEnd: Int = 0, address: String? = nil) {
        var ends = TransactionOutcome.barOrder.compactMap { outcome in
            outcomes[outcome].map { (tone: outcome.name, count: $0, words: Words.outcome(outcome)) }
        }
        if withoutEnd > 0 { ends.append((TransactionOutcome.open.name, withoutEnd, "without the end")) }
        let words = ends.isEmpty ? "none" : ends.map { "\($0.count) \($0.words)" }.joined(separator: ", ")
        self.init(title: "\(time): \(words)", address: address, parts: ends.map { ($0.tone, $0.count) })
    }
}

extension OutcomeSteps {
    /// - Parameter address: Returns the address of the transactions of a step, by their conditions.
    func columns(address: (([(name: String, value: String)]) -> String)? = nil) -> [ColumnChart.Column] {
        outcomes.indices.map { ColumnChart.Column(steps.title($0), outcomes[$0], address: address?(window($0))) }
    }
}

extension HTML.StringInterpolation {
    mutating func appendInterpolation(thousandths: Int) {
        let (whole, rest) = thousandths.quotientAndRemainder(dividingBy: 1000)
        appendInterpolation(rest == 0 ? "\(whole)" : "\(whole).\(String(1000 + rest).dropFirst())")
    }
}

/// A histogram of durations. Each step is about twice the previous one.
struct Histogram {
    private let bars: [DurationSegment.Bar]
    private let quantiles: [(name: String, microseconds: Int64)]
    private let address: (DurationSegment.Bar) -> String?

    init(_ segment: DurationSegment, address: @escaping (DurationSegment.Bar) -> String? = { _ in nil }) {
        bars = segment.histogram
        self.address = address
        let statistics = segment.statistics
        quantiles = [
            ("p50", statistics.p50Microseconds), ("p90", statistics.p90Microseconds),
            ("p95", statistics.p95Microseconds),
            ("p99", statistics.p99Microseconds),
        ].compactMap { name, value in value.map { (name, $0) } }
    }

    var html: HTML {
        guard !bars.isEmpty else { return "" }
        let columns = bars.map { bar in
            ColumnChart.Column(
                title: "\(bar.range): \(bar.count)", address: address(bar), parts: [("", bar.count)])
        }
        return """
            <div class=histogram><svg class=marks aria-hidden=true>\(marks)</svg>\
            \(ColumnChart(columns: columns, overlay: lines).html)<svg class=bounds aria-hidden=true>\(bounds)</svg></div>

            """
    }

    /// Each name is on a separate line to avoid overlap.
    private var marks: HTML {
        let lines = quantiles.reversed().enumerated().map { line, quantile -> HTML in
            let x = place(quantile.microseconds)
            return "<line x1=\(thousandths: x)% x2=\(thousandths: x)% y1=\(3 + 15 * line) y2=100% />"
        }
        let words = quantiles.reversed().enumerated().map { line, quantile -> HTML in
            "<text x=\(thousandths: place(quantile.microseconds))% y=\(12 + 15 * line) text-anchor=end dx=-5>\(quantile.name)</text>"
        }
        return "\(lines)\(words)"
    }

    private var lines: HTML {
        let lines = quantiles.map { quantile -> HTML in
            let x = place(quantile.microseconds)
            return "<line class=quantile x1=\(thousandths: x)% x2=\(thousandths: x)% y2=100% />"
        }
        return "\(lines)"
    }

    /// As many bounds as fit; narrow screens hide every other one.
    private var bounds: [HTML] {
        let step = bars.count / 9 + 1
        let all = bars.map(\.fromMicroseconds) + [bars[bars.count - 1].toMicroseconds]
        return stride(from: 0, to: all.count, by: step).enumerated().map { number, index -> HTML in
            let side: HTML = index == 0 ? "" : index == bars.count ? " text-anchor=end" : " text-anchor=middle"
            return """
                <text x=\(thousandths: ColumnChart.thousandths(index, of: bars.count))% y=13\(side)\(" class=fine", if: number % 2 == 1)>\
                \(Words.roundDuration(all[index]))</text>
                """
        }
    }

    private func place(_ microseconds: Int64) -> Int {
        guard let index = bars.firstIndex(where: { $0.toMicroseconds > microseconds }) else { return 100_000 }
        let bar = bars[index]
        let share =
            Double(microseconds - bar.fromMicroseconds) / Double(max(1, bar.toMicroseconds - bar.fromMicroseconds))
        return min(100_000, max(0, Int((Double(index) + share) / Double(bars.count) * 100_000)))
    }
}

extension HTML {
    static func shares(_ parts: [(tone: String, count: Int64)], of whole: Int64, isTall: Bool = false) -> HTML {
        let shown = parts.filter { $0.count > 0 }.map { (" class=\"\($0.tone)\"" as HTML, $0.count) }
        // Every number above zero is visible.
        let rects = segments(shown, of: max(1, whole), least: 3)
        return "<svg class=\"share\(" tall", if: isTall)\" aria-hidden=true>\(rects)</svg>"
    }
}

/// A difference with its interval, around a line for zero.
struct Whisker {
    let difference: Estimate<Double>
    let reach: Double
    var tone = ""

    /// All differences fit, and intervals up to three times as long. Longer ones are cut, to keep the others readable.
    static func reach(_ estimates: [Estimate<Double>]) -> Double {
        func magnitudes(_ values: [Double?]) -> [Double] {
            values.compactMap(\.self).filter(\.isFinite).map(\.magnitude).sorted()
        }
        let differences = magnitudes(estimates.map(\.value))
        let ends = magnitudes(estimates.flatMap { [$0.value, $0.low, $0.high] })
        // Without differences, use the median.
        let usual = differences.last.flatMap { $0 > 0 ? $0 : nil } ?? (ends.isEmpty ? 0 : ends[ends.count / 2])
        return max(min(ends.last ?? 0, 3 * usual), .leastNormalMagnitude)
    }

    var html: HTML {
        guard let value = difference.value else {
            return "<svg class=whisker aria-hidden=true><line class=none x1=50% x2=50% y2=100% /></svg>"
        }
        let (low, high) = (difference.low, difference.high)
        let (start, end) = (low.map(place) ?? 0, high.map(place) ?? 100_000)
        // Known ends within the picture have a bar across.
        let known = [(low, start), (high, end)].filter { end, _ in end.map { $0.magnitude <= reach } ?? false }
        let ends = known.map { _, x -> HTML in
            "<line x1=\(thousandths: x)% x2=\(thousandths: x)% y1=5 y2=15 />"
        }
        return """
            <svg class="whisker \(tone)" aria-hidden=true><line class=none x1=50% x2=50% y2=100% />\
            <line x1=\(thousandths: start)% x2=\(thousandths: end)% y1=10 y2=10 />\(ends)<circle cx=\(thousandths: place(value))% cy=10 r=4 /></svg>
            """
    }

    private func place(_ difference: Double) -> Int {
        let share = max(-1, min(1, difference / reach))
        return Int(((share.isFinite ? share : 0) * 0.47 + 0.5) * 100_000)
    }
}
