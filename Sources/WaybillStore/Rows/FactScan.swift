package import WaybillCore

/// What a scan hands its facts to.
package protocol FactVisitor {
    /// Facts of this source follow; also called again when a scan goes on within it.
    mutating func enter(_ source: ScannedSource) throws(WaybillError)
    /// Facts of this part follow; also called again when a scan goes on within it.
    mutating func enter(_ part: ScannedPart) throws(WaybillError)
    /// A fact, and for a closing the fact that it closes; nil where that has not arrived.
    mutating func visit(_ fact: Fact, closing opening: Fact?) throws(WaybillError)
    /// An event of which there is no more to say than its code; unless a visitor says otherwise, a fact as any.
    mutating func visit(_ event: PlainEvent) throws(WaybillError)
    /// Whether the scan should stop here. Mutating, since to ask anything else of a generic value copies all of it.
    var isFull: Bool { mutating get }
}

extension FactVisitor {
    package mutating func visit(_ event: PlainEvent) throws(WaybillError) { try visit(event.fact, closing: nil) }
}

/// An event that has neither attributes nor an error, as most have none: a fact takes longer to make than this to read.
package struct PlainEvent {
    package var sequence: Int64
    package var part: Int64
    package var atMicroseconds: Int64
    package var code: Int

    package init(sequence: Int64, part: Int64, atMicroseconds: Int64, code: Int) {
        self.sequence = sequence
        self.part = part
        self.atMicroseconds = atMicroseconds
        self.code = code
    }

    package var fact: Fact {
        Fact(sequence: sequence, part: part, atMicroseconds: atMicroseconds, content: .event(Fact.Event(code: code)))
    }
}

/// Reads facts in the order of their rows, which is that of the primary keys: nothing is sorted and nothing is kept,
/// however much there is.
///
/// By source, then by part: its opening, its events, its exchanges (each with its closing), its closing. It can stop
/// after any row and go on from there, also on a later state of the store, since facts do not change.
package struct FactScan {
    private enum Stage: Comparable { case opening, events, exchanges, closing }

    private let connection: Connection
    private let shares: [ScannedShare]
    private let parts: Statement
    private let events: Statement
    private let exchanges: Statement
    private let nextExchange: Statement

    private var share = 0
    private var part = Int64.min
    private var stage = Stage.opening
    /// Of the events or exchanges of the part, those before are done.
    private var sequence = Int64.min
    /// The next part that has exchanges, as far as was looked for: none of those from the last look up to it has.
    private var nextWithExchanges = Int64.min

    /// - Parameter isFiltered: Whether only transactions of the temporary table `chosen` are read.
    package init(_ shares: [ScannedShare], isFiltered: Bool, _ connection: Connection) throws(WaybillError) {
        self.connection = connection
        self.shares = shares
        parts = try connection.statement(isFiltered ? Self.chosenParts : Self.allParts)
        events = try connection.statement(Self.selectEvents)
        exchanges = try connection.statement(Self.selectExchanges)
        nextExchange = try connection.statement(Self.selectNextExchange)
    }

    /// Hands facts over until the visitor is full; false when there are no more.
    package mutating func run(_ visitor: inout some FactVisitor) throws(WaybillError) -> Bool {
        while share < shares.count {
            // Where the scan stopped, the store may have got others since.
            nextWithExchanges = .min
            if let source = try ScannedSource(shares[share], connection) {
                try visitor.enter(source)
                let (window, opened) = (source.share.window, source.share.parts)
                try parts.forRows(
                    source.share.row, max(part, opened.lowerBound), min(window.upperBound, opened.upperBound),
                    window.lowerBound,
                    while: { (row) throws(WaybillError) in try scan(Self.part(row), of: source, &visitor) })
                if visitor.isFull { return true }
            }
            share += 1
            begin(part: .min)
        }
        return false
    }

    /// Whether to go on with the next part.
    private mutating func scan(_ part: ScannedPart, of source: ScannedSource, _ visitor: inout some FactVisitor)
        throws(WaybillError)
        -> Bool
    {
        if part.sequence != self.part { begin(part: part.sequence) }
        try visitor.enter(part)
        if stage == .opening {
            if let opened = part.opened, source.includes(opened) { try visitor.visit(opened, closing: nil) }
            go(to: .events)
        }
        if stage == .events {
            try scanEvents(of: source, &visitor)
            if visitor.isFull { return false }
            go(to: .exchanges)
        }
        if stage == .exchanges, try hasExchanges(in: source) {
            try scanExchanges(of: source, &visitor)
            if visitor.isFull { return false }
        }
        if let closed = part.closed, source.includes(closed) { try visitor.visit(closed, closing: part.opened) }
        begin(part: part.sequence + 1)
        return !visitor.isFull
    }

    private mutating func scanEvents(of source: ScannedSource, _ visitor: inout some FactVisitor) throws(WaybillError) {
        let window = source.share.window
        try events.forRows(
            source.share.row, part, max(sequence, window.lowerBound), window.upperBound,
            while: { (row) throws(WaybillError) in
                let number: Int64 = row.int(0)
                sequence = number + 1
                if let event = FactRowReader.plainEvent(row, of: part) {
                    if source.includes(number, at: event.atMicroseconds) { try visitor.visit(event) }
                } else {
                    let event = FactRowReader.event(row)
                    if source.includes(event) { try visitor.visit(event, closing: nil) }
                }
                return !visitor.isFull
            })
    }

    /// Whether the part has any. The next part that has is looked for once: where few have, a look into each would be
    /// one statement for each part to find nothing.
    private mutating func hasExchanges(in source: ScannedSource) throws(WaybillError) -> Bool {
        if nextWithExchanges < part {
            nextWithExchanges = try nextExchange.first(source.share.row, part) { row in row.int(0) } ?? .max
        }
        return nextWithExchanges == part
    }

    private mutating func scanExchanges(of source: ScannedSource, _ visitor: inout some FactVisitor)
        throws(WaybillError)
    {
        let window = source.share.window
        try exchanges.forRows(
            source.share.row, part, sequence, window.upperBound, window.lowerBound,
            while: { (row) throws(WaybillError) in
                let opened = row.isNull(4) ? nil : FactRowReader.exchangeOpened(row)
                if let opened, source.includes(opened) { try visitor.visit(opened, closing: nil) }
                if !row.isNull(8) {
                    let closed = FactRowReader.exchangeClosed(row.dropFirst(8))
                    if source.includes(closed) { try visitor.visit(closed, closing: opened) }
                }
                sequence = row.int(0) + 1
                return !visitor.isFull
            })
    }

    private mutating func begin(part: Int64) {
        self.part = part
        go(to: .opening)
    }

    private mutating func go(to stage: Stage) {
        self.stage = stage
        sequence = .min
    }

    package static func part(_ row: Row) -> ScannedPart {
        let rest = row.dropFirst(FactRowReader.openedColumnCount)
        return ScannedPart(
            sequence: row.int(0), opened: row.isNull(2) ? nil : FactRowReader.opened(row),
            closed: rest.isNull(0) ? nil : FactRowReader.closed(rest), useCaseName: rest.optionalText(6))
    }
}

extension FactScan {
    package static let allParts = """
        SELECT \(FactRowReader.openedColumns), \(FactRowReader.closedColumns), CASE WHEN p.guid IS NOT NULL THEN \
        \(SQL.name(useCase: "p.use_case", event: "-1", otherwise: "'use case ' || p.use_case")) END \
        FROM sources s CROSS JOIN parts p ON p.source = s.id WHERE s.id = ?1 AND p.sequence BETWEEN ?2 AND ?3 AND p.last >= ?4
        """
    package static let chosenParts = "\(allParts) AND p.guid IN (SELECT guid FROM temp.chosen) ORDER BY p.sequence"

    package static let selectEvents =
        "SELECT \(FactRowReader.eventColumns) FROM events e WHERE e.source = ?1 AND e.part = ?2 AND e.after BETWEEN ?3 - ?2 AND ?4 - ?2 ORDER BY e.after"

    private static let selectNextExchange =
        "SELECT l.part FROM network_logs l WHERE l.source = ?1 AND l.part >= ?2 ORDER BY l.part LIMIT 1"

    private static let selectExchanges = """
        SELECT \(FactRowReader.exchangeOpenedColumns), \(FactRowReader.exchangeClosedColumns) FROM network_logs l \
        WHERE l.source = ?1 AND l.part = ?2 AND l.sequence BETWEEN ?3 AND ?4 AND (l.sequence >= ?5 OR l.closed >= ?5) ORDER BY l.sequence
        """
}

/// Which facts of a source are exported.
package struct ScannedShare: Sendable {
    /// The `sources.id`.
    package var row: Int64
    /// By sequence; nil: all that are there.
    package var sequences: SequenceRanges?
    /// Only facts from this time on, in microseconds since 1970; nil: of any time.
    package var earliest: Int64?
    /// Only facts of parts that were opened by these.
    package var parts = Int64.min...Int64.max

    package init(row: Int64, sequences: SequenceRanges? = nil, earliest: Int64? = nil) {
        self.row = row
        self.sequences = sequences
        self.earliest = earliest
    }

    /// No fact of a sequence outside is exported.
    package var window: ClosedRange<Int64> {
        guard let ranges = sequences?.ranges, let first = ranges.first, let last = ranges.last else {
            return 0...Int64.max
        }
        return first.lowerBound...last.upperBound
    }
}

/// A source whose facts are exported.
package struct ScannedSource: Sendable {
    package var share: ScannedShare
    package var source: SourceIdentity
    package var clock: WallClock
    /// Whether it has ended: what it left open was interrupted.
    package var hasEnded: Bool
    /// How it ended; nil: that is not known, or it has not.
    package var endedBy: SourceEnd?
    /// Whether it came from elsewhere.
    package var isReceived: Bool

    package init(
        share: ScannedShare, source: SourceIdentity, clock: WallClock, hasEnded: Bool = false,
        endedBy: SourceEnd? = nil, isReceived: Bool = false
    ) {
        self.share = share
        self.source = source
        self.clock = clock
        self.hasEnded = hasEnded
        self.endedBy = endedBy
        self.isReceived = isReceived
    }

    package func includes(_ fact: Fact) -> Bool { includes(fact.sequence, at: fact.atMicroseconds) }

    /// - Parameter microseconds: Of the fact of that sequence.
    package func includes(_ sequence: Int64, at microseconds: Int64) -> Bool {
        if let sequences = share.sequences, !sequences.contains(sequence) { return false }
        if let earliest = share.earliest, clock.wall(microseconds) < earliest { return false }
        return true
    }
}

extension ScannedSource {
    /// Reads what is known of a source; nil where it has gone.
    package init?(_ share: ScannedShare, _ connection: Connection) throws(WaybillError) {
        let source = try connection.statement(
            """
            SELECT uuid, installation, app, app_version, device, os, os_version, attributes, \(SQL.endedBy("sources")), \
            heard_us IS NOT NULL, ended FROM sources WHERE id = ?
            """
        ).first(share.row) { row in
            let source = SourceIdentity(
                id: row.guid(0), installation: row.optionalGUID(1), app: row.text(2), appVersion: row.text(3),
                device: row.text(4),
                os: row.text(5), osVersion: row.text(6), attributes: Attributes(columnText: row.optionalText(7)))
            return (source: source, endedBy: row.sourceEnd(8), isReceived: row.bool(9), hasEnded: row.bool(10))
        }
        guard let source else { return nil }
        self.init(
            share: share, source: source.source, clock: try WallClock(of: share.row, connection),
            hasEnded: source.hasEnded, endedBy: source.endedBy, isReceived: source.isReceived)
    }
}

/// A part whose facts are exported.
package struct ScannedPart {
    /// Its sequence; 0: outside any transaction.
    package var sequence: Int64
    /// nil: outside any transaction, or the fact `opened` has not arrived.
    package var opened: Fact?
    package var closed: Fact?
    /// nil where `opened` is.
    package var useCaseName: String?

    package init(sequence: Int64, opened: Fact?, closed: Fact?, useCaseName: String?) {
        self.sequence = sequence
        self.opened = opened
        self.closed = closed
        self.useCaseName = useCaseName
    }
}
