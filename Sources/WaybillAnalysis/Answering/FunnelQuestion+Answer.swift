public import WaybillCore
import WaybillReading

extension FunnelQuestion: FoldedQuestion {
    public func answer(from context: AnswerContext) throws(WaybillError) -> FunnelAnswer {
        try answer(partial(from: context))
    }

    package func partial(from context: AnswerContext) throws(WaybillError) -> Folded<NamedSegments<CollectedSteps>> {
        guard !steps.isEmpty else { throw WaybillError(.setting, "A funnel needs at least one step.") }
        let points = try PointMatcher(steps, of: filter.useCase, context)
        // Strictly, what lies between matters.
        let all = try EventCursor(
            filter, codes: isStrict ? nil : points.codes, reading: points.contents, segmentation: segmentation,
            sources: points.sources,
            context)
        var folded = try context.fold(all, into: Segmented(CollectedSteps(stepCount: steps.count))) {
            (events, collected) throws(WaybillError) in
            if isStrict {
                try events.forEachInOrder { transaction, ordered, sources in
                    let durations = strict(points, transaction, ordered, sources)
                    collected.add(transaction) { $0.add(durations, transaction.weight) }
                }
            } else {
                try events.forEach { transaction, events, sources in
                    let durations = loose(points, transaction, events, sources)
                    collected.add(transaction) { $0.add(durations, transaction.weight) }
                }
            }
        }
        folded.asked.events = points.unknown
        return folded.map { $0.named(all.transactions.segmentValues) }
    }

    package func answer(
        _ found: consuming Folded<NamedSegments<CollectedSteps>>
    ) throws(WaybillError) -> FunnelAnswer {
        let asked = found.asked
        try asked.check()
        var answer = found.collected.answer(by: segmentation) { $0.segment($1, steps) }
        answer.weighed = asked.weighing
        if let first = steps.first, answer.total.steps.first?.reached == 0 {
            answer.whyEmpty = asked.whyNone { "None of \($0) gets to the first step, \(first.inWords)." }
        }
        return answer
    }

    /// How long each step that was reached took: each by its first occurrence after the step before.
    private func loose(
        _ points: PointMatcher, _ transaction: TransactionCursor.Transaction, _ events: [TimePoint],
        _ sources: SourceDirectory
    ) -> [Int64] {
        var durations: [Int64] = []
        var (first, last): (TimePoint?, TimePoint?) = (nil, nil)
        for index in steps.indices {
            guard let step = points.occurrence(.first, of: index, in: transaction, events, after: last, sources) else {
                break
            }
            if let first, let window = windowMicroseconds, step.microseconds(since: first) > window { break }
            durations.append(last.map(step.microseconds(since:)) ?? 0)
            (first, last) = (first ?? step, step)
        }
        return durations
    }

    /// The same with nothing in between: the run of steps that gets furthest, of several the earliest.
    private func strict(
        _ points: PointMatcher, _ transaction: TransactionCursor.Transaction, _ events: [TimePoint],
        _ sources: SourceDirectory
    ) -> [Int64] {
        var ordered = events
        if steps.contains(.begun) { ordered.insert(transaction.begin, at: 0) }
        if steps.contains(.finished), let end = transaction.end(sources) {
            // Facts after the closing are late.
            let place = ordered.firstIndex { $0.isAfter(end, sources) } ?? ordered.endIndex
            ordered.insert(end, at: place)
        }
        var best: [Int64] = []
        for start in ordered.indices {
            var durations: [Int64] = []
            for (index, point) in steps.enumerated() {
                guard start + index < ordered.count, isAt(point, index, ordered[start + index], points) else { break }
                let step = ordered[start + index]
                if let window = windowMicroseconds, step.microseconds(since: ordered[start]) > window { break }
                durations.append(index == 0 ? 0 : step.microseconds(since: ordered[start + index - 1]))
            }
            if durations.count > best.count { best = durations }
        }
        return best
    }

    private func isAt(_ point: TransactionPoint, _ index: Int, _ event: TimePoint, _ points: PointMatcher) -> Bool {
        switch point {
        case .begun: event.name == -1
        case .finished: event.name == -2
        case .event: points.matches(event, index)
        }
    }
}

package struct CollectedSteps: Mergeable {
    /// Their weights, added up.
    private var transactions: Int64 = 0
    private var durations: [Durations]

    init(stepCount: Int) { durations = Array(repeating: Durations(), count: stepCount) }

    mutating func add(_ steps: [Int64], _ weight: Int64) {
        transactions.addWeight(weight)
        for (index, duration) in steps.enumerated() { durations[index].append(duration, weight: weight) }
    }

    package mutating func merge(_ other: consuming CollectedSteps) {
        transactions.addWeight(other.transactions)
        for (index, durations) in other.durations.enumerated() { self.durations[index].merge(durations) }
    }

    /// Leaves the durations in another order.
    mutating func segment(_ value: String?, _ points: [TransactionPoint]) -> FunnelSegment {
        let transactions = Weights.count(transactions)
        var before = transactions
        var steps: [FunnelSegment.Step] = []
        for (index, point) in points.enumerated() {
            let reached = durations[index].count
            var none = Durations()
            let statistics = index == 0 ? DurationStatistics(&none) : DurationStatistics(&durations[index])
            steps.append(
                FunnelSegment.Step(point: point, reached: reached, lost: before - reached, statistics: statistics))
            before = reached
        }
        return FunnelSegment(value: value, transactions: transactions, steps: steps)
    }
}
