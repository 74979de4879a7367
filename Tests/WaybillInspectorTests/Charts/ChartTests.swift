import Foundation
import TestSupport
import Testing
import WaybillCore

@testable import WaybillExport
@testable import WaybillInspector
@testable import WaybillQueries

/// The marks of charts, and the time steps that they represent.
@Suite(.timeLimit(.minutes(5))) struct ChartTests {
    private static let hour: Int64 = 3_600_000_000

    @Test func hoursAreDaysWhereThereAreManyOfThem() throws {
        let few = TimeSteps(covering: [0, 71 * Self.hour], in: .gmt)
        #expect(few.length == "hour" && few.title(1) == "1970-01-01 01:00 UTC")
        #expect(few.count == 72 && few.days == 0)
        let days = TimeSteps(covering: [0, 72 * Self.hour], in: .gmt)
        #expect(days.count == 4 && days.days == 1)
        #expect(TimeSteps(covering: [], in: .gmt).count == 0)
    }

    /// Clocks moved forward at 2 o'clock on 2026-03-29, which has 23 hours.
    @Test func daysAreThoseOfTheTimeZone() throws {
        let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
        let start: Int64 = 1_774_566_000_000_000  // 2026-03-27T00:00:00 in Berlin
        let hours = (0..<Int64(100)).map { start + $0 * Self.hour }
        let steps = TimeSteps(covering: hours, in: zone)
        #expect(
            (0..<steps.count).map { String(steps.title($0).prefix(10)) } == [
                "2026-03-27", "2026-03-28", "2026-03-29", "2026-03-30", "2026-03-31",
            ])
        #expect(steps.title(0).hasSuffix(" UTC+01:00") && steps.zoneName == "UTC+02:00", "\(steps.title(0))")
        #expect(zip(steps.borders, steps.borders.dropFirst()).map { ($1 - $0) / Self.hour } == [24, 24, 23, 24, 24])
        for hour in hours {
            let index = steps.index(of: hour)
            #expect(steps.borders[index] <= hour && hour < steps.borders[index + 1])
        }
    }

    @Test(arguments: [[0], [LoginHistory.begun], [0, LoginHistory.begun], [-400 * 24 * hour, 0, 9_000_000 * hour]])
    func howeverFarApartTimesAreThereAreFewColumns(times: [Int64]) {
        let steps = TimeSteps(covering: times, in: .gmt)
        #expect((1...97).contains(steps.count))
        for time in times {
            let index = steps.index(of: time)
            #expect(steps.borders[index] <= time && time < steps.borders[index + 1])
        }
    }

    @Test func everyRunIsInOneColumnAndInOneRow() {
        let rates = (0..<500).map {
            UseCaseSummary.Rate(
                start: Date(microseconds: LoginHistory.begun + Int64($0) * 5 * Self.hour),
                outcomes: [.succeeded: $0, .failed: 1])
        }
        let steps = OutcomeSteps(rates, steps: TimeSteps(covering: rates.map(\.startMicroseconds), in: .gmt))
        let succeeded: [Int] = steps.outcomes.compactMap { $0[.succeeded] }
        let failed: [Int] = steps.outcomes.compactMap { $0[.failed] }
        #expect(succeeded.reduce(0, +) == 499 * 250)
        #expect(failed.reduce(0, +) == 500)
        let table = steps.table
        #expect(table.rows.count == steps.steps.count)
        #expect(table.rows.allSatisfy { $0.cells.count == table.columns.count })
    }

    /// Hourly steps would turn minutes of data into one column as wide as the page.
    @Test(
        arguments: [
            (0, 1, "second"), (71, 1, "second"), (72, 5, "5 seconds"), (359, 5, "5 seconds"), (600, 15, "15 seconds"),
            (3_600, 60, "minute"),
            (4 * 3_600, 300, "5 minutes"), (12 * 3_600, 900, "15 minutes"), (18 * 3_600, 3_600, "hour"),
            (400 * 86_400, 3_600, "hour"),
        ] as [(Int64, Int64, String)])
    func stepsFitTheTimeThatTheDataTakes(seconds: Int64, step: Int64, length: String) {
        let (first, last) = (LoginHistory.begun, LoginHistory.begun + seconds * 1_000_000)
        let chosen = TimeSteps.step(for: first...last)
        #expect(chosen == step * 1_000_000)
        guard seconds < 86_400 else { return }
        let times = [first, last].map { $0 / chosen * chosen }
        let steps = TimeSteps(covering: times, each: chosen, atLeast: TimeSteps.leastCount, in: .gmt)
        #expect((12...73).contains(steps.count), "\(steps.count) columns")
        #expect(steps.length == length)
        for time in times { #expect(steps.borders[steps.index(of: time)] == time) }
        #expect(
            TimeSteps(covering: times, each: 1_000_000, in: .gmt).count <= 73,
            "However short the steps of the data are.")
    }

    private func step(_ start: Int64, p50: Int64, p95: Int64) -> TrendChart.Step {
        var durations: [Int64] = []
        var step = TrendChart.Step(
            start: Date(), statistics: DurationStatistics(&durations), withoutEnd: 0, reversed: 0, outcomes: [:])
        step.startMicroseconds = start
        (step.statistics.p50Microseconds, step.statistics.p95Microseconds) = (p50, p95)
        return step
    }

    /// Breaks when a version that existed before the chart begins looks new, a new version isn't marked, or a store
    /// with one wrong clock ends the process.
    @Test func aTrendMarksWhatBeganWithinIt() throws {
        let day: Int64 = 86_400_000_000
        let start = LoginHistory.begun / day * day
        func steps(_ days: [Int64]) -> [TrendChart.Step] {
            days.map { step(start + $0 * day, p50: 15_000, p95: 90_000) }
        }
        let words = FixedSteps(each: day, in: try #require(TimeZone(identifier: "America/New_York")))
        let chart = try #require(TrendChart(steps([0, 1, 3]), words))
        let html = chart.html(marks: [(start, "2.0"), (start + 3 * day, "2.1 (a version with a long name)")]).text
        #expect(!html.contains(">2.0</text>") && html.contains(">2.1 (a versio…</text>"))
        #expect(html.contains("x1=25%"), "three of twelve columns are before it")
        #expect(html.contains("2026-03-02: p50 15.0 ms, p95 90.0 ms"), "days are those of UTC")
        #expect(chart.unit == "ms" && chart.small([steps([1])])[0].text.matches(of: #/<rect/#).count == 2)
        #expect(TrendChart([], words) == nil && TrendChart(steps([0, 1_000]), words) == nil)
        for ends in [[Int64.min], [Int64.max], [Int64.min, Int64.max]] {
            for length in [1, 60_000_000, day, Int64.max] {
                let steps = ends.map { step($0, p50: .max, p95: .min) }
                _ = TrendChart(steps, FixedSteps(each: length, in: .gmt))?.html(marks: [(0, "a")])
            }
        }
    }

    @Test(arguments: [
        (0, 2), (1, 2), (2, 2), (3, 4), (7, 8), (10, 10), (11, 20), (57, 60), (95, 100), (100, 100), (101, 200),
        (4321, 6000),
    ])
    func theScaleEndsWithARoundNumberThatHasAHalf(greatest: Int, top: Int) {
        #expect(ColumnChart.round(greatest) == top)
        #expect(top % 2 == 0)
    }

    @Test func aColumnIsAsHighAsItsShareAndNeverGone() {
        let columns = [("a", 50), ("b", 1), ("c", 0)].map { ColumnChart.Column(title: $0.0, parts: [("failed", $0.1)]) }
        let html = ColumnChart(columns: columns, hasScale: false).html.text
        #expect(html.contains("y=0% height=100%"))
        #expect(html.contains("y=98% height=2%"))
        #expect(html.matches(of: #/<rect/#).count == 2, "Nothing is no mark.")
        let small = ColumnChart(
            columns: [.init(title: "", parts: [("", 1_000_000)]), .init(title: "", parts: [("", 1)])], hasScale: false
        ).html.text
        #expect(small.contains("height=0.400%"), "What is there can be seen.")
    }

    @Test func quantilesStandWhereTheyAreInTheirStep() {
        var durations = Durations()
        for value: Int64 in [10_000, 15_000, 15_000, 45_000] { durations.append(value) }
        let segment = DurationSegment(
            value: nil, statistics: DurationStatistics(&durations), withoutEnd: 0, reversed: 0, outcomes: [:],
            histogram: [DurationSegment.Bar](of: durations))
        let html = Histogram(segment).html.text
        // From 10 to 20 and from 20 to 50 ms: half of the first of two columns, 25/30 of the second.
        #expect(html.contains("x=25% y=57 text-anchor=end dx=-5>p50<"))
        #expect(html.contains("x=91.666% y=42 text-anchor=end dx=-5>p90<"))
        #expect(
            html.contains("x=91.666% y=12 text-anchor=end dx=-5>p99<"),
            "The last stands on top: no line of another goes through it.")
        #expect(html.contains(">10 ms</text>") && html.contains(">50 ms</text>"))
        #expect(
            Histogram(
                DurationSegment(
                    value: nil, statistics: DurationStatistics(&durations), withoutEnd: 0, reversed: 0, outcomes: [:],
                    histogram: [])
            )
            .html.text.isEmpty)
    }

    private func estimate(_ value: Double?, _ low: Double?, _ high: Double?) -> Estimate<Double> {
        Estimate(value: value, low: low, high: high)
    }

    /// Breaks when one interval, wide because of few transactions, compresses all others into a dot in the middle.
    @Test func oneWideIntervalDoesNotSetTheScale() {
        let reach = Whisker.reach([estimate(0.1, 0.05, 0.15), estimate(0.2, -0.1, 0.5), estimate(0.1, -1, 139.858)])
        #expect(reach > 0.5 && reach < 1)
        let wide = Whisker(difference: estimate(0.1, -0.1, 139.858), reach: reach).html.text
        #expect(wide.matches(of: #/y1=5/#).count == 1, "only the end that is in the picture has a bar")
        #expect(Whisker.reach([estimate(0, -0.5, 0.5), estimate(0, -100, 100)]) <= 100)
    }

    @Test func anIntervalWithoutAnEndGoesToTheEdge() {
        let whole = Whisker(difference: estimate(0.5, -0.5, 1), reach: 1, tone: "failed").html.text
        #expect(whole.contains("x1=26.500% x2=97% y1=10"))
        #expect(whole.matches(of: #/y1=5 y2=15/#).count == 2)
        let open = Whisker(difference: estimate(0.5, nil, 1), reach: 1).html.text
        #expect(open.contains("x1=0% x2=97% y1=10"))
        #expect(open.matches(of: #/y1=5 y2=15/#).count == 1)
        #expect(!Whisker(difference: estimate(nil, nil, nil), reach: 1).html.text.contains("circle"))
        #expect(!Whisker(difference: estimate(0, 0, 0), reach: Whisker.reach([])).html.text.contains("nan"))
    }
}
