public import WaybillCore
import WaybillReading

/// Read once, selected in memory.
extension DurationQuestion {
    public func answer(from context: AnswerContext) throws(WaybillError) -> DurationAnswer {
        let points = try PointMatcher([from, to], of: filter.useCase, context)
        let events = try EventCursor(
            filter, codes: points.codes, reading: points.contents, segmentation: segmentation, sources: points.sources,
            context)
        var collected = Segmented(CollectedDurations(), by: segmentation)
        try events.forEach { transaction, events, sources in
            guard let start = points.occurrence(occurrence, of: 0, in: transaction, events, sources) else { return }
            let end = points.occurrence(occurrence, of: 1, in: transaction, events, sources)
            collected.add(transaction) { $0.add(start, end, sources) }
        }
        var answer = collected.answer(events.transactions.segmentValues) { $0.segment($1) }
        let total = answer.total
        guard total.statistics.count == 0 else { return answer }
        answer.whyEmpty = try context.whyNone(filter) { found in
            "None of \(found) has \(from.inWords) and then \(to.inWords): \(total.withoutEnd) only \(from.inWords), "
                + "\(total.reversed) both the other way round."
        }
        return answer
    }
}

private struct CollectedDurations {
    var durations = Durations()
    var withoutEnd = 0
    var reversed = 0

    mutating func add(_ start: TimePoint, _ end: TimePoint?, _ sources: SourceDirectory) {
        guard let end else {
            withoutEnd += 1
            return
        }
        // The same event from both ends takes no time.
        if start.isAfter(end, sources) { reversed += 1 } else { durations.append(end.microseconds(since: start)) }
    }

    func segment(_ value: String?) -> DurationSegment {
        var durations = durations
        let histogram = [DurationSegment.Bar](of: durations)
        return DurationSegment(
            value: value, statistics: DurationStatistics(&durations), withoutEnd: withoutEnd, reversed: reversed,
            histogram: histogram)
    }
}
