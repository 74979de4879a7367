package import Foundation
package import WaybillCore
package import WaybillQueries

/// The time ranges of the columns of a chart. They are seconds, minutes or hours, depending on the data, or one or more
/// days of a time zone.
package struct TimeSteps: Sendable, Equatable {
    /// The beginning of each step, in microseconds since 1970, and the end of the last one.
    package let borders: [Int64]
    /// The number of days in a step; 0 if steps are an hour or less.
    let days: Int
    /// The length of a step in microseconds, if it is an hour or less.
    private let step: Int64
    private let first: Int64
    private let zone: TimeZone

    private static let second: Int64 = 1_000_000
    private static let minute = 60 * second
    private static let hour = 60 * minute
    private static let day = 24 * hour
    /// The greatest number of columns that people can tell apart on a narrow screen.
    private static let limit = 96
    /// The number of hours above which steps are days.
    private static let hourLimit = 72
    /// The least number of steps, which keeps a single column from being as wide as the page.
    package static let leastCount = 12

    /// The length of the steps of a ``SummaryQuestion`` that suits the time between two times, in microseconds. It is at
    /// most an hour.
    package static func step(from least: Int64, to greatest: Int64) -> Int64 {
        let lengths = [1, 5, 15, 60, 300, 900].map { $0 * second }
        return lengths.first { floor(greatest, $0) - floor(least, $0) < hourLimit } ?? hour
    }

    /// Makes steps that cover some times, however far apart they are.
    ///
    /// - Parameters:
    ///   - times: Times in microseconds since 1970, each a multiple of `step`.
    ///   - step: The shortest length of a step, in microseconds. An hour is used instead of more.
    ///   - leastCount: The least number of steps that are shorter than a day. Empty steps follow the last time.
    package init(
        covering times: [Int64], each step: Int64 = 3_600_000_000, atLeast leastCount: Int = 1, in zone: TimeZone
    ) {
        self.zone = zone
        guard let least = times.min(), let greatest = times.max() else {
            (borders, days, first, self.step) = ([], 0, 0, Self.hour)
            return
        }
        if greatest / Self.hour - least / Self.hour < Self.hourLimit {
            let step = min(Self.hour, max(step, Self.step(from: least, to: greatest)))
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

    /// The number of steps.
    package var count: Int { max(0, borders.count - 1) }

    /// The step that contains one of the times.
    func index(of microseconds: Int64) -> Int {
        Int(
            clamping: days == 0
                ? Self.floor(microseconds, step) - first : (Self.localDay(of: microseconds, zone) - first) / Int64(days)
        )
    }

    /// The label below a column: `14:00`, `14:00:05`, `2026-03-01`.
    package func label(_ index: Int) -> String { days == 0 ? clock(index) : WallTime(borders[index], in: zone).date }

    /// A step in words: `2026-03-01 14:00 UTC`, `2026-03-01 UTC`, `7 days from 2026-03-01 UTC`.
    ///
    /// It names the time zone because browsers show other times of the page in their own.
    package func title(_ index: Int) -> String {
        let time = WallTime(borders[index], in: zone)
        return switch days {
        case 0: "\(time.date) \(clock(index)) \(time.zone)"
        case 1: "\(time.date) \(time.zone)"
        default: "\(days) days from \(time.date) \(time.zone)"
        }
    }

    /// The time zone, with the offset of the last step.
    package var zoneName: String { WallTime(borders.last ?? 0, in: zone).zone }

    /// The time of day, with seconds if there are several steps in a minute.
    private func clock(_ index: Int) -> String {
        String(WallTime(borders[index], in: zone).time.prefix(step < Self.minute ? 8 : 5))
    }

    /// The length of a step after the word “each”: `5 seconds`, `minute`, `hour`, `day`, `7 days`.
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

    /// The number of days since 1970 in the calendar of a time zone.
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

/// The number of transactions in each step, by outcome.
package struct OutcomeSteps {
    package let steps: TimeSteps
    /// The counts of each step, without outcomes that no transaction has.
    package let outcomes: [[TransactionOutcome: Int]]

    /// - Parameter steps: Steps that cover the rates.
    package init(_ rates: [UseCaseSummary.Rate], steps: TimeSteps) {
        var outcomes = [[TransactionOutcome: Int]](repeating: [:], count: steps.count)
        for rate in rates {
            outcomes[steps.index(of: rate.startMicroseconds)].merge(rate.outcomes, uniquingKeysWith: +)
        }
        (self.steps, self.outcomes) = (steps, outcomes)
    }

    /// A table with a row for each step. People see only steps with runs.
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

    /// The conditions of a list of the transactions that began in a step. Steps begin at whole seconds.
    package func window(_ index: Int) -> [(name: String, value: String)] {
        zip(["since", "until"], steps.borders[index...]).map { ($0, "\(Words.iso8601($1).prefix(19))Z") }
    }
}
