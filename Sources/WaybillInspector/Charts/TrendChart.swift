import WaybillCore
import WaybillExport
import WaybillQueries

/// A chart of p50 and p95 over time, with a column for each step.
struct TrendChart {
    typealias Step = DurationSegment.Step

    private let steps: [Int64: Step]
    private let words: FixedSteps
    /// The first and the last column, in lengths of a step since 1970.
    private let numbers: ClosedRange<Int64>
    private let longest: Int64

    private static let columnLimit: Int64 = 144

    /// Returns `nil` without steps, or with too many. A collector may answer with other steps than the page asked for.
    init?(_ steps: [Step], _ words: FixedSteps) {
        guard let first = steps.map(\.startMicroseconds).min(), let last = steps.map(\.startMicroseconds).max() else {
            return nil
        }
        let (start, end) = (Self.number(first, words), Self.number(last, words))
        let count = end.subtractingReportingOverflow(start)
        let (least, isTooLate) = start.addingReportingOverflow(Int64(TimeSteps.leastCount) - 1)
        guard !count.overflow, count.partialValue <= Self.columnLimit, !isTooLate else { return nil }
        self.words = words
        numbers = start...max(end, least)
        self.steps = Self.numbered(steps, words)
        longest = Self.longest(steps)
    }

    private static func longest(_ steps: [Step]) -> Int64 {
        steps.map(\.statistics).flatMap { [$0.p50Microseconds, $0.p95Microseconds] }.compactMap(\.self).max() ?? 0
    }

    private static func numbered(_ steps: [Step], _ words: FixedSteps) -> [Int64: Step] {
        Dictionary(steps.map { (number($0.startMicroseconds, words), $0) }, uniquingKeysWith: { first, _ in first })
    }

    private static func number(_ start: Int64, _ words: FixedSteps) -> Int64 {
        start.quotientAndRemainder(flooringBy: words.length).quotient
    }

    private var scale: (unit: String, microseconds: Int64) {
        longest < 20_000 ? ("µs", 1) : longest < 20_000_000 ? ("ms", 1_000) : ("s", 1_000_000)
    }

    var unit: String { scale.unit }

    /// - Parameter marks: Names with the starts of their first steps.
    func html(marks: [(start: Int64, name: String)] = []) -> HTML {
        ColumnChart(columns: columns(of: steps, per: scale.microseconds), label: label, overlay: overlay(marks)).html
    }

    func small(_ groups: [[Step]]) -> [HTML] {
        let top = Self.count(groups.map(Self.longest).max() ?? 0, per: scale.microseconds)
        return groups.map { steps in
            let columns = columns(of: Self.numbered(steps, words), per: scale.microseconds)
            return ColumnChart(columns: columns, hasScale: false, top: top).html
        }
    }

    var ends: HTML {
        let columns = numbers.map { number in
            guard let step = steps[number] else { return ColumnChart.Column(title: "", parts: []) }
            return ColumnChart.Column(words.label(step.startMicroseconds), step.outcomes, withoutEnd: step.withoutEnd)
        }
        return ColumnChart(columns: columns, label: label).html
    }

    var remark: HTML {
        """
        <p class=hint><svg class="sign p50" aria-hidden=true><rect /></svg>p50, <svg class="sign p95" aria-hidden=true><rect /></svg>p95. \
        Each column is \(Words.roundDuration(words.length)) by the beginning, in \(words.zoneName(at: start(of: numbers.lowerBound))).
        """
    }

    private func label(_ column: Int) -> String { words.label(start(of: numbers.lowerBound + Int64(column))) }

    private func start(of number: Int64) -> Int64 {
        let (start, isTooLate) = number.multipliedReportingOverflow(by: words.length)
        return isTooLate ? (number < 0 ? .min : .max) : start
    }

    private func columns(of steps: [Int64: Step], per divisor: Int64) -> [ColumnChart.Column] {
        numbers.map { number in
            guard let step = steps[number] else { return ColumnChart.Column(title: "", parts: []) }
            let (p50, p95) = (step.statistics.p50Microseconds, step.statistics.p95Microseconds)
            let (half, most) = (Self.count(p50 ?? 0, per: divisor), Self.count(p95 ?? 0, per: divisor))
            let words = "p50 \(p50.map(Words.duration) ?? "-"), p95 \(p95.map(Words.duration) ?? "-")"
            return ColumnChart.Column(
                title: "\(self.words.label(step.startMicroseconds)): \(words)",
                parts: [("p50", half), ("p95", max(0, most - half))])
        }
    }

    private static func count(_ microseconds: Int64, per divisor: Int64) -> Int { Int(max(0, microseconds) / divisor) }

    /// More names would cover the columns.
    private static let markLimit = 4
    private static let markLength = 14

    private func overlay(_ marks: [(start: Int64, name: String)]) -> HTML {
        // Names in the first column may be older than the chart.
        let later = marks.map { (number: Self.number($0.start, words), name: $0.name) }
            .filter { numbers.contains($0.number) && $0.number > numbers.lowerBound }.sorted { $0.number < $1.number }
        return "\(later.suffix(Self.markLimit).enumerated().map { mark($1.number, $1.name, line: $0) })"
    }

    private func mark(_ number: Int64, _ name: String, line: Int) -> HTML {
        let x = ColumnChart.thousandths(Int(number - numbers.lowerBound), of: numbers.count)
        let isLong = name.count > Self.markLength
        let text = isLong ? "\(name.prefix(Self.markLength - 1))…" : name
        let side: HTML = x > 60_000 ? " text-anchor=end dx=-4" : " dx=4"
        return """
            <line class=quantile x1=\(thousandths: x)% x2=\(thousandths: x)% y2=100% />\
            <text x=\(thousandths: x)% y=\(12 + 15 * line)\(side)>\(text)</text>
            """
    }
}
