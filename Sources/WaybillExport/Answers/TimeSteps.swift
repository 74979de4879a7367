package import Foundation
package import WaybillCore
package import WaybillQueries

/// The time ranges of a chart's columns: seconds, minutes or hours, or one or more days in a time zone.
package struct TimeSteps: Sendable, Equatable {
    /// The start of each step, in microseconds since 1970, and the end of the last one.
    package let borders: [Int64]
    /// 0 if steps are an hour or less.
    let days: Int
    private let step: Int64
    private let first: Int64
    private let zone: TimeZone

    private static let second: Int64 = 1_000_000
    private static let minute = 60 * second
    private static let hour = 60 * minute
    private static let day = 24 * hour
    /// The maximum number of columns that people can distinguish on a narrow screen.
    private static let limit = 96
    /// Steps are days for more hours than this.
    private static let hourLimit: Int64 = 72
    /// The minimum number of steps, which prevents a single column as wide as the page.
    package static let leastCount = 12

    /// The lengths of steps that are combined to days of a time zone, as counts are.
    package static let lengthsOfCounts = second...hour
    /// The lengths of steps that cannot be combined, as those of percentiles. Collectors answer for at least a minute.
    package static let lengthsOfPercentiles = minute...Int64.max

    /// Returns a suitable length of steps for the first and the last time; `nil` for none.
    package static func step(
        for times: ClosedRange<Int64>?, within lengths: ClosedRange<Int64> = lengthsOfCounts
    ) -> Int64 {
        guard let times else { return hour }
        func distance(_ step: Int64) -> Int64 { floor(times.upperBound, step) - floor(times.lowerBound, step) }
        let usual = [1, 5, 15, 60, 300, 900, 3_600, 86_400].map { $0 * second }
        let step = usual.first { distance($0) < hourLimit } ?? (distance(day) / hourLimit + 1) * day
        return min(max(step, lengths.lowerBound), lengths.upperBound)
    }

    /// Creates steps for times that are multiples of `step`, the minimum length in microseconds. Unless steps are days,
    /// there are at least `leastCount`.
    package init(
        covering times: [Int64], each step: Int64 = 3_600_000_000, atLeast leastCount: Int = 1, in zone: TimeZone
    ) {
        self.zone = zone
        guard let least = times.min(), let greatest = times.max() else {
            (borders, days, first, self.step) = ([], 0, 0, Self.hour)
            return
        }
        if greatest / Self.hour - least / Self.hour < Self.hourLimit {
            let step = min(Self.hour, max(step, Self.step(for: least...greatest)))
            (days, first, self.step) = (0, Self.floor(least, step), step)
            borders = (first...max(Self.floor(greatest, step) + 1, first + Int64(leastCount))).map { $0 * step }
            return
        }
        self.step = Self.hour
        let (firstDay, lastDay) = (Self.localDay(of: least, zone), Self.localDay(of: greatest, zone))
        var length: Int64 = 1
        for longer: Int64 in [7, 28, 91, 364] where (lastDay - firstDay) / length >= Self.limit { length = longer }
        while (lastDay - firstDay) / length >= Self.limit { length *= 10 }
        (days, first) = (Int(clamping: length), firstDay)
        borders = (0...(lastDay - firstDay) / length + 1).map { Self.midnight(of: firstDay + $0 * length, zone) }
    }

    package var count: Int { max(0, borders.count - 1) }

    func index(of microseconds: Int64) -> Int {
        Int(
            clamping: days == 0
                ? Self.floor(microseconds, step) - first : (Self.localDay(of: microseconds, zone) - first) / Int64(days)
        )
    }

    /// Returns the sum of the counts in each step. Their times must be within the steps.
    package func counts(_ counts: [(start: Int64, count: Int)]) -> [Int] {
        var sums = [Int](repeating: 0, count: self.count)
        for (start, count) in counts { sums[index(of: start)] += count }
        return sums
    }

    package func label(_ index: Int) -> String { days == 0 ? clock(index) : WallTime(borders[index], in: zone).date }

    /// Includes the time zone, because browsers convert other times to the reader's zone.
    package func title(_ index: Int) -> String {
        let time = WallTime(borders[index], in: zone)
        return switch days {
        case 0: "\(time.date) \(clock(index)) \(time.zone)"
        case 1: "\(time.date) \(time.zone)"
        default: "\(days) days from \(time.date) \(time.zone)"
        }
    }

    package var zoneName: String { WallTime(borders.last ?? 0, in: zone).zone }

    private func clock(_ index: Int) -> String {
        String(WallTime(borders[index], in: zone).time.prefix(step < Self.minute ? 8 : 5))
    }

    /// The length of a step after the word “each”, for example `5 seconds` or `hour`.
    package var length: String {
        let (count, noun) =
            switch days {
            case 0 where step < Self.minute: (Int(step / Self.second), "second")
            case 0 where step < Self.hour: (Int(step / Self.minute), "minute")
            case 0: (1, "hour")
            default: (days, "day")
            }
        return count == 1 ? noun : Words.count(count, noun)
    }

    private static func floor(_ microseconds: Int64, _ step: Int64) -> Int64 {
        microseconds.quotientAndRemainder(flooringBy: step).quotient
    }

    private static func localDay(of microseconds: Int64, _ zone: TimeZone) -> Int64 {
        floor(microseconds + offset(of: zone, at: microseconds), day)
    }

    private static func midnight(of localDay: Int64, _ zone: TimeZone) -> Int64 {
        // Use the offset some hours before, since clocks change after midnight.
        let utc = localDay * day
        return utc - offset(of: zone, at: utc - offset(of: zone, at: utc))
    }

    private static func offset(of zone: TimeZone, at microseconds: Int64) -> Int64 {
        Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(microseconds / 1_000_000)))) * second
    }
}

/// The words for steps that begin at multiples of their length since 1970, which is UTC for days.
package struct FixedSteps: Sendable {
    package let length: Int64
    private let zone: TimeZone
    private let isOfDays: Bool

    package init(each length: Int64, in zone: TimeZone) {
        self.length = max(1, length)
        isOfDays = self.length.isMultiple(of: 86_400_000_000)
        self.zone = isOfDays ? .gmt : zone
    }

    package func label(_ start: Int64) -> String {
        let time = WallTime(start.bounded, in: zone)
        if isOfDays { return time.date }
        return "\(time.date) \(time.time.prefix(length.isMultiple(of: 60_000_000) ? 5 : 8))"
    }

    package func zoneName(at start: Int64) -> String { WallTime(start.bounded, in: zone).zone }
}

package struct OutcomeSteps {
    package let steps: TimeSteps
    package let outcomes: [[TransactionOutcome: Int]]

    package init(_ outcomes: [[TransactionOutcome: Int]], steps: TimeSteps) {
        (self.steps, self.outcomes) = (steps, outcomes)
    }

    package init(_ rates: [UseCaseSummary.Rate], steps: TimeSteps) {
        var outcomes = [[TransactionOutcome: Int]](repeating: [:], count: steps.count)
        for rate in rates {
            outcomes[steps.index(of: rate.startMicroseconds)].merge(rate.outcomes, uniquingKeysWith: +)
        }
        (self.steps, self.outcomes) = (steps, outcomes)
    }

    package var table: AnswerTable {
        var fields: [Field<Int>] = [
            Field("start") { .text(Words.iso8601(steps.borders[$0])) },
            Field("end") { .text(Words.iso8601(steps.borders[$0 + 1])) },
            Field(nil, "Begun in", .word) { .text(steps.title($0)) },
            Field("runs", "Runs") { .count(outcomes[$0].values.reduce(0, +)).listing(where: window($0)) },
        ]
        fields += TransactionOutcome.allCases.map { outcome in
            let isShown = outcomes.contains { $0[outcome] != nil }
            return Field(outcome.name, isShown ? Words.outcome(outcome) : nil) { index in
                guard let count = outcomes[index][outcome] else { return .count(0, as: "") }
                return .count(count).listing(where: window(index) + [("outcome", outcome.name)])
            }
        }
        return AnswerTable(Array(outcomes.indices), fields, isShown: { !outcomes[$0].isEmpty })
    }

    /// Returns list conditions for the transactions of a step. Steps begin at whole seconds.
    package func window(_ index: Int) -> [(name: String, value: String)] {
        zip(["since", "until"], steps.borders[index...]).map { ($0, "\(Words.iso8601($1).prefix(19))Z") }
    }
}
