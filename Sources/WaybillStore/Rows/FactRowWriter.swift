import WaybillCore

/// Writes facts of one source into their rows; a batch at a time, inside a SQLite transaction. Done when ``finish()``
/// has returned.
///
/// An opening and its closing share a row, and either may come first. Writing a fact again changes nothing.
struct FactRowWriter {
    private let connection: Connection
    private let source: SourceRow
    private let clock: WallClock
    private let leaders: Leaders
    private let opened: Statement
    private let closed: Statement
    private let exchangeOpened: Statement
    private let exchangeClosed: Statement
    private var events: EventRowWriter
    /// The parts that events and exchanges were written to.
    private var touched: [Int64: PartLatest] = [:]
    /// The parts that were closed, each with its closing.
    private var closings: [Int64: PartLatest] = [:]
    /// Transactions that have got a second part.
    private var shared: Set<GUID> = []

    init(_ source: SourceRow, _ connection: Connection) throws(WaybillError) {
        self.connection = connection
        self.source = source
        clock = try WallClock(of: source.id, connection)
        leaders = Leaders(connection: connection)
        opened = try connection.statement(Self.insertOpened)
        closed = try connection.statement(Self.insertClosed)
        exchangeOpened = try connection.statement(Self.insertExchangeOpened)
        exchangeClosed = try connection.statement(Self.insertExchangeClosed)
        events = try EventRowWriter(of: source.id, connection)
    }

    /// Writes a fact; gives the reason where another fact has its place.
    mutating func write(_ fact: Fact) throws(WaybillError) -> String? {
        switch fact.content {
        case .opened(let content):
            let isFirst = try !leaders.hasPart(content.transaction)
            if !isFirst { shared.insert(content.transaction) }
            try opened.run(
                source.id, fact.sequence, content.transaction, content.useCase, content.isJoined,
                ownTimeout(of: content),
                fact.atMicroseconds, content.cause?.source, content.cause?.sequence,
                DetailColumn(attributes: content.attributes).text,
                outcomeOfOpen, isFirst ? clock.wall(fact.atMicroseconds) : nil, !source.isOwn, content.parent,
                content.parentPart, content.sampling?.perMillion, content.sampling.map { !$0.isChosen },
                content.sampling?.slowMicroseconds, source.isOwn && content.sampling?.isChosen == false)
            return nil
        case .event(let content):
            events.add(fact, content)
            return nil
        case .attributesSet(let content):
            events.add(fact, content)
            return nil
        case .closed(let content):
            try closed.run(
                source.id, fact.part, fact.sequence, fact.atMicroseconds, content.error?.code,
                DetailColumn(attributes: content.attributes, error: content.error).text, content.outcome.rawValue,
                !source.isOwn)
            guard connection.changeCount > 0 else { return "the part is closed already by another fact" }
            closings[fact.part] = fact.latest
            return nil
        case .exchangeOpened(let content):
            var detail = DetailColumn()
            detail.scheme = content.scheme
            detail.port = content.port
            detail.query = content.query
            detail.headerFields = content.headerFields
            try exchangeOpened.run(
                source.id, fact.part, fact.sequence, fact.atMicroseconds, content.role.rawValue, content.method,
                content.host, content.path,
                detail.text)
            touch(fact.part, fact.latest)
            return nil
        case .exchangeClosed(let content):
            var detail = DetailColumn(attributes: [:], error: content.error)
            detail.headerFields = content.headerFields
            detail.transfer = content.transfer
            try exchangeClosed.run(
                source.id, fact.part, content.exchange, fact.sequence, fact.atMicroseconds, content.state.rawValue,
                content.status,
                content.firstByteAtMicroseconds, content.sentByteCount, content.receivedByteCount, content.error?.code,
                detail.text)
            guard connection.changeCount > 0 else { return "the exchange is closed already by another fact" }
            touch(fact.part, fact.latest)
            return nil
        }
    }

    /// Writes what was kept to be written together, and brings up to date what is derived from the facts.
    mutating func finish() throws(WaybillError) {
        for (part, latest) in try events.write() { touch(part, latest) }
        let statement = try connection.statement(Self.touchPart)
        for (part, latest) in touched {
            // The closing's row says it already: so it is with most parts.
            if let closing = closings[part], closing.covers(latest) { continue }
            try statement.run(source.id, part, outcomeOfOpen, latest.sequence, latest.atMicroseconds, !source.isOwn)
        }
        for transaction in shared { try leaders.decide(transaction) }
        (touched, closings, shared) = ([:], [:], [])
    }

    private func ownTimeout(of opened: Fact.Opened) -> Int64? {
        opened.timeoutMicroseconds == Tables.usualTimeoutMicroseconds ? nil : opened.timeoutMicroseconds
    }

    private var outcomeOfOpen: Int { (source.hasEnded ? TransactionOutcome.interrupted : .open).rawValue }

    private mutating func touch(_ part: Int64, _ latest: PartLatest) {
        touched[part] = touched[part].map { $0.merged(with: latest) } ?? latest
    }
}

extension Fact {
    fileprivate var latest: PartLatest { PartLatest(sequence: sequence, atMicroseconds: atMicroseconds) }
}

extension FactRowWriter {
    /// Of what is there and what comes, unless that is the closing, which says so itself.
    private static func latest(closed: String = "closed", closedAt: String = "closed_at_us") -> String {
        """
        beyond = nullif(max(last, excluded.last), \(closed)), beyond_at_us = nullif(max(last_at_us, excluded.last_at_us), \(closedAt)), \
        settled = excluded.settled
        """
    }

    private static let insertOpened = """
        INSERT INTO parts(source, sequence, guid, use_case, joined, own_timeout_us, at_us, cause_source, cause, opened_detail, outcome, \
        listed_us, beyond, beyond_at_us, settled, parent, parent_part, sample_ppm, sample_kept, slow_us, held) \
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?2, ?7, ?13, ?14, ?15, ?16, ?17, ?18, ?19) \
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

    private static let insertExchangeOpened = """
        INSERT INTO network_logs(source, part, sequence, at_us, role, method, host, path, opened_detail) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) \
        ON CONFLICT(source, part, sequence) DO UPDATE SET at_us = excluded.at_us, role = excluded.role, method = excluded.method, \
        host = excluded.host, path = excluded.path, opened_detail = excluded.opened_detail WHERE method IS NULL
        """

    private static let insertExchangeClosed = """
        INSERT INTO network_logs(source, part, sequence, closed, closed_at_us, state, status, first_byte_us, sent_bytes, received_bytes, \
        error_code, closed_detail) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) \
        ON CONFLICT(source, part, sequence) DO UPDATE SET closed = excluded.closed, closed_at_us = excluded.closed_at_us, \
        state = excluded.state, status = excluded.status, first_byte_us = excluded.first_byte_us, sent_bytes = excluded.sent_bytes, \
        received_bytes = excluded.received_bytes, error_code = excluded.error_code, closed_detail = excluded.closed_detail WHERE closed IS NULL
        """
}
