package import Foundation
package import WaybillCore
package import WaybillQueries

/// Which times of a transaction are shown.
package enum ShownClocks: String, Sendable, CaseIterable {
    /// Those of the source that began it, as far as the clocks of the others are known.
    case aligned
    /// Each source's, as its own clock said.
    case raw
}

/// A transaction with the times that are shown of it.
///
/// What draws a transaction takes one of these. It never has the raw record beside it, so that it cannot take a raw
/// time from an aligned one: the difference would be how far two clocks are apart.
@dynamicMemberLookup
package struct ShownRecord {
    /// Which times these are.
    package let clocks: ShownClocks
    /// How far the clocks of the sources are apart; `nil` where there is a single source.
    package let offsets: ClockAlignment?
    private let record: TransactionRecord

    /// - Parameter record: With raw times, as a store returns it.
    package init(_ record: TransactionRecord, clocks: ShownClocks = .aligned) {
        self.clocks = clocks
        offsets = record.clocks
        self.record = clocks == .aligned ? record.aligned : record
    }

    /// Everything of the record; times are those that are shown.
    package subscript<Value>(dynamicMember member: KeyPath<TransactionRecord, Value>) -> Value {
        record[keyPath: member]
    }

    /// Whether the picture can be wrong about what came first, because clocks of several sources stand side by side.
    var isMixed: Bool { offsets != nil && clocks == .raw }

    /// By how many microseconds the times of a source may be wrong; nil for its own, and where nothing is known of its
    /// clock.
    func uncertainty(of source: GUID) -> Int64? {
        clocks == .aligned ? offsets?[source]?.uncertaintyMicroseconds : nil
    }

    /// What a source's own clock said at a time that is shown; `nil` where it is the same time.
    func ownTime(_ microseconds: Int64, of source: GUID) -> Int64? {
        clocks == .aligned ? (offsets?[source]?.microseconds).map(microseconds.subtracting) : nil
    }

    /// What is not certain about who began the transaction; `nil` if nothing is.
    package var beginningWords: String? { Words.beginning(of: record) }

    /// Whose times these are, in a sentence; nil where there is a single source.
    package func clockWords(_ names: SourceNames) -> String? {
        guard let offsets else { return nil }
        let unknown = record.sources.map(\.id).filter { $0 != offsets.reference && offsets[$0] == nil }
        if offsets.offsets.isEmpty {
            return "The clocks of the sources could not be compared: times are raw, as each source's own clock said."
        }
        if clocks == .raw { return "Times are raw: as each source's own clock said." }
        let exceptions =
            unknown.isEmpty ? "" : "; those of \(unknown.map { names[$0] }.joined(separator: ", ")) are raw"
        return "Times are aligned to the clock of \(names[offsets.reference])\(exceptions)."
    }
}

extension Words {
    /// `+312 ms ± 4.00 ms, by 18 exchanges`: how far a source's clock is ahead of the reference; `unknown` where
    /// nothing is known of it.
    package static func clock(_ source: GUID, in clocks: ClockAlignment) -> String {
        if source == clocks.reference { return "reference" }
        guard let offset = clocks[source] else { return "unknown" }
        let found = offset.sampleCount == 0 ? "its own exchange alone" : count(offset.sampleCount, "exchange")
        return "\(ahead(-offset.microseconds)) ± \(duration(offset.uncertaintyMicroseconds)), by \(found)"
    }

    /// Seconds and minutes as `300.312 s`, since what is known to milliseconds is not to be rounded to seconds.
    private static func ahead(_ microseconds: Int64) -> String {
        let sign = microseconds < 0 ? "" : "+"
        guard (1_000_000..<3_600_000_000).contains(microseconds.magnitude) else { return sign + duration(microseconds) }
        return "\(sign)\(TimeScale(longest: 60_000_000).text(microseconds)) s"
    }
}

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

/// What the sources of one transaction are called: the app's name, numbered where two share it.
package struct SourceNames: Sendable {
    /// The sources, beginner first.
    package let sources: [TransactionRecord.Source]
    private let names: [GUID: String]

    /// Names the sources of a record.
    package init(_ sources: [TransactionRecord.Source]) {
        self.sources = sources
        let apps = sources.map { $0.app.isEmpty ? "source" : $0.app }
        var names: [GUID: String] = [:]
        for (index, source) in sources.enumerated() {
            let twins = apps.indices.filter { apps[$0] == apps[index] }
            names[source.id] =
                twins.count == 1 ? apps[index] : "\(apps[index]) #\(1 + twins.prefix { $0 < index }.count)"
        }
        self.names = names
    }

    /// The name of a source; `?` for one that took no part.
    package subscript(source: GUID) -> String { names[source] ?? "?" }

    /// The place of a source among them, from 0.
    package func lane(of source: GUID) -> Int { sources.firstIndex { $0.id == source } ?? 0 }

    /// The class that colours what a source did, as an attribute; the beginner's is the colour of what has none.
    func laneAttribute(of source: GUID) -> HTML {
        let lane = min(lane(of: source), 3)
        return "\(" class=l\(lane)", if: lane > 0)"
    }

    /// The name of an exchange in addresses within the page of its transaction.
    package func anchor(of exchange: FactID) -> String { "x\(lane(of: exchange.source))-\(exchange.sequence)" }
}

/// One unit for a column of times, so that they line up and can be compared at a glance.
package struct TimeScale {
    /// `ms`; nil where the times are too different for one unit, and each has its own.
    package let unit: String?
    private let divisor: Int64
    private let decimals: Int

    /// - Parameter longest: The longest of the times, in microseconds.
    package init(longest: Int64) {
        switch longest {
        case ..<10_000: (unit, divisor, decimals) = ("µs", 1, 0)
        case ..<100_000: (unit, divisor, decimals) = ("ms", 1000, 2)
        case ..<10_000_000: (unit, divisor, decimals) = ("ms", 1000, 1)
        case ..<600_000_000: (unit, divisor, decimals) = ("s", 1_000_000, 3)
        default: (unit, divisor, decimals) = (nil, 1, 0)
        }
    }

    /// One unit for all values, hours at most.
    ///
    /// - Parameter typical: One of the longer times, in microseconds.
    package init(column typical: Int64) {
        switch typical {
        case ..<600_000_000: self.init(longest: typical)
        case ..<36_000_000_000: self.init(unit: "min", divisor: 60_000_000, decimals: 1)
        default: self.init(unit: "h", divisor: 3_600_000_000, decimals: 1)
        }
    }

    private init(unit: String, divisor: Int64, decimals: Int) {
        (self.unit, self.divisor, self.decimals) = (unit, divisor, decimals)
    }

    /// `38.0`.
    package func text(_ microseconds: Int64) -> String {
        guard unit != nil else { return Words.duration(microseconds) }
        guard decimals > 0 else { return String(microseconds) }
        let power: UInt64 = [1, 10, 100, 1000][decimals]
        let magnitude = min(microseconds.magnitude, UInt64.max / 2000)
        let scaled = (magnitude * power + UInt64(divisor / 2)) / UInt64(divisor)
        let (whole, fraction) = scaled.quotientAndRemainder(dividingBy: power)
        return "\(microseconds < 0 ? "-" : "")\(whole).\(String(power + fraction).dropFirst())"
    }
}

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
