import WaybillCore
import WaybillStore

struct TimePoint {
    var source: Int64
    var sequence: Int64
    var at: Int64
    var wall: Int64
    /// The index in the names of ``SourceDirectory``; negative for a point that is not an event.
    var name: Int

    static let (begun, finished) = (-1, -2)
}

extension TimePoint {
    /// Compares by monotonic clock and sequence within a source, and by wall clock across sources; ties by source.
    func isAfter(_ other: TimePoint, _ sources: SourceDirectory) -> Bool {
        if source == other.source { return (at, sequence) > (other.at, other.sequence) }
        return wall == other.wall ? hasLaterSource(than: other, sources) : wall > other.wall
    }

    func hasLaterSource(than other: TimePoint, _ sources: SourceDirectory) -> Bool {
        guard let id = sources.id(of: source), let otherID = sources.id(of: other.source) else {
            return source > other.source
        }
        return id > otherID
    }

    func microseconds(since other: TimePoint) -> Int64 { source == other.source ? at - other.at : wall - other.wall }
}

/// Reads the transactions of a question, with the events that it asks about.
struct EventCursor {
    private(set) var sources: SourceDirectory
    var transactions: TransactionCursor
    private let names: [Int]
    private let codes: [Int]?

    init(
        _ question: some FoldedQuestion, of filter: TransactionFilter? = nil,
        reading contents: TransactionCursor.Contents = [], attribute: String? = nil, _ context: AnswerContext
    ) throws(WaybillError) {
        let filter = filter ?? question.rowSelection.transactions
        sources = try SourceDirectory(context)
        var (names, found, unknown) = ([Int](), Set<Int>(), UnknownNames())
        for point in question.points {
            switch point {
            case .begun: names.append(TimePoint.begun)
            case .finished: names.append(TimePoint.finished)
            case .event(let name):
                guard filter.useCase != nil else {
                    throw WaybillError(.setting, "“\(name)” is an event of some use case; say of which.")
                }
                let codes = try context.connection.codes(named: name)
                if codes.isEmpty {
                    if unknown.known.isEmpty { unknown.known = try context.connection.eventNames() }
                    guard context.isPartial else { throw .unknown(event: name, unknown.known) }
                    unknown.unknown.append(name)
                }
                found.formUnion(codes)
                names.append(sources.number(of: name))
            }
        }
        self.names = names
        codes = question.rowContents.codes == nil ? nil : found.sorted()
        var contents = contents
        if names.contains(where: { $0 < 0 }) { contents.insert(.times) }
        if codes != [] { contents.insert(.joined) }
        transactions = try TransactionCursor(
            filter, segmentation: question.segmentation, reading: contents, attribute: attribute, joinedWith: codes,
            sources: sources, context)
        transactions.unknownEvents = unknown
    }

    func ranges(by connections: [Connection]) -> [EventCursor] {
        transactions.ranges(by: connections).map { range in
            var events = self
            (events.transactions, events.sources) = (range, SourceDirectory(sources, by: range.connection))
            return events
        }
    }

    mutating func forEach(_ body: (TimedTransaction) throws(WaybillError) -> Void) throws(WaybillError) {
        if transactions.areMade { return try forEachMade(body) }
        // Two forward cursors, because a server's parts have another order than those of its clients.
        var leading = try PartEvents(codes, sources, "leading", transactions.connection)
        var joined = try PartEvents(codes, sources, "joined", transactions.connection)
        defer {
            leading.stop()
            joined.stop()
        }
        let (readsEvents, sources, points) = (codes != [], sources, names)
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
                // Parts of one source may interleave, and events may be recorded after they happened.
                if parts.count > 1 || parts.first?.source == leader.source || leading.isOutOfOrder
                    || joined.isOutOfOrder
                {
                    events.sort { ($0.source, $0.at, $0.sequence) < ($1.source, $1.at, $1.sequence) }
                }
            }
            try body(TimedTransaction(transaction: transaction, events: events, sources: sources, points: points))
        }
    }

    private mutating func forEachMade(
        _ body: (TimedTransaction) throws(WaybillError) -> Void
    ) throws(WaybillError) {
        let (sources, points) = (sources, self.names)
        var (events, clocks, names): ([TimePoint], [WallClock], [NameCodes]) = ([], [], [])
        try transactions.forEachMade { (transaction, row) throws(WaybillError) in
            events.removeAll(keepingCapacity: true)
            clocks.removeAll(keepingCapacity: true)
            names.removeAll(keepingCapacity: true)
            if !row.pointee.events.isEmpty {
                for index in row.pointee.sources.indices {
                    clocks.append(sources.clock(of: transaction.source + Int64(index)))
                }
                for part in row.pointee.parts {
                    names.append(try sources.codes(of: part.useCase, in: transaction.source + Int64(part.source)))
                }
            }
            for event in row.pointee.events {
                let source = row.pointee.parts[event.part].source
                events.append(
                    TimePoint(
                        source: transaction.source + Int64(source), sequence: event.sequence, at: event.at,
                        wall: clocks[source].wall(event.at),
                        name: names[event.part][event.code] ?? sources.number(ofUnnamed: event.code)))
            }
            try body(TimedTransaction(transaction: transaction, events: events, sources: sources, points: points))
        }
    }

    mutating func forEachInOrder(_ body: (TimedTransaction) throws(WaybillError) -> Void) throws(WaybillError) {
        try forEach { (found) throws(WaybillError) in
            var ordered = found
            ordered.events = found.events.inOrder(found.sources)
            try body(ordered)
        }
    }
}

extension Connection {
    fileprivate func eventNames() throws(WaybillError) -> Set<String> {
        Set(try statement("SELECT DISTINCT name FROM names WHERE event >= 0").rows { row in row.text(0) })
    }
}

extension [TimePoint] {
    /// Sorts the events of several sources by wall clock, keeping the order within each source; ties by source.
    fileprivate func inOrder(_ sources: SourceDirectory) -> [TimePoint] {
        guard first?.source != last?.source else { return self }
        var places: [(time: Int64, index: Int)] = []
        places.reserveCapacity(count)
        for (index, event) in enumerated() {
            let isFirst = index == 0 || self[index - 1].source != event.source
            // A clock that was set back must not change the order, so this is never before the previous event.
            places.append((isFirst ? event.wall : Swift.max(event.wall, places[index - 1].time), index))
        }
        places.sort { left, right in
            if left.time != right.time { return left.time < right.time }
            let (event, other) = (self[left.index], self[right.index])
            return event.source == other.source
                ? left.index < right.index : other.hasLaterSource(than: event, sources)
        }
        return places.map { self[$0.index] }
    }
}

struct PartEvents {
    private var rows: RowCursor
    private let sources: SourceDirectory
    private var source: Int64 = -1
    private var useCase = 0
    private var clock = WallClock([])
    private var names = NameCodes()
    private(set) var isOutOfOrder = false

    /// `purpose` distinguishes two statements in use at the same time.
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
            clock = sources.clock(of: source)
            names = try sources.codes(of: useCase, in: source)
        }
        isOutOfOrder = false
        var latest = Int64.min
        var next = try rows.row(from: source, part.sequence)
        while let row = next, row.int(0) == part.sequence {
            let (at, code) = (row.int(2) as Int64, row.int(3) as Int)
            // Changes of attributes are rows of the same table, with negative codes.
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
