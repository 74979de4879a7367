import WaybillCore
import WaybillReading
import WaybillStore

/// Answers a ``DurationQuery``: reads once, selects in memory.
struct DurationReading {
    private let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    fileprivate struct Collected {
        var durations = Durations()
        var withoutEnd = 0
        var reversed = 0
    }

    func answer(_ query: DurationQuery, now wall: Int) throws(WaybillError) -> DurationAnswer {
        let sources = try AskedSources(connection)
        let points = try AskedPoints([query.from, query.to], of: query.filter.useCase, sources: sources, connection)
        let events = try AskedEvents(
            query.filter, codes: points.codes, reading: points.contents, segmentation: query.segmentation, sources: sources, now: wall,
            connection)
        var collected = Segmented(Collected(), by: query.segmentation)
        try events.forEach { transaction, events, sources in
            guard let start = points.occurrence(query.occurrence, of: 0, in: transaction, events, sources) else { return }
            let end = points.occurrence(query.occurrence, of: 1, in: transaction, events, sources)
            collected.add(transaction) { $0.add(start, end, sources) }
        }
        let (total, segments) = collected.result(events.transactions.segmentValues) { $0.segment($1) }
        return DurationAnswer(total: total, segments: segments)
    }
}

extension DurationReading.Collected {
    fileprivate mutating func add(_ start: AskedEvent, _ end: AskedEvent?, _ sources: AskedSources) {
        guard let end else {
            withoutEnd += 1
            return
        }
        // The same event from both ends takes no time.
        if start.isAfter(end, sources) { reversed += 1 } else { durations.append(end.microseconds(since: start)) }
    }

    fileprivate func segment(_ value: String?) -> DurationSegment {
        var durations = durations
        let histogram = [DurationSegment.Bar](of: durations)
        return DurationSegment(
            value: value, statistics: DurationStatistics(&durations), withoutEnd: withoutEnd, reversed: reversed, histogram: histogram)
    }
}
