import WaybillCore
import WaybillStore

/// An event, as far as questions go.
struct TimePoint {
    /// `sources.id`.
    var source: Int64
    var sequence: Int64
    /// Microseconds since its source started.
    var at: Int64
    /// Microseconds since 1970, as the source's clock says.
    var wall: Int64
    /// Into the names of ``SourceDirectory``; of a point that is no event, below 0.
    var name: Int
}

extension TimePoint {
    /// Whether it came later: within a source by the clock that cannot be set, then by sequence; across sources by their
    /// wall clocks, ties by source.
    func isAfter(_ other: TimePoint, _ sources: SourceDirectory) -> Bool {
        if source == other.source { return (at, sequence) > (other.at, other.sequence) }
        return wall == other.wall ? hasLaterSource(than: other, sources) : wall > other.wall
    }

    /// What decides where clocks do not.
    func hasLaterSource(than other: TimePoint, _ sources: SourceDirectory) -> Bool {
        guard let id = sources.entries[source]?.id, let otherID = sources.entries[other.source]?.id else {
            return source > other.source
        }
        return id > otherID
    }

    /// How long after another it came: within a source by the clock that cannot be set, across sources as their wall
    /// clocks say.
    func microseconds(since other: TimePoint) -> Int64 { source == other.source ? at - other.at : wall - other.wall }
}

/// Hands out the events of one transaction after the other.
struct EventCursor: TransactionRange {
    let sources: SourceDirectory
    private(set) var transactions: TransactionCursor
    /// Of the events that are wanted, in order; nil: all.
    private let codes: [Int]?
    private let connection: Connection

    /// - Parameters:
    ///   - codes: Of the events that are wanted; nil: all.
    ///   - contents: What is wanted of the transactions themselves.
    ///   - segmentation: What tells the transactions apart.
    init(
        _ filter: TransactionFilter, codes: Set<Int>?, reading contents: TransactionCursor.Contents = [],
        segmentation: Segmentation? = nil, sources: SourceDirectory, _ context: AnswerContext
    ) throws(WaybillError) {
        self.sources = sources
        connection = context.connection
        self.codes = codes?.sorted()
        transactions = try TransactionCursor(
            filter, segmentation: segmentation, reading: codes == [] ? contents : contents.union(.joined),
            joinedWith: self.codes,
            sources: sources, context)
    }

    private init(
        _ transactions: TransactionCursor, _ codes: [Int]?, _ sources: SourceDirectory, _ connection: Connection
    ) {
        (self.transactions, self.codes, self.sources, self.connection) = (transactions, codes, sources, connection)
    }

    func ranges(by connections: [Connection]) -> [EventCursor] {
        zip(connections, transactions.ranges(by: connections)).map { connection, range in
            EventCursor(range, codes, SourceDirectory(sources, by: connection), connection)
        }
    }

    /// Calls `body` for each transaction with its events: by source, within a source by time and sequence.
    mutating func forEach(
        _ body: (TransactionCursor.Transaction, [TimePoint], SourceDirectory) throws(WaybillError) -> Void
    ) throws(WaybillError) {
        // Each goes forward for itself: a server's parts are found in another order than those of its clients.
        var leading = try PartEvents(codes, sources, "leading", connection)
        var joined = try PartEvents(codes, sources, "joined", connection)
        defer {
            leading.stop()
            joined.stop()
        }
        let (readsEvents, sources) = (codes != [], sources)
        var events: [TimePoint] = []
        try transactions.forEach { (transaction, parts) throws(WaybillError) in
            events.removeAll(keepingCapacity: true)
            if readsEvents {
                let leader = JoinedParts.Part(
                    source: transaction.source, sequence: transaction.sequence, useCase: transaction.useCase)
                let before = parts.prefix { ($0.source, $0.sequence) < (leader.source, leader.sequence) }
                for part in before { try joined.read(part, into: &events) }
                try leading.read(leader, into: &events)
                for part in parts.dropFirst(before.count) { try joined.read(part, into: &events) }
                // Several parts of one source may have recorded in turn, and events may have been recorded later than they
                // happened.
                if parts.count > 1 || parts.first?.source == leader.source || leading.isOutOfOrder
                    || joined.isOutOfOrder
                {
                    events.sort { ($0.source, $0.at, $0.sequence) < ($1.source, $1.at, $1.sequence) }
                }
            }
            try body(transaction, events, sources)
        }
    }

    /// Calls `body` for each transaction with its events in one order.
    mutating func forEachInOrder(
        _ body: (TransactionCursor.Transaction, [TimePoint], SourceDirectory) throws(WaybillError) -> Void
    ) throws(WaybillError) {
        var order = EventOrder(sources)
        try forEach { (transaction, events, sources) throws(WaybillError) in
            guard let first = events.first, let last = events.last, first.source != last.source else {
                return try body(transaction, events, sources)
            }
            try body(transaction, order.ordered(events), sources)
        }
    }
}

extension TransactionCursor.Transaction {
    /// Its beginning, as something that other points come after.
    var begin: TimePoint { TimePoint(source: source, sequence: sequence, at: at, wall: begun, name: -1) }

    /// Its outcome; nil where none was recorded.
    func end(_ sources: SourceDirectory) -> TimePoint? {
        closing.map {
            TimePoint(source: source, sequence: $0.sequence, at: $0.at, wall: sources.wall($0.at, in: source), name: -2)
        }
    }
}

/// Puts the events of several sources into one order: within a source by its own clock and then by sequence, across
/// sources by their wall clocks as far as that allows; ties by source.
struct EventOrder {
    private let sources: SourceDirectory
    // Kept from transaction to transaction, so that they are made once.
    private var merged: [TimedEvent] = []
    private var next: [TimedEvent] = []
    private var events: [TimePoint] = []

    private struct TimedEvent {
        /// A wall clock that was set back must not turn the source's own order round: never less than that of the event
        /// before.
        var time: Int64
        var event: TimePoint
    }

    init(_ sources: SourceDirectory) { self.sources = sources }

    /// - Parameter events: By source, within a source by time and sequence: so each source's are in order, and have to be
    ///   merged.
    mutating func ordered(_ events: [TimePoint]) -> [TimePoint] {
        merged.removeAll(keepingCapacity: true)
        var index = events.startIndex
        while index < events.endIndex {
            let end =
                events[index...].firstIndex { [source = events[index].source] in $0.source != source }
                ?? events.endIndex
            merge(events[index..<end])
            index = end
        }
        self.events.removeAll(keepingCapacity: true)
        self.events.append(contentsOf: merged.lazy.map(\.event))
        return self.events
    }

    private mutating func merge(_ ofSource: ArraySlice<TimePoint>) {
        next.removeAll(keepingCapacity: true)
        var place = 0
        var time = Int64.min
        for event in ofSource {
            time = max(time, event.wall)
            while place < merged.count, !isEarlier(event, at: time, than: merged[place]) {
                next.append(merged[place])
                place += 1
            }
            next.append(TimedEvent(time: time, event: event))
        }
        next.append(contentsOf: merged[place...])
        swap(&merged, &next)
    }

    /// Of another source.
    private func isEarlier(_ event: TimePoint, at time: Int64, than other: TimedEvent) -> Bool {
        time == other.time ? other.event.hasLaterSource(than: event, sources) : time < other.time
    }
}

/// Reads the events of parts.
struct PartEvents {
    private var rows: RowCursor
    private let sources: SourceDirectory
    private var source: Int64 = -1
    private var useCase = 0
    private var clock = WallClock([])
    private var names = NameCodes()
    /// Whether an event of the part that was read last happened before one that was recorded before it.
    private(set) var isOutOfOrder = false

    /// - Parameters:
    ///   - codes: Of the events that are wanted; nil: all.
    ///   - purpose: Tells apart the statements of two that read in turn.
    init(_ codes: [Int]?, _ sources: SourceDirectory, _ purpose: String, _ connection: Connection) throws(WaybillError)
    {
        rows = try RowCursor(
            "SELECT part, after, at_us, code FROM events AS \(purpose)", key: ("source", "part"),
            only: codes.map { ("code", $0) },
            connection)
        self.sources = sources
    }

    func stop() { rows.stop() }

    mutating func read(_ part: JoinedParts.Part, into events: inout [TimePoint]) throws(WaybillError) {
        if part.source != source || part.useCase != useCase {
            (source, useCase) = (part.source, part.useCase)
            clock = sources.entries[source]?.clock ?? WallClock([])
            names = try sources.codes(of: useCase, in: source)
        }
        isOutOfOrder = false
        var latest = Int64.min
        var next = try rows.row(from: source, part.sequence)
        while let row = next, row.int(0) == part.sequence {
            let (at, code) = (row.int(2) as Int64, row.int(3) as Int)
            // Attributes that were set have their rows among the events', and are none.
            if code >= 0 {
                isOutOfOrder = isOutOfOrder || at < latest
                latest = max(latest, at)
                events.append(
                    TimePoint(
                        source: source, sequence: part.sequence + row.int(1), at: at, wall: clock.wall(at),
                        name: names[code] ?? sources.number(ofUnnamed: code)))
            }
            next = try rows.next()
        }
    }
}
