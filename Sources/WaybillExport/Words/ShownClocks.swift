package import Foundation
package import WaybillCore
package import WaybillQueries

package enum ShownClocks: String, Sendable, CaseIterable {
    /// The beginner's clock. Other times are aligned to it if their offset is known.
    case aligned
    case raw
}

@dynamicMemberLookup
package struct ShownRecord {
    package let clocks: ShownClocks
    /// `nil` for a single source.
    package let offsets: ClockAlignment?
    package let names: SourceNames
    private let record: TransactionRecord

    package init(_ record: TransactionRecord, clocks: ShownClocks = .aligned) {
        self.clocks = clocks
        offsets = record.clocks
        names = SourceNames(record.sources)
        self.record = clocks == .aligned ? record.aligned : record
    }

    package subscript<Value>(dynamicMember member: KeyPath<TransactionRecord, Value>) -> Value {
        record[keyPath: member]
    }

    /// Whether the order may be wrong, because raw times of several clocks are shown together.
    var isMixed: Bool { offsets != nil && clocks == .raw }

    /// Returns microseconds; `nil` for the reference and for unknown clocks.
    func uncertainty(of source: GUID) -> Int64? {
        clocks == .aligned ? offsets?[source]?.uncertaintyMicroseconds : nil
    }

    /// `nil` if it equals the shown time.
    func ownTime(_ microseconds: Int64, of source: GUID) -> Int64? {
        clocks == .aligned ? (offsets?[source]?.microseconds).map(microseconds.subtracting) : nil
    }

    package var beginningWords: String? { Words.beginning(of: record) }

    /// Explains in a sentence whose clock is shown; `nil` for a single source.
    package var clockWords: String? {
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
    /// Formats a clock offset, for example `+312 ms ± 4.00 ms, by 18 exchanges`; `unknown` without an estimate.
    package static func clock(_ source: GUID, in clocks: ClockAlignment) -> String {
        if source == clocks.reference { return "reference" }
        guard let offset = clocks[source] else { return "unknown" }
        let found = offset.sampleCount == 0 ? "its own exchange alone" : count(offset.sampleCount, "exchange")
        return "\(ahead(-offset.microseconds)) ± \(duration(offset.uncertaintyMicroseconds)), by \(found)"
    }

    /// Keeps milliseconds for offsets up to an hour (`300.312 s`), since they are known that precisely.
    private static func ahead(_ microseconds: Int64) -> String {
        let sign = microseconds < 0 ? "" : "+"
        guard (1_000_000..<3_600_000_000).contains(microseconds.magnitude) else { return sign + duration(microseconds) }
        return "\(sign)\(TimeScale(longest: 60_000_000).text(microseconds)) s"
    }
}

package enum ShownMoment {
    case exact
    case dateAndTime
    /// The date is a separate element, which narrow lists hide.
    case row
    case date
    case dateAndMinute
    case exactTime
    case time
}

extension HTML {
    /// Returns a `<time>` element, which the script converts to the reader's time zone.
    package static func moment(_ microsecondsSince1970: Int64, _ shown: ShownMoment, in zone: TimeZone) -> HTML {
        let moment = WallTime(microsecondsSince1970, in: zone)
        let text: HTML =
            switch shown {
            case .exact: "\(moment.date) \(moment.time)"
            case .dateAndTime: "\(moment.date) \(String(moment.time.prefix(8)))"
            case .row: "<u>\(moment.date)</u> \(String(moment.time.prefix(8)))"
            case .date: "\(moment.date)"
            case .dateAndMinute: "\(moment.date) \(String(moment.time.prefix(5)))"
            case .exactTime: "\(moment.time)"
            case .time: "\(String(moment.time.prefix(8)))"
            }
        return "<time datetime=\"\(Words.iso8601(microsecondsSince1970))\">\(text)</time>"
    }
}

package struct SourceNames: Sendable {
    package let sources: [TransactionRecord.Source]
    private let names: [GUID: String]

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

    package subscript(source: GUID) -> String { names[source] ?? "?" }

    package func lane(of source: GUID) -> Int { sources.firstIndex { $0.id == source } ?? 0 }

    func laneAttribute(of source: GUID) -> HTML {
        let lane = min(lane(of: source), 3)
        return "\(" class=l\(lane)", if: lane > 0)"
    }

    package func anchor(of exchange: FactID) -> String { "x\(lane(of: exchange.source))-\(exchange.sequence)" }
}

package struct TimeScale {
    package let unit: String?
    private let divisor: Int64
    private let decimals: Int

    package init(longest: Int64) {
        switch longest {
        case ..<10_000: (unit, divisor, decimals) = ("µs", 1, 0)
        case ..<100_000: (unit, divisor, decimals) = ("ms", 1000, 2)
        case ..<10_000_000: (unit, divisor, decimals) = ("ms", 1000, 1)
        case ..<600_000_000: (unit, divisor, decimals) = ("s", 1_000_000, 3)
        default: (unit, divisor, decimals) = (nil, 1, 0)
        }
    }

    /// Selects one unit for all values, hours at most, from one of the longer times in microseconds.
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

package struct WallTime: Sendable {
    package let date: String
    package let time: String
    /// The offset, for example `+01:00`; `Z` for UTC.
    package let offset: String

    package var zone: String { offset == "Z" ? "UTC" : "UTC\(offset)" }

    package init(_ microsecondsSince1970: Int64, in zone: TimeZone) {
        // Only whole seconds pass through `Date`, since its `Double` would round the fraction.
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
