import Foundation
import WaybillCore

/// A time as people and programs write it: `24h` ago, `2026-03-01`, `2026-03-01T12:00:00Z`, or microseconds since 1970.
package enum TimeExpression {
    /// The forms that can be read, for messages and help texts.
    package static let forms = "24h, 30m or 7d ago, an ISO 8601 date or time, or microseconds since 1970"

    /// The end of the year 9999, in microseconds since 1970: the last that ISO 8601 writes with four digits.
    private static let latest: Int64 = 253_402_300_799_999_999

    /// Microseconds since 1970 that a filter can hold; nil for anything that is none of the forms. Nothing is recorded
    /// before 1684 or after 2255, so that a time beyond these finds what the nearest one finds.
    ///
    /// - Parameter now: microseconds since 1970, for the times that are so long ago.
    package static func microseconds(_ text: String, now: Int64) -> Int64? {
        if let age = length(text) { return now.subtracting(age) }
        return instant(text)?.bounded
    }

    /// Microseconds since 1970 of a date, a time, or microseconds, until the year 9999; nil for anything else.
    package static func instant(_ text: String) -> Int64? {
        let time = text.utf8.allSatisfy(\.isDigit) ? Int64(text) : isoTime(text)
        return time.flatMap { $0 <= latest ? $0 : nil }
    }

    /// A stretch of time, `48h..24h` or `2026-03-01..2026-03-02`, in microseconds since 1970; nil for anything else.
    ///
    /// - Parameter now: microseconds since 1970.
    package static func window(_ text: String, now: Int64) -> Range<Int64>? {
        let ends = text.components(separatedBy: "..").map { microseconds($0, now: now) }
        guard ends.count == 2, let since = ends[0], let until = ends[1], since <= until else { return nil }
        return since..<until
    }

    /// Microseconds of `30s`, `10m`, `24h`, `7d` or `2w`; nil for anything else.
    package static func length(_ text: String) -> Int64? {
        let units: [String: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
        guard let unit = text.last.flatMap({ units[String($0)] }), let count = Int64(text.dropLast()), count >= 0 else {
            return nil
        }
        let (seconds, isTooLong) = count.multipliedReportingOverflow(by: unit)
        let (microseconds, isFarTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000)
        return isTooLong || isFarTooLong ? nil : microseconds
    }

    private static func isoTime(_ text: String) -> Int64? {
        let styles: [Date.ISO8601FormatStyle] = [
            .iso8601, Date.ISO8601FormatStyle(includingFractionalSeconds: true), .iso8601.year().month().day(),
        ]
        let date = styles.lazy.compactMap { try? $0.parse(text) }.first
        return date.flatMap { Int64(exactly: ($0.timeIntervalSince1970 * 1_000_000).rounded()) }
    }
}
