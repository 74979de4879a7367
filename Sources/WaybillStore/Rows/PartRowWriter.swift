import WaybillCore

/// Writes what opens, closes and touches the parts of one source; a batch at a time. Done when ``finish()`` has
/// returned.
///
/// An opening and its closing share a row, and either may come first. An opening waits for its closing until the end of
/// the batch: where both come in it, as they mostly do, the row gets its place in each index once.
struct PartRowWriter {
    private struct Opening {
        var content: Fact.Opened
        var latest: PartLatest
        /// Since 1970, where no other part of the transaction has come before.
        var listed: Int64?
    }

    private let source: SourceRow
    private let connection: Connection
    private let clock: WallClock
    private let leaders: Leaders
    private let opened: Statement
    private let closed: Statement
    private let both: Statement
    /// The openings that wait, each by its part.
    private var openings: [Int64: Opening] = [:]
    /// The transactions that were opened.
    private var transactions: Set<GUID> = []
    /// Those of them that have got a second part.
    private var shared: Set<GUID> = []
    /// The parts that were closed, each with its closing.
    private var closings: [Int64: PartLatest] = [:]
    /// The parts that events and exchanges were written to.
    private var touched: [Int64: PartLatest] = [:]

    init(_ source: SourceRow, _ connection: Connection) throws(WaybillError) {
        self.source = source
        self.connection = connection
        clock = try WallClock(of: source.id, connection)
        leaders = Leaders(connection: connection)
        opened = try connection.statement(Self.insertOpened)
        closed = try connection.statement(Self.insertClosed)
        both = try connection.statement(Self.insertBoth)
    }

    mutating func open(_ fact: Fact, _ content: Fact.Opened) throws(WaybillError) {
        guard openings[fact.sequence] == nil else { return }
        var isFirst = transactions.insert(content.transaction).inserted
        if isFirst { isFirst = try !leaders.hasPart(content.transaction) }
        if !isFirst { shared.insert(content.transaction) }
        openings[fact.sequence] = Opening(
            content: content, latest: fact.latest, listed: isFirst ? clock.wall(fact.atMicroseconds) : nil)
    }

    /// Gives the reason where another fact has the closing's place.
    mutating func close(_ fact: Fact, _ content: Fact.Closed) throws(WaybillError) -> String? {
        if let opening = openings.removeValue(forKey: fact.part) {
            if try write(opening, of: fact.part, opening.latest, closing: (fact, content)) {
                closings[fact.part] = fact.latest
                return nil
            }
            // Something of the part has come in an earlier batch.
            _ = try write(opening, of: fact.part, opening.latest)
        }
        try closed.run(
            source.id, fact.part, fact.sequence, fact.atMicroseconds, content.error?.code, content.detail,
            content.outcome.rawValue, !source.isOwn)
        guard connection.changeCount > 0 else { return "the part is closed already by another fact" }
        closings[fact.part] = fact.latest
        return nil
    }

    /// Notes that something else of a part has come.
    mutating func touch(_ part: Int64, _ latest: PartLatest) {
        touched[part] = touched[part].map { $0.merged(with: latest) } ?? latest
    }

    /// Writes the openings that wait, so that every part has its row.
    mutating func writeOpenings() throws(WaybillError) {
        for (part, opening) in openings.sorted(by: { $0.key < $1.key }) {
            let latest = touched[part].map { $0.merged(with: opening.latest) } ?? opening.latest
            if try write(opening, of: part, latest) { touched[part] = nil }
        }
        openings = [:]
    }

    /// Writes what waits, and brings up to date what is derived from the facts.
    mutating func finish() throws(WaybillError) {
        try writeOpenings()
        let statement = try connection.statement(Self.touchPart)
        for (part, latest) in touched {
            // The closing's row says it already: so it is with most parts.
            if let closing = closings[part], closing.covers(latest) { continue }
            try statement.run(source.id, part, outcomeOfOpen, latest.sequence, latest.atMicroseconds, !source.isOwn)
        }
        for transaction in shared { try leaders.decide(transaction) }
        (transactions, shared, closings, touched) = ([], [], [:], [:])
    }

    /// Writes a row; false where there is one that says as much.
    private func write(
        _ opening: Opening, of part: Int64, _ latest: PartLatest, closing: (fact: Fact, content: Fact.Closed)? = nil
    ) throws(WaybillError) -> Bool {
        let content = opening.content
        let closed = closing?.fact.latest
        try (closing == nil ? opened : both).run(
            source.id, part, content.transaction, content.useCase, content.isJoined, ownTimeout(of: content),
            opening.latest.atMicroseconds, content.cause?.source, content.cause?.sequence,
            DetailColumn(attributes: content.attributes).text,
            closed?.sequence, closed?.atMicroseconds, closing?.content.error?.code, closing?.content.detail,
            closing?.content.outcome.rawValue ?? outcomeOfOpen, opening.listed,
            closed.map { $0.sequence >= latest.sequence } == true ? nil : latest.sequence,
            closed.map { $0.atMicroseconds >= latest.atMicroseconds } == true ? nil : latest.atMicroseconds,
            !source.isOwn, content.parent, content.parentPart, content.sampling?.perMillion,
            content.sampling.map { !$0.isChosen }, content.sampling?.slowMicroseconds,
            source.isOwn && content.sampling?.isChosen == false)
        return connection.changeCount > 0
    }

    private func ownTimeout(of opened: Fact.Opened) -> Int64? {
        opened.timeoutMicroseconds == Tables.usualTimeoutMicroseconds ? nil : opened.timeoutMicroseconds
    }

    private var outcomeOfOpen: Int { (source.hasEnded ? TransactionOutcome.interrupted : .open).rawValue }
}

/// The highest sequence and the latest time of facts of a part.
struct PartLatest {
    var sequence: Int64
    var atMicroseconds: Int64

    func merged(with other: PartLatest) -> PartLatest {
        PartLatest(sequence: max(sequence, other.sequence), atMicroseconds: max(atMicroseconds, other.atMicroseconds))
    }

    /// Whether the other one adds nothing.
    func covers(_ other: PartLatest) -> Bool { sequence >= other.sequence && atMicroseconds >= other.atMicroseconds }
}

extension Fact {
    var latest: PartLatest { PartLatest(sequence: sequence, atMicroseconds: atMicroseconds) }
}

extension Fact.Closed {
    fileprivate var detail: String? { DetailColumn(attributes: attributes, error: error).text }
}

extension PartRowWriter {
    private static let insert = """
        INSERT INTO parts(source, sequence, guid, use_case, joined, own_timeout_us, at_us, cause_source, cause, opened_detail, \
        closed, closed_at_us, error_code, closed_detail, outcome, listed_us, beyond, beyond_at_us, settled, parent, parent_part, \
        sample_ppm, sample_kept, slow_us, held) \
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """

    private static let insertBoth = "\(insert) ON CONFLICT(source, sequence) DO NOTHING"

    private static let insertOpened = """
        \(insert) \
        ON CONFLICT(source, sequence) DO UPDATE SET guid = excluded.guid, use_case = excluded.use_case, joined = excluded.joined, \
        own_timeout_us = excluded.own_timeout_us, at_us = excluded.at_us, cause_source = excluded.cause_source, cause = excluded.cause, \
        opened_detail = excluded.opened_detail, listed_us = excluded.listed_us, parent = excluded.parent, \
        parent_part = excluded.parent_part, sample_ppm = excluded.sample_ppm, sample_kept = excluded.sample_kept, \
        slow_us = excluded.slow_us, held = excluded.held, \(latest()) WHERE guid IS NULL
        """

    private static let insertClosed = """
        INSERT INTO parts(source, sequence, closed, closed_at_us, error_code, closed_detail, outcome, settled) \
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) \
        ON CONFLICT(source, sequence) DO UPDATE SET closed = excluded.closed, closed_at_us = excluded.closed_at_us, \
        error_code = excluded.error_code, closed_detail = excluded.closed_detail, outcome = excluded.outcome, \
        \(latest(closed: "excluded.closed", closedAt: "excluded.closed_at_us")) WHERE closed IS NULL
        """

    private static let touchPart = """
        INSERT INTO parts(source, sequence, outcome, beyond, beyond_at_us, settled) VALUES (?, ?, ?, ?, ?, ?) \
        ON CONFLICT(source, sequence) DO UPDATE SET \(latest())
        """

    /// Of what is there and what comes, unless that is the closing, which says so itself.
    private static func latest(closed: String = "closed", closedAt: String = "closed_at_us") -> String {
        """
        beyond = nullif(max(last, excluded.last), \(closed)), beyond_at_us = nullif(max(last_at_us, excluded.last_at_us), \(closedAt)), \
        settled = excluded.settled
        """
    }
}
