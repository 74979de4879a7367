import Dispatch
import WaybillCore

/// Answers a ``TransitionsQuery``: one pass over all events of the use case, half of it on a second thread.
struct TransitionsReading {
    private let connection: Connection
    private let second: Connection?
    private let soonRead: Int

    /// - Parameters:
    ///   - second: A connection that sees the same state, for another thread; nil: there is none.
    ///   - soonRead: Up to so many transactions are read by one thread.
    init(_ connection: Connection, _ second: Connection?, soonRead: Int = 5_000) {
        (self.connection, self.second, self.soonRead) = (connection, second, soonRead)
    }

    func answer(_ query: TransitionsQuery, now wall: Int) throws(WaybillError) -> TransitionsAnswer {
        guard query.filter.useCase != nil else {
            throw WaybillError(.setting, "Events follow each other within a use case; say which.")
        }
        let events = try AskedEvents(query.filter, codes: nil, sources: try AskedSources(connection), now: wall, connection)
        let isSoonRead = events.transactions.count <= soonRead
        var collected = try collect(from: isSoonRead ? [events] : events.halves(second))
        let transitions = collected.take().map { from, to, statistics in
            TransitionsAnswer.Transition(from: from, to: to, statistics: statistics)
        }
        return TransitionsAnswer(
            transitions: transitions.sorted {
                (-$0.statistics.count, $0.from, $0.to) < (-$1.statistics.count, $1.from, $1.to)
            })
    }

    private func collect(from halves: [AskedEvents]) throws(WaybillError) -> PairedDurations {
        var collected: [Result<PairedDurations, WaybillError>?] = halves.map { _ in nil }
        collected.withUnsafeMutableBufferPointer { collected in
            // Right because each thread reads by a connection of its own, and writes at a place of its own.
            nonisolated(unsafe) let (halves, collected) = (halves, collected)
            DispatchQueue.concurrentPerform(iterations: halves.count) { index in
                collected[index] = Result { () throws(WaybillError) in try PairedDurations(halves[index]) }
            }
        }
        var all = try collected.removeFirst()!.get()
        for case let rest? in collected { all.append(try rest.get()) }
        return all
    }
}

/// The durations from each event to the one after it, by the two names.
private struct PairedDurations {
    private let sources: AskedSources
    private var durations: [Durations] = []
    private var places: [Pair: Int] = [:]
    /// By the first name, what followed it last time: mostly it is the same again.
    private var latest: [(to: Int, place: Int)] = []

    private struct Pair: Hashable {
        var from: Int
        var to: Int
    }

    init(_ events: AskedEvents) throws(WaybillError) {
        sources = events.sources
        try events.forEachInOrder { _, ordered, _ in
            for index in ordered.indices.dropFirst() {
                add(ordered[index].microseconds(since: ordered[index - 1]), from: ordered[index - 1].name, to: ordered[index].name)
            }
        }
    }

    private mutating func add(_ duration: Int, from: Int, to: Int) {
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

    /// Numbers of names are another half's own.
    mutating func append(_ other: consuming PairedDurations) {
        for (pair, place) in other.places {
            let (from, to) = (sources.number(of: other.sources.names[pair.from]), sources.number(of: other.sources.names[pair.to]))
            durations[self.place(of: Pair(from: from, to: to))].append(&other.durations[place])
        }
    }

    /// Gives the durations up as it goes, so that they are in memory once.
    mutating func take() -> [(from: String, to: String, DurationStatistics)] {
        places.map { pair, place in (sources.names[pair.from], sources.names[pair.to], DurationStatistics(&durations[place])) }
    }
}
