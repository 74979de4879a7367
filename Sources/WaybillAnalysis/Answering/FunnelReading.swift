import WaybillCore
import WaybillReading
import WaybillStore

/// Answers a ``FunnelQuery``.
struct FunnelReading {
    private let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    fileprivate struct Collected {
        var transactions = 0
        var durations: [Durations]

        init(stepCount: Int) { durations = Array(repeating: Durations(), count: stepCount) }
    }

    func answer(_ query: FunnelQuery, now wall: Int) throws(WaybillError) -> FunnelAnswer {
        guard !query.steps.isEmpty else { throw WaybillError(.setting, "A funnel needs at least one step.") }
        let sources = try AskedSources(connection)
        let points = try AskedPoints(query.steps, of: query.filter.useCase, sources: sources, connection)
        // Strictly, what lies between matters.
        let events = try AskedEvents(
            query.filter, codes: query.isStrict ? nil : points.codes, reading: points.contents, segmentation: query.segmentation,
            sources: sources, now: wall, connection)
        var collected = Segmented(Collected(stepCount: query.steps.count), by: query.segmentation)
        if query.isStrict {
            try events.forEachInOrder { transaction, ordered, sources in
                let durations = strict(query, points, transaction, ordered, sources)
                collected.add(transaction) { $0.add(durations) }
            }
        } else {
            try events.forEach { transaction, events, sources in
                let durations = loose(query, points, transaction, events, sources)
                collected.add(transaction) { $0.add(durations) }
            }
        }
        let (total, segments) = collected.result(events.transactions.segmentValues) { $0.segment($1, query.steps) }
        return FunnelAnswer(total: total, segments: segments)
    }

    /// How long each step that was reached took: each by its first occurrence after the step before.
    private func loose(
        _ query: FunnelQuery, _ points: AskedPoints, _ transaction: AskedTransactions.Transaction, _ events: [AskedEvent],
        _ sources: AskedSources
    ) -> [Int] {
        var durations: [Int] = []
        var (first, last): (AskedEvent?, AskedEvent?) = (nil, nil)
        for index in query.steps.indices {
            guard let step = points.occurrence(.first, of: index, in: transaction, events, after: last, sources) else { break }
            if let first, let window = query.windowMicroseconds, step.microseconds(since: first) > window { break }
            durations.append(last.map(step.microseconds(since:)) ?? 0)
            (first, last) = (first ?? step, step)
        }
        return durations
    }

    /// The same with nothing in between: the run of steps that gets furthest, of several the earliest.
    private func strict(
        _ query: FunnelQuery, _ points: AskedPoints, _ transaction: AskedTransactions.Transaction, _ events: [AskedEvent],
        _ sources: AskedSources
    ) -> [Int] {
        var ordered = events
        if query.steps.contains(.begun) { ordered.insert(transaction.begin, at: 0) }
        if query.steps.contains(.finished), let end = transaction.end(sources) {
            // Facts after the closing are late.
            let place = ordered.firstIndex { $0.isAfter(end, sources) } ?? ordered.endIndex
            ordered.insert(end, at: place)
        }
        var best: [Int] = []
        for start in ordered.indices {
            var durations: [Int] = []
            for (index, point) in query.steps.enumerated() {
                guard start + index < ordered.count, isAt(point, index, ordered[start + index], points) else { break }
                let step = ordered[start + index]
                if let window = query.windowMicroseconds, step.microseconds(since: ordered[start]) > window { break }
                durations.append(index == 0 ? 0 : step.microseconds(since: ordered[start + index - 1]))
            }
            if durations.count > best.count { best = durations }
        }
        return best
    }

    private func isAt(_ point: TransactionPoint, _ index: Int, _ event: AskedEvent, _ points: AskedPoints) -> Bool {
        switch point {
        case .begun: event.name == -1
        case .finished: event.name == -2
        case .event: points.matches(event, index)
        }
    }
}

extension FunnelReading.Collected {
    fileprivate mutating func add(_ steps: [Int]) {
        transactions += 1
        for (index, duration) in steps.enumerated() { durations[index].append(duration) }
    }

    fileprivate func segment(_ value: String?, _ points: [TransactionPoint]) -> FunnelSegment {
        var before = transactions
        var steps: [FunnelSegment.Step] = []
        for (index, point) in points.enumerated() {
            let reached = durations[index].count
            var taken = index == 0 ? Durations() : durations[index]
            steps.append(FunnelSegment.Step(point: point, reached: reached, lost: before - reached, statistics: DurationStatistics(&taken)))
            before = reached
        }
        return FunnelSegment(value: value, transactions: transactions, steps: steps)
    }
}
