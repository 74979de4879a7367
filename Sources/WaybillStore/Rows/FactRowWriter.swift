import WaybillCore

/// A writer for a batch of one source's facts, which ``finish()`` completes. Writing a fact again changes nothing.
struct FactRowWriter: ~Copyable {
    private let connection: Connection
    private let source: SourceRow
    private let exchangeOpened: Statement
    private let exchangeClosed: Statement
    private var parts: PartRowWriter
    private var events: EventRowWriter

    init(_ source: SourceRow, count: Int, _ connection: Connection) throws(WaybillError) {
        let opened = try connection.statement(Self.insertExchangeOpened)
        let closed = try connection.statement(Self.insertExchangeClosed)
        parts = try PartRowWriter(source, connection)
        (self.connection, self.source) = (connection, source)
        (exchangeOpened, exchangeClosed) = (opened, closed)
        events = EventRowWriter(of: source.id, count: count, connection)
    }

    /// Returns a rejection if another fact has its place.
    mutating func write(_ fact: Fact) throws(WaybillError) -> String? {
        switch fact.content {
        case .opened(let content): try parts.open(fact, content)
        case .event(let content): events.add(fact, content)
        case .attributesSet(let content): events.add(fact, content)
        case .unknown(let content): events.add(fact, content)
        case .closed(let content): return try parts.close(fact, content)
        case .exchangeOpened(let content):
            var detail = DetailColumn()
            detail.scheme = content.scheme
            detail.port = content.port
            detail.query = content.query
            detail.headerFields = content.headerFields
            try exchangeOpened.run(
                source.id, fact.part, fact.sequence, fact.atMicroseconds, content.role.rawValue, content.method,
                content.host, content.path, detail.text)
            parts.touch(fact.part, fact.latest)
        case .exchangeClosed(let content):
            var detail = DetailColumn(attributes: [:], error: content.error)
            detail.headerFields = content.headerFields
            detail.transfer = content.transfer
            try exchangeClosed.run(
                source.id, fact.part, content.exchange, fact.sequence, fact.atMicroseconds, content.state.rawValue,
                content.status, content.firstByteAtMicroseconds, content.sentByteCount, content.receivedByteCount,
                content.error?.code, detail.text)
            guard connection.changeCount > 0 else { return "the exchange is closed already by another fact" }
            parts.touch(fact.part, fact.latest)
        }
        return nil
    }

    mutating func writeOpenings() throws(WaybillError) { try parts.writeOpenings() }

    /// Returns the transactions whose leading part must be decided again.
    mutating func finish() throws(WaybillError) -> Set<GUID> {
        for (part, latest) in try events.write() { parts.touch(part, latest) }
        return try parts.finish()
    }
}

extension FactRowWriter {
    private static let insertExchangeOpened = """
        INSERT INTO exchanges(source, part, sequence, at_us, role, method, host, path, opened_detail) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) \
        ON CONFLICT(source, part, sequence) DO UPDATE SET at_us = excluded.at_us, role = excluded.role, method = excluded.method, \
        host = excluded.host, path = excluded.path, opened_detail = excluded.opened_detail WHERE method IS NULL
        """

    private static let insertExchangeClosed = """
        INSERT INTO exchanges(source, part, sequence, closed, closed_at_us, state, status, first_byte_us, sent_bytes, received_bytes, \
        error_code, closed_detail) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) \
        ON CONFLICT(source, part, sequence) DO UPDATE SET closed = excluded.closed, closed_at_us = excluded.closed_at_us, \
        state = excluded.state, status = excluded.status, first_byte_us = excluded.first_byte_us, sent_bytes = excluded.sent_bytes, \
        received_bytes = excluded.received_bytes, error_code = excluded.error_code, closed_detail = excluded.closed_detail WHERE closed IS NULL
        """
}

/// A writer for a batch of events, several with each statement and in the order of their rows.
struct EventRowWriter {
    private struct Event {
        var sequence: Int64
        var atMicroseconds: Int64
        var code: Int
        var detail: String?

        var latest: PartLatest { PartLatest(sequence: sequence, atMicroseconds: atMicroseconds) }
    }

    private static let rowCounts = [64, 8, 1]

    private let source: Int64
    private let connection: Connection
    private var events: [Event] = []
    /// The order of events, kept apart because sorting it moves less memory.
    private var order: [(part: Int64, place: Int32)] = []

    init(of source: Int64, count: Int, _ connection: Connection) {
        self.source = source
        self.connection = connection
        events.reserveCapacity(count)
        order.reserveCapacity(count)
    }

    mutating func add(_ fact: Fact, _ content: Fact.Event) {
        var text: String?
        if !content.isPlain {
            var detail = DetailColumn(attributes: content.attributes, error: content.error)
            detail.errorCode = content.error?.code
            text = detail.text
        }
        add(fact, code: content.code, detail: text)
    }

    /// These facts share the table of events.
    mutating func add(_ fact: Fact, _ content: Fact.AttributesSet) {
        var detail = DetailColumn(attributes: content.attributes)
        detail.removed = content.removed
        add(fact, code: Tables.codeOfAttributesSet, detail: detail.text)
    }

    mutating func add(_ fact: Fact, _ content: Fact.Unknown) {
        add(fact, code: Tables.codeOfUnknown, detail: content.detail)
    }

    private mutating func add(_ fact: Fact, code: Int, detail: String?) {
        order.append((fact.part, Int32(events.count)))
        events.append(
            Event(sequence: fact.sequence, atMicroseconds: fact.atMicroseconds, code: code, detail: detail))
    }

    /// Existing rows stay. Returns the events' parts with their latest sequence and time.
    mutating func write() throws(WaybillError) -> [(part: Int64, latest: PartLatest)] {
        order.sort { ($0.part, $0.place) < ($1.part, $1.place) }
        var rest = order[...]
        for (rowCount, text) in Self.insertions where rest.count >= rowCount {
            let statement = try connection.statement(text)
            while rest.count >= rowCount {
                try statement.run { arguments in
                    arguments.append(source)
                    for (part, place) in rest.prefix(rowCount) {
                        let event = events[Int(place)]
                        arguments.append(part)
                        arguments.append(event.sequence - part)
                        arguments.append(event.atMicroseconds)
                        arguments.append(event.code)
                        arguments.append(event.detail)
                    }
                }
                rest = rest.dropFirst(rowCount)
            }
        }
        defer { (events, order) = ([], []) }
        var parts: [(part: Int64, latest: PartLatest)] = []
        for (part, place) in order {
            let latest = events[Int(place)].latest
            if let last = parts.last, last.part == part {
                parts[parts.count - 1].latest = last.latest.merged(with: latest)
            } else {
                parts.append((part, latest))
            }
        }
        return parts
    }

    private static let insertions = rowCounts.map { count in
        let rows = Array(repeating: "(?1, ?, ?, ?, ?, ?)", count: count).joined(separator: ", ")
        return (
            count, "INSERT INTO events(source, part, after, at_us, code, detail) VALUES \(rows) ON CONFLICT DO NOTHING"
        )
    }
}
