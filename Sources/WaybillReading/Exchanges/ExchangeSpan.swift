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
    static func spans(of source: Int64, _ clock: WallClock, newest: Int64) -> [ExchangeSpan] {
        let anchors = clock.anchors.isEmpty ? [ClockAnchor(atMicroseconds: 0, offsetMicroseconds: 0)] : clock.anchors
        return anchors.indices.compactMap { index in
            let start = index == 0 ? 0 : anchors[index].atMicroseconds
            let end = min(newest + 1, index + 1 < anchors.count ? anchors[index + 1].atMicroseconds : .max)
            guard start < end else { return nil }
            return ExchangeSpan(
                source: source, offset: anchors[index].offsetMicroseconds, times: start..<end,
                isExact: end == newest + 1)
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
    static func all(_ connection: Connection) throws(WaybillError) -> [ExchangeSpan] {
        let statement = try connection.statement(
            """
            SELECT n.id, n.at_us, c.at_us, c.offset_us FROM (SELECT s.id, \
            (SELECT max(l.at_us) FROM network_logs l WHERE l.source = s.id AND l.method IS NOT NULL) AS at_us FROM sources s) n \
            LEFT JOIN clocks c ON c.source = n.id WHERE n.at_us IS NOT NULL ORDER BY n.id, c.at_us
            """)
        var spans: [ExchangeSpan] = []
        var source: (id: Int64, newest: Int64) = (0, 0)
        var anchors: [ClockAnchor] = []
        func finish() { spans += Self.spans(of: source.id, WallClock(anchors), newest: source.newest) }
        var isFirst = true
        try statement.forEachRow { row in
            if row.int(0) != source.id || isFirst {
                if !isFirst { finish() }
                (source, anchors, isFirst) = ((row.int(0), row.int(1)), [], false)
            }
            if !row.isNull(2) {
                anchors.append(ClockAnchor(atMicroseconds: row.int(2), offsetMicroseconds: row.int(3)))
            }
        }
        if !isFirst { finish() }
        return spans
    }
}
