package import Foundation
package import WaybillCore
package import WaybillQueries

/// The stretches of time that the columns of a chart stand for: seconds, minutes or hours, as many as fit the data, or
/// days of a time zone, or several days where there would be too many.
package struct TimeSteps: Sendable, Equatable {
    /// When each begins, in microseconds since 1970, and behind the last one when that ends.
    package let borders: [Int64]
    /// Days in each; 0: they are no longer than an hour.
    let days: Int
    /// Microseconds in each that is no longer than an hour.
    private let step: Int64
    private let first: Int64
    private let zone: TimeZone

    private static let second: Int64 = 1_000_000
    private static let minute = 60 * second
    private static let hour = 60 * minute
    private static let day = 24 * hour
    /// As many columns as can be told apart on a narrow screen.
    private static let limit = 96
    /// Beyond as many hours, they are days.
    private static let hourLimit = 72
    /// So many that one column is not as wide as the page.
    package static let leastCount = 12

    /// The length of steps of a ``SummaryQuestion`` of which there are neither few nor too many between two times, at
    /// most an hour, in microseconds.
    package static func step(from least: Int64, to greatest: Int64) -> Int64 {
        let lengths = [1, 5, 15, 60, 300, 900].map { $0 * second }
        return lengths.first { floor(greatest, $0) - floor(least, $0) < hourLimit } ?? hour
    }

    /// Steps in which all of some times lie, however far they are apart.
    ///
    /// - Parameters:
    ///   - times: Microseconds since 1970, each a multiple of `step`.
    ///   - step: Microseconds; steps are no shorter. Beyond an hour, an hour.
    ///   - leastCount: So many of those that are shorter than a day, with empty ones behind the last time.
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

    /// How many there are.
    package var count: Int { max(0, borders.count - 1) }

    /// In which step one of the times lies.
    func index(of microseconds: Int64) -> Int {
        Int(
            clamping: days == 0
                ? Self.floor(microseconds, step) - first : (Self.localDay(of: microseconds, zone) - first) / Int64(days)
        )
    }

    /// What is written below a column: `14:00`, `14:00:05`, `2026-03-01`.
    package func label(_ index: Int) -> String { days == 0 ? clock(index) : WallTime(borders[index], in: zone).date }

    /// A step in words: `2026-03-01 14:00 UTC`, `2026-03-01 UTC`, `7 days from 2026-03-01 UTC`.
    ///
    /// With the time zone, because a browser shows other times of the page in its own.
    package func title(_ index: Int) -> String {
        let time = WallTime(borders[index], in: zone)
        return switch days {
        case 0: "\(time.date) \(clock(index)) \(time.zone)"
        case 1: "\(time.date) \(time.zone)"
        default: "\(days) days from \(time.date) \(time.zone)"
        }
    }

    /// The time zone of all steps, as the last one has it.
    package var zoneName: String { WallTime(borders.last ?? 0, in: zone).zone }

    /// With seconds where there is more than one step in a minute.
    private func clock(_ index: Int) -> String {
        String(WallTime(borders[index], in: zone).time.prefix(step < Self.minute ? 8 : 5))
    }

    /// `5 seconds`, `minute`, `hour`, `day`, `7 days`, behind the word each.
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

    /// Days since 1970 on the calendar of a time zone.
    private static func localDay(of microseconds: Int64, _ zone: TimeZone) -> Int64 {
        floor(microseconds + offset(of: zone, at: microseconds), day)
    }

    private static func midnight(of localDay: Int64, _ zone: TimeZone) -> Int64 {
        // The offset some hours before: clocks that are put forward or back are so after midnight.
        let utc = localDay * day
        return utc - offset(of: zone, at: utc - offset(of: zone, at: utc))
    }

    private static func offset(of zone: TimeZone, at microseconds: Int64) -> Int64 {
        Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(microseconds / 1_000_000)))) * second
    }
}

/// How many ended how in each step.
package struct OutcomeSteps {
    package let steps: TimeSteps
    /// For each step; an outcome that none has is left out.
    package let outcomes: [[TransactionOutcome: Int]]

    /// - Parameter steps: That cover the rates.
    package init(_ rates: [UseCaseSummary.Rate], steps: TimeSteps) {
        var outcomes = [[TransactionOutcome: Int]](repeating: [:], count: steps.count)
        for rate in rates {
            outcomes[steps.index(of: rate.startMicroseconds)].merge(rate.outcomes, uniquingKeysWith: +)
        }
        (self.steps, self.outcomes) = (steps, outcomes)
    }

    /// A row for each step, those without runs included.
    var csv: CSVTable {
        var table = CSVTable(columns: ["start", "end", "runs"] + TransactionOutcome.allCases.map(\.name))
        table.rows = outcomes.indices.map { index in
            [
                .text(Words.iso8601(steps.borders[index])), .text(Words.iso8601(steps.borders[index + 1])),
                .integer(outcomes[index].values.reduce(0, +)),
            ] + TransactionOutcome.allCases.map { .integer(outcomes[index][$0] ?? 0) }
        }
        return table
    }
}
