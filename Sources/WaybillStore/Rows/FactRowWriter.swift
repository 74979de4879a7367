import WaybillCore

/// Writes facts of one source into their rows; a batch at a time, inside a SQLite transaction. Done when ``finish()``
/// has returned.
///
/// Writing a fact again changes nothing.
struct FactRowWriter {
    private let connection: Connection
    private let source: SourceRow
    private let exchangeOpened: Statement
    private let exchangeClosed: Statement
    private var parts: PartRowWriter
    private var events: EventRowWriter

    /// - Parameter count: How many facts there are at most.
    init(_ source: SourceRow, count: Int, _ connection: Connection) throws(WaybillError) {
        self.connection = connection
        self.source = source
        exchangeOpened = try connection.statement(Self.insertExchangeOpened)
        exchangeClosed = try connection.statement(Self.insertExchangeClosed)
        parts = try PartRowWriter(source, connection)
        events = EventRowWriter(of: source.id, count: count, connection)
    }

    /// Writes a fact; gives the reason where another fact has its place.
    mutating func write(_ fact: Fact) throws(WaybillError) -> String? {
        switch fact.content {
        case .opened(let content):
            try parts.open(fact, content)
            return nil
        case .event(let content):
            events.add(fact, content)
            return nil
        case .attributesSet(let content):
            events.add(fact, content)
            return nil
        case .closed(let content): return try parts.close(fact, content)
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
            parts.touch(fact.part, fact.latest)
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
            parts.touch(fact.part, fact.latest)
            return nil
        }
    }

    /// Writes the openings that wait for what else comes of their parts, for who looks for rows before the end.
    mutating func writeOpenings() throws(WaybillError) { try parts.writeOpenings() }

    /// Writes what was kept to be written together, and brings up to date what is derived from the facts of a part.
    ///
    /// - Returns: The transactions that have got a further part, of which ``Leaders`` have to decide which leads.
    mutating func finish() throws(WaybillError) -> Set<GUID> {
        for (part, latest) in try events.write() { parts.touch(part, latest) }
        return try parts.finish()
    }
}

extension FactRowWriter {
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
