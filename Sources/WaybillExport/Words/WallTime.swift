package import Foundation
import WaybillCore

/// A moment as clocks on a wall show it, in one time zone.
package struct WallTime: Sendable {
    /// `2026-03-01`.
    package let date: String
    /// `12:00:00.250`.
    package let time: String
    /// `+01:00`; `Z` for UTC.
    package let offset: String

    /// `UTC`, `UTC+01:00`.
    package var zone: String { offset == "Z" ? "UTC" : "UTC\(offset)" }

    /// Takes a moment apart.
    package init(_ microsecondsSince1970: Int64, in zone: TimeZone) {
        // The seconds alone go through `Date`, whose `Double` would round the fraction up and down.
        let (seconds, microseconds) = microsecondsSince1970.quotientAndRemainder(flooringBy: 1_000_000)
        let moment = Date(timeIntervalSince1970: Double(seconds))
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: moment)
        let two = { (number: Int?) in String(100 + (number ?? 0)).dropFirst() }
        date = "\(parts.year ?? 0)-\(two(parts.month))-\(two(parts.day))"
        time =
            "\(two(parts.hour)):\(two(parts.minute)):\(two(parts.second)).\(String(1000 + microseconds / 1000).dropFirst())"
        let shift = zone.secondsFromGMT(for: moment)
        offset = shift == 0 ? "Z" : "\(shift < 0 ? "-" : "+")\(two(abs(shift) / 3600)):\(two(abs(shift) / 60 % 60))"
    }
}
