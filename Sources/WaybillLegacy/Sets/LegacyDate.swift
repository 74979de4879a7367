import Foundation

/// The dates of sets of version 0.0.1: those of RFC 7231, section 7.1.1.1, with the abbreviation of the device's own
/// zone in place of GMT.
package enum LegacyDate {
    /// Microseconds since 1970; nil where the date, or its zone, cannot be told.
    ///
    /// The form is `Fri, 06 Feb 2015 00:59:27 EST`; months and days of other languages are not known, nor are zones
    /// that two places share, e.g. `IST`.
    package static func microseconds(_ text: String) -> Int64? {
        // What stands before the comma says nothing that the rest does not.
        let rest = text.firstIndex(of: ",").map { text[text.index(after: $0)...] } ?? text[...]
        let words = rest.split(separator: " ", maxSplits: 4, omittingEmptySubsequences: true).map(String.init)
        guard words.count == 5, let day = number(words[0], 1...31),
            let month = months.firstIndex(of: words[1].lowercased()),
            let year = number(words[2], 1970...9999), let time = seconds(ofDay: words[3]),
            let zone = offset(words[4].filter { $0 != " " })
        else { return nil }
        guard day <= length(ofMonth: month, year) else { return nil }
        let seconds = Int64(days(year, month, day)) * 86_400 + Int64(time - zone)
        return seconds * 1_000_000
    }

    /// A time as RFC 7231 has it, in GMT, to the second below: `Fri, 06 Feb 2015 05:59:27 GMT`.
    ///
    /// - Parameter microseconds: Since 1970; what is before, or after the year 9999, which no clock that is set shows,
    ///   is written as the first or last second between.
    package static func text(_ microseconds: Int64) -> String {
        // Of 32 bits on older watches, where the last second is one of 2038.
        var seconds = time_t(clamping: min(max(0, microseconds / 1_000_000), 253_402_300_799))
        var parts = tm()
        gmtime_r(&seconds, &parts)
        let time = [parts.tm_hour, parts.tm_min, parts.tm_sec].map(twoDigits).joined(separator: ":")
        let month = months[Int(parts.tm_mon)].capitalized
        return
            "\(weekdays[Int(parts.tm_wday)]), \(twoDigits(parts.tm_mday)) \(month) \(parts.tm_year + 1900) \(time) GMT"
    }

    private static func twoDigits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    /// Hours east of Greenwich, of abbreviations that only one zone has among the places that write them in English:
    /// RFC 5322, section 4.3, and others.
    private static let zones: [String: Int] = [
        "GMT": 0, "UTC": 0, "UT": 0, "Z": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6,
        "PST": -8, "PDT": -7,
        "AKST": -9, "AKDT": -8, "HST": -10, "WET": 0, "WEST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3, "MSK": 3,
        "JST": 9, "AEST": 10,
        "AEDT": 11, "NZST": 12, "NZDT": 13,
    ]

    /// Seconds east of Greenwich of `EST`, `GMT+1`, `GMT+05:30`, `+0100`.
    private static func offset(_ zone: String) -> Int? {
        let zone = zone.uppercased()
        if let hours = zones[zone] { return hours * 3600 }
        let bare = zone.hasPrefix("GMT") || zone.hasPrefix("UTC") ? zone.dropFirst(3) : zone[...]
        guard let sign = bare.first, sign == "+" || sign == "-" else { return nil }
        let digits = bare.dropFirst().filter { $0 != ":" }
        guard digits.count <= 4, let value = number(String(digits), 0...1400) else { return nil }
        let (hours, minutes) = digits.count <= 2 ? (value, 0) : (value / 100, value % 100)
        guard hours <= 14, minutes < 60 else { return nil }
        return (sign == "-" ? -1 : 1) * (hours * 3600 + minutes * 60)
    }

    private static func seconds(ofDay text: String) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        // A leap second is the last of its minute.
        guard parts.count == 3, let hour = number(parts[0], 0...23), let minute = number(parts[1], 0...59),
            let second = number(parts[2], 0...60)
        else { return nil }
        return hour * 3600 + minute * 60 + min(second, 59)
    }

    private static func number(_ text: String, _ range: ClosedRange<Int>) -> Int? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let value = Int(text)
        else { return nil }
        return range.contains(value) ? value : nil
    }

    /// Since 1970.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let before = year - 1
        let leapDays = (before / 4 - before / 100 + before / 400) - (1969 / 4 - 1969 / 100 + 1969 / 400)
        return (year - 1970) * 365 + leapDays + (0..<month).reduce(0) { $0 + length(ofMonth: $1, year) } + day - 1
    }

    private static func length(ofMonth month: Int, _ year: Int) -> Int {
        if month == 1 { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28 }
        return [3, 5, 8, 10].contains(month) ? 30 : 31
    }
}
