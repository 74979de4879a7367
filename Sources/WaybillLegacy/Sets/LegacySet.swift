import Foundation
package import WaybillCore

/// A set of version 0.0.1, as the PEAppTransaction Logging Framework (2015) sends it. It has no ID, and its logs have
/// the time of the flush, but no identity. Schema: `Schemas/legacy-set.v0.0.1.schema.json`.
package struct LegacySet: Hashable, Sendable {
    package var transactions: [Transaction]
    package var unread: [Unread] = []

    package var factCount: Int { transactions.reduce(transactions.count) { $0 + $1.logs.count } }

    package struct Unread: Hashable, Sendable {
        /// `nil` if the ID could not be read.
        package var transaction: GUID?
        /// One sentence without a full stop, and the place in the set (RFC 6901).
        package var reason: String
        /// The original, including secrets.
        package var json: [UInt8]
    }

    /// The logs of a transaction since the previous flush.
    package struct Transaction: Hashable, Sendable {
        /// The UUID in `TXN<use case>-<UUID>`.
        package var id: GUID
        package var useCase: Int
        package var deviceMake: String?
        package var deviceOS: String?
        package var deviceOSVersion: String?
        package var logs: [Log] = []
    }

    package struct Log: Hashable, Sendable {
        package var event: Int
        /// The original text; see ``LegacyDate``.
        package var timestamp: String
        package var errorCode: ErrorCode?
        package var errorDescription: String?
        /// A text that the framework's servers add to an event.
        package var context: String?
    }

    /// A number, which some clients send as a text.
    package enum ErrorCode: Hashable, Sendable {
        case number(Int64)
        case text(String)
    }
}

/// Writes sets as the first framework did, because its servers expect that.
extension LegacySet {
    package func encoded() -> [UInt8] {
        var writer = JSONWriter(capacity: 256 + 160 * factCount)
        writer.beginObject()
        writer.key("apptxns")
        writer.beginArray()
        for transaction in transactions { transaction.write(to: &writer) }
        writer.endArray()
        writer.endObject()
        return writer.bytes
    }
}

extension LegacySet.Transaction {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("apptxn/id", LegacyID(transaction: id, useCase: useCase).description)
        writer.member("apptxn/usecase", useCase)
        writer.member("apptxn/user-agent-device-make", deviceMake)
        writer.member("apptxn/user-agent-device-os", deviceOS)
        writer.member("apptxn/user-agent-device-os-version", deviceOSVersion)
        writer.key("apptxn/logs")
        writer.beginArray()
        for log in logs { log.write(to: &writer) }
        writer.endArray()
        writer.endObject()
    }
}

extension LegacySet.Log {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("apptxnlog/usecase-event", event)
        writer.member("apptxnlog/timestamp", timestamp)
        writer.key("apptxnlog/in-ctx-err-code")
        switch errorCode {
        case .number(let code): writer.integer(code)
        case .text(let code): writer.string(code)
        // The first framework always wrote the code, and its servers may look for it.
        case nil: writer.null()
        }
        writer.member("apptxnlog/in-ctx-err-desc", errorDescription)
        writer.member("apptxnlog/edn-ctx", context)
        writer.endObject()
    }
}

/// The dates of version 0.0.1: RFC 7231, section 7.1.1.1, with the device's time zone in place of GMT.
package enum LegacyDate {
    /// Parses `Fri, 06 Feb 2015 00:59:27 EST` to microseconds since 1970; `nil` if the date or zone is unknown.
    /// It knows only English names, and no zones that two places share, e.g. `IST`.
    package static func microseconds(_ text: String) -> Int64? {
        // The weekday before the comma is redundant.
        let rest = text.firstIndex(of: ",").map { text[text.index(after: $0)...] } ?? text[...]
        let words = rest.split(separator: " ", maxSplits: 4, omittingEmptySubsequences: true).map(String.init)
        guard words.count == 5, let day = number(words[0], 1...31),
            let month = months.firstIndex(of: words[1].lowercased()),
            let year = number(words[2], 1970...9999), let time = seconds(ofDay: words[3]),
            let zone = offset(words[4].filter { $0 != " " }), let days = CalendarDay.number(year, month + 1, day)
        else { return nil }
        return (Int64(days) * 86_400 + Int64(time - zone)) * 1_000_000
    }

    /// Writes microseconds since 1970 in GMT, rounded down to a second: `Fri, 06 Feb 2015 05:59:27 GMT`.
    /// Times outside of 1970 to 9999 become the first or the last second.
    package static func text(_ microseconds: Int64) -> String {
        // `time_t` has 32 bits on older watches, and ends in 2038.
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

    /// Hours east of Greenwich, for abbreviations with only one meaning in English: RFC 5322, section 4.3, and others.
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
        // A leap second counts as the last second of its minute.
        guard parts.count == 3, let hour = number(parts[0], 0...23), let minute = number(parts[1], 0...59),
            let second = number(parts[2], 0...60)
        else { return nil }
        return hour * 3600 + minute * 60 + min(second, 59)
    }

    private static func number(_ text: String, _ range: ClosedRange<Int>) -> Int? {
        guard text.utf8.allSatisfy(\.isDigit), let value = Int(text) else { return nil }
        return range.contains(value) ? value : nil
    }
}

/// The media type of version 0.0.1: `application/<prefix>apptxnset-v<version>+json;charset=UTF-8`.
/// Each installation chose the prefix and the version.
package enum LegacyMediaType {
    private static let (start, stem, end) = ("application/", "apptxnset-v", "+json")
    /// The versions of known clients, including the framework's sample. The sets are the same.
    private static let versions = ["0.0.1", "1.0.0"]

    package static func value(prefix: String, version: String) -> String {
        "\(start)\(prefix)\(stem)\(version)\(end);charset=UTF-8"
    }

    package static func matches(_ field: String) -> Bool {
        let essence = field.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
        return essence.hasPrefix(start)
            && versions.contains { essence.dropFirst(start.count).hasSuffix("\(stem)\($0)\(end)") }
    }
}
