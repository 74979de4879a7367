import WaybillAnalysis
import WaybillCore
import WaybillExport

/// How many durations lie where, on a scale on which each step is about twice the one before, with the quantiles
/// marked.
struct Histogram {
    private let bars: [DurationSegment.Bar]
    private let quantiles: [(name: String, microseconds: Int64)]
    private let address: ((DurationSegment.Bar) -> String)?

    /// - Parameter address: Where a column leads; nil: nowhere.
    init(_ segment: DurationSegment, address: ((DurationSegment.Bar) -> String)? = nil) {
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
                title: "\(Self.range(bar)): \(bar.count)", address: address?(bar), parts: [("", bar.count)])
        }
        return """
            <div class=histogram><svg class=marks aria-hidden=true>\(marks)</svg>\
            \(ColumnChart(columns: columns, overlay: lines).html)<svg class=bounds aria-hidden=true>\(bounds)</svg></div>

            """
    }

    /// `20 ms to 50 ms`.
    static func range(_ bar: DurationSegment.Bar) -> String {
        "\(Words.roundDuration(bar.fromMicroseconds)) to \(Words.roundDuration(bar.toMicroseconds))"
    }

    /// Names, each in a line of its own since they may stand close together: to the left of their marks, and the last
    /// on top, so that no mark goes through the name of another. Their values are among the figures above.
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

    /// Bounds, as many as there is room for; every other one is left out on a narrow screen.
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

    /// Thousandths of a percent of the width.
    private func place(_ microseconds: Int64) -> Int {
        guard let index = bars.firstIndex(where: { $0.toMicroseconds > microseconds }) else { return 100_000 }
        let bar = bars[index]
        let share =
            Double(microseconds - bar.fromMicroseconds) / Double(max(1, bar.toMicroseconds - bar.fromMicroseconds))
        return min(100_000, max(0, Int((Double(index) + share) / Double(bars.count) * 100_000)))
    }
}
