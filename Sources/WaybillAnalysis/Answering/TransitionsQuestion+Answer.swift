public import WaybillCore
import WaybillReading
import WaybillStore

/// One pass over all events of the use case, half of it on a second thread.
extension TransitionsQuestion {
    public func answer(from context: AnswerContext) throws(WaybillError) -> TransitionsAnswer {
        try answer(from: context, soonRead: 5_000)
    }

    /// - Parameter soonRead: Up to so many transactions are read by one thread.
    func answer(from context: AnswerContext, soonRead: Int) throws(WaybillError) -> TransitionsAnswer {
        guard filter.useCase != nil else {
            throw WaybillError(.setting, "Events follow each other within a use case; say which.")
        }
        let events = try EventCursor(filter, codes: nil, sources: try SourceDirectory(context.connection), context)
        var collected = try Self.collect(from: events, events.transactions.count > soonRead ? context.second : nil)
        let transitions = try collected.take()
        var answer = TransitionsAnswer(
            transitions: transitions.sorted {
                (-$0.statistics.count, $0.from, $0.to) < (-$1.statistics.count, $1.from, $1.to)
            }, whyEmpty: transitions.isEmpty ? try context.whyNone(filter) { "None of \($0) has two events." } : nil)
        answer.weighed = try events.transactions.weighing()
        return answer
    }

    private static func collect(from events: EventCursor, _ second: Connection?) throws(WaybillError) -> PairedDurations
    {
        guard let second else { return try PairedDurations(events) }
        let (first, last) = events.halves(by: second)
        var (all, rest) = try onTwoThreads(
            { () throws(WaybillError) in try PairedDurations(first) },
            { () throws(WaybillError) in try PairedDurations(last) })
        all.append(&rest)
        return all
    }
}

/// The durations from each event to the one after it, by the two names.
private struct PairedDurations {
    private let sources: SourceDirectory
    private var durations: [Durations] = []
    private var places: [Pair: Int] = [:]
    /// By the first name, what followed it last time: mostly it is the same again.
    private var latest: [(to: Int, place: Int)] = []

    private struct Pair: Hashable {
        var from: Int
        var to: Int
    }

    init(_ events: EventCursor) throws(WaybillError) {
        sources = events.sources
        try events.forEachInOrder { transaction, ordered, _ in
            for index in ordered.indices.dropFirst() {
                add(
                    ordered[index].microseconds(since: ordered[index - 1]), from: ordered[index - 1].name,
                    to: ordered[index].name, weight: transaction.weight)
            }
        }
    }

    private mutating func add(_ duration: Int64, from: Int, to: Int, weight: Int64) {
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

    /// Numbers of names are another half's own.
    mutating func append(_ other: inout PairedDurations) {
        for (pair, place) in other.places {
            let (from, to) = (
                sources.number(of: other.sources.names[pair.from]), sources.number(of: other.sources.names[pair.to])
            )
            durations[self.place(of: Pair(from: from, to: to))].append(&other.durations[place])
        }
    }

    /// Gives the durations up, so that they are in memory once.
    mutating func take() throws(WaybillError) -> [TransitionsAnswer.Transition] {
        // The frequent ones take the time: in turns by two threads.
        var (even, odd): ([Followed], [Followed]) = ([], [])
        for (index, entry) in places.sorted(by: { durations[$0.value].count > durations[$1.value].count }).enumerated()
        {
            var followed = Followed(from: sources.names[entry.key.from], to: sources.names[entry.key.to])
            swap(&followed.durations, &durations[entry.value])
            if index.isMultiple(of: 2) { even.append(followed) } else { odd.append(followed) }
        }
        let (first, second) = try onTwoThreads({ Followed.transitions(&even) }, { Followed.transitions(&odd) })
        return first + second
    }

    private struct Followed {
        var from, to: String
        var durations = Durations()

        static func transitions(_ all: inout [Followed]) -> [TransitionsAnswer.Transition] {
            all.indices.map {
                .init(from: all[$0].from, to: all[$0].to, statistics: DurationStatistics(&all[$0].durations))
            }
        }
    }
}
