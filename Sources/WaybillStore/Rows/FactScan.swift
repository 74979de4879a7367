package import WaybillCore

package protocol FactVisitor {
    /// Announces a source or a part; called again when a scan resumes within it.
    mutating func enter(_ source: ScannedSource) throws(WaybillError)
    mutating func enter(_ part: ScannedPart) throws(WaybillError)
    /// Receives a fact and, for a closing, its opening; `nil` if that has not arrived.
    mutating func visit(_ fact: Fact, closing opening: Fact?) throws(WaybillError)
    /// Receives an event with only a code; by default, as a fact.
    mutating func visit(_ event: PlainEvent) throws(WaybillError)
    /// Whether to stop here. `mutating`, because another getter would copy the whole generic value.
    var isFull: Bool { mutating get }
}

extension FactVisitor {
    package mutating func visit(_ event: PlainEvent) throws(WaybillError) { try visit(event.fact, closing: nil) }
}

/// An event without attributes or an error; creating a fact takes longer than reading it.
package struct PlainEvent {
    package var sequence: Int64
    package var part: Int64
    package var atMicroseconds: Int64
    package var code: Int

    package var fact: Fact {
        Fact(sequence: sequence, part: part, atMicroseconds: atMicroseconds, content: .event(Fact.Event(code: code)))
    }
}

/// A scan of facts in the order of the primary keys, without sorting or buffering.
///
/// Each part has its opening, events, exchanges and closing, in this order. A scan can resume after any row, even on a
/// later state of the store.
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
    private var sequence = Int64.min
    private var nextWithExchanges = Int64.min

    /// `isFiltered` limits the scan to transactions of the temporary table `chosen`.
    package init(_ shares: [ScannedShare], isFiltered: Bool, _ connection: Connection) throws(WaybillError) {
        self.connection = connection
        self.shares = shares
        parts = try connection.statement(isFiltered ? Self.chosenParts : Self.allParts)
        events = try connection.statement(Self.selectEvents)
        exchanges = try connection.statement(Self.selectExchanges)
        nextExchange = try connection.statement(Self.selectNextExchange)
    }

    /// Passes facts to the visitor until it is full; returns `false` at the end.
    package mutating func run(_ visitor: inout some FactVisitor) throws(WaybillError) -> Bool {
        while share < shares.count {
            // New parts may have exchanges since the scan stopped.
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

    /// Finds the next part with exchanges once; a query for each part would mostly find none.
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
        "SELECT l.part FROM exchanges l WHERE l.source = ?1 AND l.part >= ?2 ORDER BY l.part LIMIT 1"

    private static let selectExchanges = """
        SELECT \(FactRowReader.exchangeOpenedColumns), \(FactRowReader.exchangeClosedColumns) FROM exchanges l \
        WHERE l.source = ?1 AND l.part = ?2 AND l.sequence BETWEEN ?3 AND ?4 AND (l.sequence >= ?5 OR l.closed >= ?5) ORDER BY l.sequence
        """
}

package struct ScannedShare: Sendable {
    /// The `sources.id`.
    package var row: Int64
    /// `nil` means all facts.
    package var sequences: SequenceRanges?
    /// Excludes earlier facts, in microseconds since 1970; `nil` excludes none.
    package var earliest: Int64?
    /// The sequences of the parts' openings.
    package var parts = Int64.min...Int64.max

    package init(row: Int64, sequences: SequenceRanges? = nil, earliest: Int64? = nil) {
        self.row = row
        self.sequences = sequences
        self.earliest = earliest
    }

    package var window: ClosedRange<Int64> {
        guard let ranges = sequences?.ranges, let first = ranges.first, let last = ranges.last else {
            return 0...Int64.max
        }
        return first.lowerBound...last.upperBound
    }
}

package struct ScannedSource: Sendable {
    package var share: ScannedShare
    package var source: SourceIdentity
    package var clock: WallClock
    package var hasEnded: Bool
    /// How it ended; `nil` if it has not ended, or it is unknown.
    package var endedBy: SourceEnd?
    package var isReceived: Bool
    /// The numbers of recorded and refused facts alone.
    package var ledger = Ledger()

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

    /// The source in a set, without facts, names and proofs.
    package func share(dropped: [DroppedRange]) -> TransactionSet.Share {
        TransactionSet.Share(
            source: source, clocks: clock.anchors, hasEnded: hasEnded, endedBy: endedBy,
            ledger: ledger, dropped: dropped)
    }

    package func includes(_ fact: Fact) -> Bool { includes(fact.sequence, at: fact.atMicroseconds) }

    package func includes(_ sequence: Int64, at microseconds: Int64) -> Bool {
        if let sequences = share.sequences, !sequences.contains(sequence) { return false }
        if let earliest = share.earliest, clock.wall(microseconds) < earliest { return false }
        return true
    }
}

extension ScannedSource {
    package init?(_ share: ScannedShare, _ connection: Connection) throws(WaybillError) {
        let source = try connection.statement(
            """
            SELECT \(SourceIdentity.columns), \(SQL.endedBy("sources")), \
            heard_us IS NOT NULL, ended, recorded, refused FROM sources WHERE id = ?
            """
        ).first(share.row) { row in
            var source = ScannedSource(
                share: share, source: SourceIdentity(row), clock: WallClock([]), hasEnded: row.bool(10),
                endedBy: row.sourceEnd(8), isReceived: row.bool(9))
            source.ledger = Ledger(recorded: row.int(11), refused: row.int(12))
            return source
        }
        guard var source else { return nil }
        source.clock = try WallClock(of: share.row, connection)
        self = source
    }
}

package struct ScannedPart {
    /// 0 for facts outside any transaction.
    package var sequence: Int64
    /// `nil` outside any transaction, or if the opening has not arrived.
    package var opened: Fact?
    package var closed: Fact?
    package var useCaseName: String?

    package init(sequence: Int64, opened: Fact?, closed: Fact?, useCaseName: String?) {
        self.sequence = sequence
        self.opened = opened
        self.closed = closed
        self.useCaseName = useCaseName
    }
}
