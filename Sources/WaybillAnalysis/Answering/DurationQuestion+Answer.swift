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
            collected.add(transaction) { $0.add(start, end, sources, transaction.weight) }
        }
        var answer = collected.answer(events.transactions.segmentValues) { $0.segment($1) }
        answer.weighed = try events.transactions.weighing()
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
    /// Weights, added up.
    private var withoutEnd: Int64 = 0
    private var reversed: Int64 = 0

    mutating func add(_ start: TimePoint, _ end: TimePoint?, _ sources: SourceDirectory, _ weight: Int64) {
        guard let end else {
            withoutEnd += weight
            return
        }
        // The same event from both ends takes no time.
        if start.isAfter(end, sources) {
            reversed += weight
        } else {
            durations.append(end.microseconds(since: start), weight: weight)
        }
    }

    func segment(_ value: String?) -> DurationSegment {
        var durations = durations
        let histogram = [DurationSegment.Bar](of: durations)
        return DurationSegment(
            value: value, statistics: DurationStatistics(&durations), withoutEnd: Weights.count(withoutEnd),
            reversed: Weights.count(reversed),
            histogram: histogram)
    }
}
