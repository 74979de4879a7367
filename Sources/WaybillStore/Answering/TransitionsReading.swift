import WaybillCore

/// Answers a ``TransitionsQuery``: one pass over all events of the use case.
struct TransitionsReading {
    private let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    func answer(_ query: TransitionsQuery, now wall: Int) throws(WaybillError) -> TransitionsAnswer {
        guard query.filter.useCase != nil else {
            throw WaybillError(.setting, "Events follow each other within a use case; say which.")
        }
        let events = try AskedEvents(query.filter, codes: nil, sources: try AskedSources(connection), now: wall, connection)
        var collected = PairedDurations()
        try events.forEachInOrder { _, ordered, _ in
            for index in ordered.indices.dropFirst() {
                collected.add(
                    ordered[index].microseconds(since: ordered[index - 1]), from: ordered[index - 1].name, to: ordered[index].name)
            }
        }
        let names = events.sources.names
        let transitions = collected.take().map { from, to, statistics in
            TransitionsAnswer.Transition(from: names[from], to: names[to], statistics: statistics)
        }
        return TransitionsAnswer(
            transitions: transitions.sorted {
                (-$0.statistics.count, $0.from, $0.to) < (-$1.statistics.count, $1.from, $1.to)
            })
    }
}

/// Durations by the numbers of two names.
private struct PairedDurations {
    private var durations: [Durations] = []
    private var places: [Pair: Int] = [:]
    /// By the first name, what followed it last time: mostly it is the same again.
    private var latest: [(to: Int, place: Int)] = []

    private struct Pair: Hashable {
        var from: Int
        var to: Int
    }

    mutating func add(_ duration: Int, from: Int, to: Int) {
        while latest.count <= from { latest.append((-1, -1)) }
        if latest[from].to != to { latest[from] = (to, place(of: Pair(from: from, to: to))) }
        durations[latest[from].place].append(duration)
    }

    private mutating func place(of pair: Pair) -> Int {
        if let place = places[pair] { return place }
        places[pair] = durations.count
        durations.append(Durations())
        return durations.count - 1
    }

    /// Gives the durations up as it goes, so that they are in memory once.
    mutating func take() -> [(from: Int, to: Int, DurationStatistics)] {
        places.map { pair, place in (pair.from, pair.to, DurationStatistics(&durations[place])) }
    }
}
