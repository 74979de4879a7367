public import WaybillCore
import WaybillReading

/// Read once, selected in memory.
extension DurationQuestion: FoldedQuestion {
    public func answer(from context: AnswerContext) throws(WaybillError) -> DurationAnswer {
        try answer(partial(from: context))
    }

    package func partial(
        from context: AnswerContext
    ) throws(WaybillError) -> Folded<NamedSegments<CollectedDurations>> {
        let points = try PointMatcher([from, to], of: filter.useCase, context)
        let all = try EventCursor(
            filter, codes: points.codes, reading: points.contents.union(.outcome), segmentation: segmentation,
            sources: points.sources, context)
        var folded = try context.fold(all, into: Segmented(CollectedDurations())) {
            (events, collected) throws(WaybillError) in
            try events.forEach { transaction, events, sources in
                guard let start = points.occurrence(occurrence, of: 0, in: transaction, events, sources) else { return }
                let end = points.occurrence(occurrence, of: 1, in: transaction, events, sources)
                collected.add(transaction) { $0.add(start, end, sources, transaction) }
            }
        }
        folded.asked.events = points.unknown
        return folded.map { $0.named(all.transactions.segmentValues) }
    }

    package func answer(
        _ found: consuming Folded<NamedSegments<CollectedDurations>>
    ) throws(WaybillError) -> DurationAnswer {
        let asked = found.asked
        try asked.check()
        var answer = found.collected.answer(by: segmentation) { $0.segment($1) }
        answer.weighed = asked.weighing
        let total = answer.total
        guard total.statistics.count == 0 else { return answer }
        answer.whyEmpty = asked.whyNone { found in
            "None of \(found) has \(from.inWords) and then \(to.inWords): \(total.withoutEnd) only \(from.inWords), "
                + "\(total.reversed) both the other way round."
        }
        return answer
    }
}

package struct CollectedDurations: Mergeable {
    private var durations = Durations()
    /// Weights, added up.
    private var withoutEnd: Int64 = 0
    private var reversed: Int64 = 0

    private var outcomes: [TransactionOutcome: Int64] = [:]

    mutating func add(
        _ start: TimePoint, _ end: TimePoint?, _ sources: SourceDirectory, _ transaction: TransactionCursor.Transaction
    ) {
        let weight = transaction.weight
        guard let end else {
            withoutEnd.addWeight(weight)
            return
        }
        // The same event from both ends takes no time.
        if start.isAfter(end, sources) {
            reversed.addWeight(weight)
        } else {
            durations.append(end.microseconds(since: start), weight: weight)
            outcomes[transaction.outcome, default: 0].addWeight(weight)
        }
    }

    package mutating func merge(_ other: consuming CollectedDurations) {
        withoutEnd.addWeight(other.withoutEnd)
        reversed.addWeight(other.reversed)
        outcomes.merge(other.outcomes, uniquingKeysWith: { $0.addingWeight($1) })
        durations.merge(other.durations)
    }

    /// Leaves the durations in another order.
    mutating func segment(_ value: String?) -> DurationSegment {
        let histogram = [DurationSegment.Bar](of: durations)
        return DurationSegment(
            value: value, statistics: DurationStatistics(&durations), withoutEnd: Weights.count(withoutEnd),
            reversed: Weights.count(reversed), outcomes: outcomes.counts, histogram: histogram)
    }
}
