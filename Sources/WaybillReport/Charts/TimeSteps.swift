import Foundation
import WaybillCore

/// The stretches of time that the columns of a chart stand for: hours, or days of a time zone, or several days where there would be too many.
struct TimeSteps: Sendable, Equatable {
    /// When each begins, in microseconds since 1970, and behind the last one when that ends.
    let borders: [Int]
    /// Days in each; 0: they are hours.
    let days: Int
    private let first: Int
    private let zone: TimeZone

    private static let hour = 3_600_000_000
    private static let day = 24 * hour
    /// As many columns as can be told apart on a narrow screen.
    private static let limit = 96

    /// Steps in which all of some hours lie, however far they are apart.
    ///
    /// - Parameter hours: When they begin, in microseconds since 1970.
    init(covering hours: [Int], in zone: TimeZone) {
        self.zone = zone
        guard let least = hours.min(), let greatest = hours.max() else {
            (borders, days, first) = ([], 0, 0)
            return
        }
        if greatest / Self.hour - least / Self.hour < 72 {
            (days, first) = (0, Self.floor(least, Self.hour))
            borders = (first...Self.floor(greatest, Self.hour) + 1).map { $0 * Self.hour }
            return
        }
        let (firstDay, lastDay) = (Self.localDay(of: least, zone), Self.localDay(of: greatest, zone))
        var length = 1
        for longer in [7, 28, 91, 364] where (lastDay - firstDay) / length >= Self.limit { length = longer }
        while (lastDay - firstDay) / length >= Self.limit { length *= 10 }
        (days, first) = (length, firstDay)
        borders = (0...(lastDay - firstDay) / length + 1).map { Self.midnight(of: firstDay + $0 * length, zone) }
    }

    /// How many there are.
    var count: Int { max(0, borders.count - 1) }

    /// In which step a moment lies that is in one of the hours.
    func index(of microseconds: Int) -> Int {
        days == 0
            ? Self.floor(microseconds, Self.hour) - first : (Self.localDay(of: microseconds, zone) - first) / days
    }

    /// What is written below a column: `14:00`, `2026-03-01`.
    func label(_ index: Int) -> String {
        let time = WallTime(borders[index], in: zone)
        return days == 0 ? String(time.time.prefix(5)) : time.date
    }

    /// A step in words: `2026-03-01 14:00`, `2026-03-01`, `7 days from 2026-03-01`.
    func title(_ index: Int) -> String {
        let time = WallTime(borders[index], in: zone)
        return switch days {
        case 0: "\(time.date) \(time.time.prefix(5))"
        case 1: time.date
        default: "\(days) days from \(time.date)"
        }
    }

    /// `an hour`, `a day`, `7 days`.
    var length: String {
        switch days {
        case 0: "hour"
        case 1: "day"
        default: "\(days) days"
        }
    }

    private static func floor(_ microseconds: Int, _ step: Int) -> Int { microseconds.quotientAndRemainder(flooringBy: step).quotient }

    /// Days since 1970 on the calendar of a time zone.
    private static func localDay(of microseconds: Int, _ zone: TimeZone) -> Int {
        floor(microseconds + offset(of: zone, at: microseconds), day)
    }

    private static func midnight(of localDay: Int, _ zone: TimeZone) -> Int {
        // The offset some hours before: clocks that are put forward or back are so after midnight.
        let utc = localDay * day
        return utc - offset(of: zone, at: utc - offset(of: zone, at: utc))
    }

    private static func offset(of zone: TimeZone, at microseconds: Int) -> Int {
        zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(microseconds / 1_000_000))) * 1_000_000
    }
}

/// How many ended how in each step.
struct OutcomeSteps {
    let steps: TimeSteps
    /// For each step; an outcome that none has is left out.
    let outcomes: [[Outcome: Int]]

    /// - Parameters:
    ///   - rates: Of hours.
    ///   - steps: That cover them; nil: those that do.
    init(_ rates: [UseCaseSummary.Rate], steps: TimeSteps? = nil, in zone: TimeZone) {
        let steps = steps ?? TimeSteps(covering: rates.map(\.startMicroseconds), in: zone)
        var outcomes = [[Outcome: Int]](repeating: [:], count: steps.count)
        for rate in rates { outcomes[steps.index(of: rate.startMicroseconds)].merge(rate.outcomes, uniquingKeysWith: +) }
        (self.steps, self.outcomes) = (steps, outcomes)
    }

    /// A row for each step, those without runs included.
    var csv: CSVTable {
        var table = CSVTable(columns: ["start", "end", "runs"] + Outcome.allCases.map(\.name))
        table.rows = outcomes.indices.map { index in
            [
                .text(Words.iso8601(steps.borders[index])), .text(Words.iso8601(steps.borders[index + 1])),
                .integer(outcomes[index].values.reduce(0, +)),
            ] + Outcome.allCases.map { .integer(outcomes[index][$0] ?? 0) }
        }
        return table
    }
}
