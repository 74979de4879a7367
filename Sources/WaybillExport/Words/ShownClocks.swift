package import WaybillCore
package import WaybillReading

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
