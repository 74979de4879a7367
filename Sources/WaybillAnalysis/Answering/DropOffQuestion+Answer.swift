public import WaybillCore
import WaybillReading

extension DropOffQuestion {
    public func answer(from context: AnswerContext) throws(WaybillError) -> DropOffAnswer {
        guard filter.useCase != nil else {
            throw WaybillError(.setting, "A last event is one of a use case; say of which.")
        }
        let events = try EventCursor(
            unfinished, codes: nil, reading: .times, sources: try SourceDirectory(context.connection), context)
        var durations: [Int?: Durations] = [:]
        var weights: Int64 = 0
        try events.forEachInOrder { transaction, ordered, _ in
            durations[ordered.last?.name, default: Durations()].append(
                ordered.last?.microseconds(since: transaction.begin) ?? 0, weight: transaction.weight)
            weights += transaction.weight
        }
        let names = events.sources.names
        let last = durations.map { name, durations in
            var taken = name == nil ? Durations() : durations
            return DropOffAnswer.LastEvent(
                event: name.map { names[$0] }, count: durations.count, statistics: DurationStatistics(&taken))
        }
        var answer = DropOffAnswer(
            transactions: Weights.count(weights),
            lastEvents: last.sorted {
                $0.count == $1.count ? Segmentation.precedes($0.event, $1.event) : $0.count > $1.count
            },
            whyEmpty: events.transactions.count == 0 ? try context.reader.whyEmpty(unfinished, now: context.now) : nil)
        answer.weighed = try events.transactions.weighing()
        return answer
    }

    /// Its filter, with the outcomes of those who did not finish where it names none.
    private var unfinished: TransactionFilter {
        var filter = filter
        if filter.outcomes.isEmpty { filter.outcomes = [.abandoned, .interrupted, .timedOut] }
        return filter
    }
}
