public import WaybillCore
import WaybillReading

extension DropOffQuestion: FoldedQuestion {
    public func answer(from context: AnswerContext) throws(WaybillError) -> DropOffAnswer {
        try answer(partial(from: context))
    }

    package func partial(from context: AnswerContext) throws(WaybillError) -> Folded<LastEvents> {
        guard filter.useCase != nil else {
            throw WaybillError(.setting, "A last event is one of a use case; say of which.")
        }
        let all = try EventCursor(
            unfinished, codes: nil, reading: .times, sources: try SourceDirectory(context.connection), context)
        return try context.fold(all, into: LastEvents()) { (events, collected) throws(WaybillError) in
            var durations: [Int?: Durations] = [:]
            try events.forEachInOrder { transaction, ordered, _ in
                durations[ordered.last?.name, default: Durations()].append(
                    ordered.last?.microseconds(since: transaction.begin) ?? 0, weight: transaction.weight)
                collected.weights.addWeight(transaction.weight)
            }
            let names = events.sources.names
            for (name, durations) in durations { collected.durations[name.map { names[$0] }] = durations }
        }
    }

    package func answer(_ found: consuming Folded<LastEvents>) throws(WaybillError) -> DropOffAnswer {
        let asked = found.asked
        let last = found.collected.durations.map { name, durations in
            var taken = name == nil ? Durations() : durations
            return DropOffAnswer.LastEvent(
                event: name, count: durations.count, statistics: DurationStatistics(&taken))
        }
        var answer = DropOffAnswer(
            transactions: Weights.count(found.collected.weights),
            lastEvents: last.sorted {
                $0.count == $1.count ? Segmentation.precedes($0.event, $1.event) : $0.count > $1.count
            },
            whyEmpty: asked.count == 0 ? asked.whyNone { "\($0) can be listed." } : nil)
        answer.weighed = asked.weighing
        return answer
    }

    /// Its filter, with the outcomes of those who did not finish where it names none.
    private var unfinished: TransactionFilter {
        var filter = filter
        if filter.outcomes.isEmpty { filter.outcomes = [.abandoned, .interrupted, .timedOut] }
        return filter
    }
}

/// How long it took to the last events, by their names; nil: there was no event.
package struct LastEvents: Mergeable {
    fileprivate var durations: [String?: Durations] = [:]
    /// Weights, added up.
    fileprivate var weights: Int64 = 0

    package mutating func merge(_ other: consuming LastEvents) {
        durations.merge(other.durations)
        weights.addWeight(other.weights)
    }
}
