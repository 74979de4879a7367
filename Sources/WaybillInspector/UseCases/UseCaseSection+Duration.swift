import WaybillAnalysis
import WaybillCore
import WaybillExport
import WaybillReading

/// How long it takes, as a histogram with its quantiles.
extension UseCaseSection {
    func duration(_ query: DurationQuestion, _ answer: DurationAnswer) -> HTML {
        let (from, to) = (Words.point(query.from), Words.point(query.to))
        let segment = answer.total
        // What a list can ask for is the whole duration alone.
        let isWhole = query.from == .begun && query.to == .finished
        let histogram = Histogram(segment, address: isWhole ? { list(of: $0) } : nil)
        let rows = segment.histogram.map { bar -> [HTML] in
            let count: HTML = isWhole ? "<a href=\"\(list(of: bar))\">\(bar.count)</a>" : "\(bar.count)"
            return ["\(Histogram.range(bar))", count, "\(Words.percent(bar.count, of: segment.statistics.count))"]
        }
        var sentences = [Words.counted(segment.outcomes)].compactMap(\.self)
        if segment.withoutEnd > 0 {
            sentences.append("\(Words.count(segment.withoutEnd, "transaction")) had \(from), and not \(to).")
        }
        if segment.reversed > 0 {
            sentences.append("\(Words.count(segment.reversed, "transaction")) had \(to) before \(from).")
        }
        let numbers = folded(
            AnswerTable(caption: "Durations", columns: ["Duration", "Transactions", "Of all"], rows: rows))
        return section(
            "Duration from \(from) to \(to)", file: "duration.csv",
            "\(statistics(segment.statistics))\(histogram.html)\(remarks(sentences))\(numbers)")
    }

    private func statistics(_ statistics: DurationStatistics) -> HTML {
        let cells: [(String, Int64?)] = [
            ("Least", statistics.minimumMicroseconds), ("p50", statistics.p50Microseconds),
            ("p75", statistics.p75Microseconds),
            ("p90", statistics.p90Microseconds), ("p95", statistics.p95Microseconds),
            ("p99", statistics.p99Microseconds),
            ("Most", statistics.maximumMicroseconds), ("Mean", statistics.meanMicroseconds),
        ]
        return """
            <dl class=figures><div><dt>Transactions<dd>\(statistics.count)</div>\
            \(cells.map { "<div><dt>\($0.0)<dd>\(time($0.1))</div>" as HTML })</dl>

            """
    }

    /// Exactly those of a column: durations are whole microseconds.
    private func list(of bar: DurationSegment.Bar) -> String {
        let below = FilterExpression.Term(FilterCondition.tookLessThan(.microseconds(bar.toMicroseconds)))
        guard bar.fromMicroseconds > 0 else { return links.transactions(of: useCase, [], [below]) }
        return links.transactions(
            of: useCase, [],
            [FilterExpression.Term(FilterCondition.tookMoreThan(.microseconds(bar.fromMicroseconds - 1))), below])
    }
}
