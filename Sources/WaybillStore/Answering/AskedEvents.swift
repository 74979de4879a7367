import WaybillCore

/// An event, as far as questions go.
struct AskedEvent {
    /// `sources.id`.
    var source: Int
    var sequence: Int
    /// Microseconds since its source started.
    var at: Int
    /// Microseconds since 1970, as the source's clock says.
    var wall: Int
    /// Into the names of ``AskedSources``; of a point that is no event, below 0.
    var name: Int
}

extension AskedEvent {
    /// Whether it came later: within a source by sequence, always; across sources by their clocks, ties by source.
    func isAfter(_ other: AskedEvent, _ sources: AskedSources) -> Bool {
        if source == other.source { return sequence > other.sequence }
        return wall == other.wall ? hasLaterSource(than: other, sources) : wall > other.wall
    }

    /// What decides where clocks do not.
    fileprivate func hasLaterSource(than other: AskedEvent, _ sources: AskedSources) -> Bool {
        guard let id = sources.entries[source]?.id, let otherID = sources.entries[other.source]?.id else { return source > other.source }
        return id > otherID
    }

    /// How long after another it came: within a source by the clock that nobody can turn, across sources as their wall clocks say.
    func microseconds(since other: AskedEvent) -> Int { source == other.source ? at - other.at : wall - other.wall }
}

/// Hands out the events of one transaction after the other.
struct AskedEvents {
    private(set) var sources: AskedSources
    let transactions: AskedTransactions
    private let statement: Statement

    /// - Parameters:
    ///   - codes: Of the events that are wanted; nil: all. Others may come along.
    ///   - segmentation: What tells the transactions apart.
    init(
        _ filter: TransactionFilter, codes: Set<Int>?, segmentation: Segmentation? = nil, sources: AskedSources, now wall: Int,
        _ connection: Connection
    ) throws(WaybillError) {
        self.sources = sources
        transactions = try AskedTransactions(
            filter, segmentation: segmentation, includesJoined: codes != [], sources: sources, now: wall, connection)
        let wanted = codes.map { " AND code IN (\($0.sorted().map(String.init).joined(separator: ", ")))" } ?? ""
        statement = try connection.statement(
            "SELECT part + after, at_us, code FROM events WHERE source = ?1 AND part = ?2\(wanted) ORDER BY after")
        readsEvents = codes != []
    }

    private let readsEvents: Bool

    /// Calls `body` for each transaction with its events: by source and part, within a part by sequence.
    mutating func forEach(
        _ body: (AskedTransactions.Transaction, [AskedEvent], AskedSources) throws(WaybillError) -> Void
    ) throws(WaybillError) {
        var events: [AskedEvent] = []
        var next = 0
        for (index, transaction) in transactions.transactions.enumerated() {
            events.removeAll(keepingCapacity: true)
            if readsEvents {
                try read(transaction.source, transaction.sequence, transaction.useCase, into: &events)
                while next < transactions.joined.count, transactions.joined[next].transaction == index {
                    let part = transactions.joined[next]
                    try read(part.source, part.sequence, part.useCase, into: &events)
                    next += 1
                }
            }
            try body(transaction, events, sources)
        }
    }

    private mutating func read(_ source: Int, _ part: Int, _ useCase: Int, into events: inout [AskedEvent]) throws(WaybillError) {
        let codes = try sources.codes(of: useCase, in: source)
        let clock = sources.entries[source]?.clock ?? WallClock([])
        var unnamed: [(index: Int, code: Int)] = []
        try statement.forEachRow(source, part) { row in
            let code = row.int(2)
            let at = row.int(1)
            if codes[code] == nil { unnamed.append((events.count, code)) }
            events.append(AskedEvent(source: source, sequence: row.int(0), at: at, wall: clock.wall(at), name: codes[code] ?? -1))
        }
        for (index, code) in unnamed { events[index].name = sources.number(ofUnnamed: code) }
    }
}

extension AskedTransactions.Transaction {
    /// Its beginning, as something that other points come after.
    var begin: AskedEvent { AskedEvent(source: source, sequence: sequence, at: at, wall: begun, name: -1) }

    /// Its outcome; nil where none was recorded.
    func end(_ sources: AskedSources) -> AskedEvent? {
        closing.map { AskedEvent(source: source, sequence: $0.sequence, at: $0.at, wall: sources.wall($0.at, in: source), name: -2) }
    }
}

extension [AskedEvent] {
    /// In one order: within a source by sequence, across sources by their clocks as far as that allows; ties by (source, sequence).
    mutating func putInOrder(_ sources: AskedSources) {
        guard let first, contains(where: { $0.source != first.source }) else { return sort { $0.sequence < $1.sequence } }
        // A wall clock that was set back must not turn the source's own order round.
        sort { ($0.source, $0.sequence) < ($1.source, $1.sequence) }
        var times: [(time: Int, event: AskedEvent)] = []
        for event in self {
            var time = event.wall
            if let last = times.last, last.event.source == event.source { time = Swift.max(time, last.time) }
            times.append((time, event))
        }
        times.sort { left, right in
            if left.time != right.time { return left.time < right.time }
            if left.event.source == right.event.source { return left.event.sequence < right.event.sequence }
            return right.event.hasLaterSource(than: left.event, sources)
        }
        self = times.map(\.event)
    }
}
