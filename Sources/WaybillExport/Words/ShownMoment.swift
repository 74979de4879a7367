package import Foundation
import WaybillCore

/// How much of a moment a page shows.
package enum ShownMoment {
    /// `2026-03-01 12:00:00.250`.
    case exact
    /// `2026-03-01 12:00:00`.
    case dateAndTime
    /// The same with the date in an element of its own, for lists that leave it out where there is no room for it.
    case row
    /// `2026-03-01 12:00`.
    case dateAndMinute
    /// `12:00:00.250`.
    case exactTime
    /// `12:00:00`.
    case time
}

extension HTML {
    /// A moment as an element that names it exactly, so that the script can show it as the reader's clock does, with
    /// UTC on hover.
    ///
    /// - Parameters:
    ///   - microsecondsSince1970: The moment.
    ///   - shown: How much of it is shown.
    ///   - zone: In which it is written, and stays where no script runs.
    package static func moment(_ microsecondsSince1970: Int64, _ shown: ShownMoment, in zone: TimeZone) -> HTML {
        let moment = WallTime(microsecondsSince1970, in: zone)
        let text: HTML =
            switch shown {
            case .exact: "\(moment.date) \(moment.time)"
            case .dateAndTime: "\(moment.date) \(String(moment.time.prefix(8)))"
            case .row: "<u>\(moment.date)</u> \(String(moment.time.prefix(8)))"
            case .dateAndMinute: "\(moment.date) \(String(moment.time.prefix(5)))"
            case .exactTime: "\(moment.time)"
            case .time: "\(String(moment.time.prefix(8)))"
            }
        return "<time datetime=\"\(Words.iso8601(microsecondsSince1970))\">\(text)</time>"
    }
}
