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
    let sources: AskedSources
    let transactions: AskedTransactions
    /// Of the events that are wanted, in order; nil: all.
    private let codes: [Int]?
    private let connection: Connection

    /// - Parameters:
    ///   - codes: Of the events that are wanted; nil: all.
    ///   - segmentation: What tells the transactions apart.
    init(
        _ filter: TransactionFilter, codes: Set<Int>?, segmentation: Segmentation? = nil, sources: AskedSources, now wall: Int,
        _ connection: Connection
    ) throws(WaybillError) {
        self.sources = sources
        self.connection = connection
        self.codes = codes?.sorted()
        transactions = try AskedTransactions(
            filter, segmentation: segmentation, includesJoined: codes != [], sources: sources, now: wall, connection)
    }

    /// Calls `body` for each transaction with its events by source, within a source by sequence.
    func forEach(
        _ body: (AskedTransactions.Transaction, [AskedEvent], AskedSources) throws(WaybillError) -> Void
    ) throws(WaybillError) {
        // Each goes forward for itself: a server's parts are found in another order than those of its clients.
        var leading = try PartEvents(codes, sources, "leading", connection)
        var joined = try PartEvents(codes, sources, "joined", connection)
        defer {
            leading.stop()
            joined.stop()
        }
        let readsEvents = codes != []
        var events: [AskedEvent] = []
        try transactions.forEach { (transaction, parts) throws(WaybillError) in
            events.removeAll(keepingCapacity: true)
            if readsEvents {
                let leader = JoinedParts.Part(source: transaction.source, sequence: transaction.sequence, useCase: transaction.useCase)
                let before = parts.prefix { ($0.source, $0.sequence) < (leader.source, leader.sequence) }
                for part in before { try joined.read(part, into: &events) }
                try leading.read(leader, into: &events)
                for part in parts.dropFirst(before.count) { try joined.read(part, into: &events) }
                // Several parts of one source may have recorded in turn.
                if parts.count > 1 || parts.first?.source == leader.source {
                    events.sort { ($0.source, $0.sequence) < ($1.source, $1.sequence) }
                }
            }
            try body(transaction, events, sources)
        }
    }
}

/// Reads the events of parts.
private struct PartEvents {
    private var rows: ForwardRows
    private let codes: [Int]?
    private let sources: AskedSources
    private var source = -1
    private var useCase = 0
    private var clock = WallClock([])
    private var names = NameCodes()

    /// - Parameter purpose: Tells apart the statements of two that read in turn.
    init(_ codes: [Int]?, _ sources: AskedSources, _ purpose: String, _ connection: Connection) throws(WaybillError) {
        rows = try ForwardRows("SELECT source, part, after, at_us, code FROM events AS \(purpose)", key: ("source", "part"), connection)
        self.codes = codes
        self.sources = sources
    }

    func stop() { rows.stop() }

    mutating func read(_ part: JoinedParts.Part, into events: inout [AskedEvent]) throws(WaybillError) {
        if part.source != source || part.useCase != useCase {
            (source, useCase) = (part.source, part.useCase)
            clock = sources.entries[source]?.clock ?? WallClock([])
            names = try sources.codes(of: useCase, in: source)
        }
        var next = try rows.row(from: part.source, part.sequence)
        while let row = next, row.int(1) == part.sequence, row.int(0) == part.source {
            let code = row.int(4)
            if codes?.contains(code) != false {
                let at = row.int(3)
                events.append(
                    AskedEvent(
                        source: source, sequence: part.sequence + row.int(2), at: at, wall: clock.wall(at),
                        name: names[code] ?? sources.number(ofUnnamed: code)))
            }
            next = try rows.next()
        }
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
    /// From the order of their rows into one order: within a source by sequence, across sources by their clocks as far as that allows; ties by
    /// (source, sequence).
    mutating func putInOrder(_ sources: AskedSources) {
        guard let first, let last, first.source != last.source else { return }
        var times: [(time: Int, event: AskedEvent)] = []
        times.reserveCapacity(count)
        for event in self {
            // A wall clock that was set back must not turn the source's own order round.
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
