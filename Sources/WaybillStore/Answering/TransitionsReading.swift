import WaybillCore

/// Answers a ``TransitionsQuery``: one pass over all events of the use case.
struct TransitionsReading {
    private let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    func answer(_ query: TransitionsQuery, now wall: Int) throws(WaybillError) -> TransitionsAnswer {
        guard query.filter.useCase != nil else {
            throw WaybillError(.setting, "Events follow each other within a use case; say which.")
        }
        var events = try AskedEvents(query.filter, codes: nil, sources: try AskedSources(connection), now: wall, connection)
        var collected = PairedDurations()
        try events.forEach { _, events, sources in
            var ordered = events
            ordered.putInOrder(sources)
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
    private var durations: [[Int]] = []
    private var places: [Pair: Int] = [:]
    private var lastPair = Pair(from: -1, to: -1)
    private var lastPlace = 0

    private struct Pair: Hashable {
        var from: Int
        var to: Int
    }

    mutating func add(_ duration: Int, from: Int, to: Int) {
        let pair = Pair(from: from, to: to)
        if pair != lastPair {
            if let place = places[pair] {
                lastPlace = place
            } else {
                lastPlace = durations.count
                places[pair] = lastPlace
                durations.append([])
            }
            lastPair = pair
        }
        durations[lastPlace].append(duration)
    }

    /// Gives the durations up as it goes, so that they are in memory once.
    mutating func take() -> [(from: Int, to: Int, DurationStatistics)] {
        places.map { pair, place in (pair.from, pair.to, DurationStatistics(&durations[place])) }
    }
}
