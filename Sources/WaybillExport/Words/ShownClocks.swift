package import WaybillCore
package import WaybillReading

/// Which times of a transaction are shown.
package enum ShownClocks: String, Sendable, CaseIterable {
    /// Those of the source that began it, as far as the clocks of the others are known.
    case aligned
    /// Each source's, as its own clock said.
    case raw

    /// The record with these times.
    package func times(of record: TransactionRecord) -> TransactionRecord { self == .aligned ? record.aligned : record }

    /// By how many microseconds the times of a source may be wrong; nil for its own, and where nothing is known of its
    /// clock.
    func uncertainty(of source: GUID, in record: TransactionRecord) -> Int64? {
        self == .aligned ? record.clocks?[source]?.uncertaintyMicroseconds : nil
    }

    /// Whose times these are, in a sentence; nil where there is a single source.
    ///
    /// - Parameter record: With raw times.
    package func words(_ record: TransactionRecord, _ names: SourceNames) -> String? {
        guard let clocks = record.clocks else { return nil }
        let unknown = record.sources.map(\.id).filter { $0 != clocks.reference && clocks[$0] == nil }
        if clocks.offsets.isEmpty {
            return "The clocks of the sources could not be compared: times are raw, as each source's own clock said."
        }
        if self == .raw { return "Times are raw: as each source's own clock said." }
        let exceptions =
            unknown.isEmpty ? "" : "; those of \(unknown.map { names[$0] }.joined(separator: ", ")) are raw"
        return "Times are aligned to the clock of \(names[clocks.reference])\(exceptions)."
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
