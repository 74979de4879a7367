import WaybillCore
import WaybillStore

/// A stretch of one source's time in which the wall clock stands at a fixed distance from it, so that both give the
/// same order.
struct ExchangeSpan {
    /// The `sources.id` of the source.
    var source: Int64
    /// Microseconds since 1970 at the source's start.
    var offset: Int64
    /// Times in the source, in microseconds.
    var times: Range<Int64>

    /// Whether an exchange was opened at ``newest``; else all of them may be much older.
    var isExact: Bool

    /// When the newest of its exchanges can have been opened at the latest, in microseconds since 1970.
    var newest: Int64 { times.upperBound - 1 + offset }

    /// The spans of a source up to its newest exchange, as `WallClock` has it.
    ///
    /// - Parameter anchors: In order of time.
    static func spans(of source: NewestExchanges.Source, _ anchors: [ClockAnchor]) -> [ExchangeSpan] {
        let anchors = anchors.isEmpty ? [ClockAnchor(atMicroseconds: 0, offsetMicroseconds: 0)] : anchors
        return anchors.indices.compactMap { index in
            let start = index == 0 ? 0 : anchors[index].atMicroseconds
            let end = min(source.newest + 1, index + 1 < anchors.count ? anchors[index + 1].atMicroseconds : .max)
            guard start < end else { return nil }
            let (last, offset) = (end - 1, anchors[index].offsetMicroseconds)
            // What is not believed stands where it arrived, as transactions do.
            let listed = Leaders.listed(begun: last.adding(offset), heard: source.heard)
            return ExchangeSpan(
                source: source.id, offset: listed.subtracting(last), times: start..<end,
                isExact: source.isExact && end == source.newest + 1)
        }
    }

    /// What of it lies between two times since 1970; nil where nothing does.
    func clamped(since: Int64?, until: Int64?) -> ExchangeSpan? {
        let start = since.map { max($0 - offset, times.lowerBound) } ?? times.lowerBound
        let end = until.map { min($0 - offset, times.upperBound) } ?? times.upperBound
        guard start < end else { return nil }
        return ExchangeSpan(
            source: source, offset: offset, times: start..<end, isExact: isExact && end == times.upperBound)
    }
}

extension ExchangeSpan {
    /// Those of all sources that have exchanges.
    static func all(_ newest: NewestExchanges, _ connection: Connection) throws(WaybillError) -> [ExchangeSpan] {
        let sources = try newest.sources(connection)
        // Read through from one end to the other, which takes a tenth of looking each source up.
        let clocks = try connection.statement("SELECT source, at_us, offset_us FROM clocks ORDER BY source, at_us")
        clocks.start()
        defer { clocks.stop() }
        var spans: [ExchangeSpan] = []
        spans.reserveCapacity(sources.count)
        var anchors: [ClockAnchor] = []
        var row = try clocks.next()
        for source in sources {
            while let clock = row, clock.int(0) < source.id { row = try clocks.next() }
            anchors.removeAll(keepingCapacity: true)
            while let clock = row, clock.int(0) == source.id {
                anchors.append(ClockAnchor(atMicroseconds: clock.int(1), offsetMicroseconds: clock.int(2)))
                row = try clocks.next()
            }
            spans += Self.spans(of: source, anchors)
        }
        return spans
    }
}
