public import WaybillCore
import WaybillReading

/// One pass over all events of the use case.
extension TransitionsQuestion: FoldedQuestion {
    public func answer(from context: AnswerContext) throws(WaybillError) -> TransitionsAnswer {
        try answer(partial(from: context))
    }

    package func partial(from context: AnswerContext) throws(WaybillError) -> Folded<PairedDurations> {
        guard filter.useCase != nil else {
            throw WaybillError(.setting, "Events follow each other within a use case; say which.")
        }
        let all = try EventCursor(filter, codes: nil, sources: try SourceDirectory(context.connection), context)
        return try context.fold(all, into: PairedDurations()) { (events, collected) throws(WaybillError) in
            var numbered = NumberedPairs()
            try events.forEachInOrder { transaction, ordered, _ in
                for index in ordered.indices.dropFirst() {
                    numbered.add(
                        ordered[index].microseconds(since: ordered[index - 1]), from: ordered[index - 1].name,
                        to: ordered[index].name, weight: transaction.weight)
                }
            }
            collected = numbered.named(events.sources.names)
        }
    }

    package func answer(_ found: consuming Folded<PairedDurations>) throws(WaybillError) -> TransitionsAnswer {
        let asked = found.asked
        let transitions = try found.collected.transitions()
        var answer = TransitionsAnswer(
            transitions: transitions.sorted {
                (-$0.statistics.count, $0.from, $0.to) < (-$1.statistics.count, $1.from, $1.to)
            }, whyEmpty: transitions.isEmpty ? asked.whyNone { "None of \($0) has two events." } : nil)
        answer.weighed = asked.weighing
        return answer
    }
}

/// The durations from each event to the one after it, by the two names.
package struct PairedDurations: Mergeable {
    fileprivate var durations: [Pair: Durations] = [:]

    fileprivate struct Pair: Hashable {
        var from, to: String
    }

    package mutating func merge(_ other: consuming PairedDurations) { durations.merge(other.durations) }

    /// Gives the durations up, so that they are in memory once.
    fileprivate consuming func transitions() throws(WaybillError) -> [TransitionsAnswer.Transition] {
        var all: [(pair: Pair, durations: Durations)] = []
        while let (pair, durations) = durations.popFirst() { all.append((pair, durations)) }
        return all.onThreads { element in
            TransitionsAnswer.Transition(
                from: element.pair.from, to: element.pair.to, statistics: DurationStatistics(&element.durations))
        }
    }
}

/// The same by the numbers of the names, while they are collected.
private struct NumberedPairs {
    private var durations: [Durations] = []
    private var places: [Pair: Int] = [:]
    /// By the first name, what followed it last time: mostly it is the same again.
    private var latest: [(to: Int, place: Int)] = []

    private struct Pair: Hashable {
        var from: Int
        var to: Int
    }

    mutating func add(_ duration: Int64, from: Int, to: Int, weight: Int64) {
        while latest.count <= from { latest.append((-1, -1)) }
        if latest[from].to != to { latest[from] = (to, place(of: Pair(from: from, to: to))) }
        durations[latest[from].place].append(duration, weight: weight)
    }

    private mutating func place(of pair: Pair) -> Int {
        if let place = places[pair] { return place }
        places[pair] = durations.count
        durations.append(Durations())
        return durations.count - 1
    }

    func named(_ names: [String]) -> PairedDurations {
        var named = PairedDurations()
        for (pair, place) in places {
            named.durations[PairedDurations.Pair(from: names[pair.from], to: names[pair.to])] = durations[place]
        }
        return named
    }
}
