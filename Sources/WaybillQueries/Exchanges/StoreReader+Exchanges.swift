package import WaybillCore
package import WaybillStore

extension StoreReader {
    /// Without a budget, it searches text only in the newest ``BodySearch/pageLimit`` bytes of kept bodies.
    package func exchanges(
        matching filter: ExchangeFilter, limit: Int, after cursor: String?, now wall: Int64,
        budget: SearchBudget? = nil
    ) throws(WaybillError) -> RecordPage<ExchangeRecord> {
        let place = try cursor.map { (text) throws(WaybillError) in try ListCursor(text) }
        let limit = min(max(1, limit), Int(Int32.max))
        return try read { () throws(WaybillError) in
            let list = try ExchangeList(
                filter, now: wall, newest: newestExchanges, bodyLimit: budget == nil ? BodySearch.pageLimit : .max,
                connection)
            let (found, lookedAt) = try list.keys(limit: limit + 1, after: place, budget: budget)
            let rows = ExchangeRows(connection)
            var page = RecordPage<ExchangeRecord>(rows: [], next: nil, note: list.note)
            for key in found.prefix(limit) { if let record = try rows.record(at: key) { page.rows.append(record) } }
            if found.count > limit {
                let last = found[limit - 1]
                page.next = ListCursor(listed: last.opened, source: last.source, sequence: last.sequence).description
            } else if let lookedAt {
                let last = ListCursor.places.upperBound
                page.next = ListCursor(listed: lookedAt.from - 1, source: last, sequence: last).description
                page.progress = .lookedAt(lookedAt.count, through: .time(lookedAt.from))
            }
            return page
        }
    }

    package func forEachExchange(
        matching filter: ExchangeFilter, now wall: Int64, _ body: (ExchangeRecord) throws -> Void
    ) throws {
        try reading {
            let rows = ExchangeRows(connection)
            var failure: (any Error)?
            try ExchangeList(filter, now: wall, connection).forKeys { (key) throws(WaybillError) in
                guard let record = try rows.record(at: key) else { return true }
                do { try body(record) } catch { failure = error }
                return failure == nil
            }
            if let failure { throw failure }
        }
    }

    package func exchange(_ id: FactID) throws(WaybillError) -> ExchangeRecord? {
        try read { () throws(WaybillError) in
            let key = try connection.statement(
                """
                SELECT l.source, l.part FROM sources s CROSS JOIN exchanges l ON l.source = s.id \
                WHERE s.uuid = ? AND l.sequence = ? AND l.method IS NOT NULL
                """
            ).first(id.source, id.sequence) { row in
                ExchangeKey(opened: 0, source: row.int(0), part: row.int(1), sequence: id.sequence)
            }
            guard let key else { return nil }
            return try ExchangeRows(connection).record(at: key)
        }
    }

    package func sources(withCode prefix: some StringProtocol) throws(WaybillError) -> [GUID] {
        let digits = prefix.filter { $0 != "-" }
        // A valid code, made by padding, has the canonical letters.
        guard (1...8).contains(digits.count),
            let filled = SupportCode(digits + String(repeating: "0", count: 8 - digits.count))
        else {
            return []
        }
        let canonical = filled.description.filter { $0 != "-" }.prefix(digits.count)
        return try connection.statement("SELECT uuid FROM sources ORDER BY uuid").rows { row in row.guid(0) }
            .filter { $0.supportCode.description.filter { $0 != "-" }.hasPrefix(canonical) }
    }

    package func whyEmpty(_ filter: ExchangeFilter) throws(WaybillError) -> String {
        Self.whyNone(of: try exchangeCount())
    }

    package static func whyNone(of count: Int) -> String {
        guard count > 0 else { return "There is no exchange here." }
        return count == 1
            ? "The only exchange here does not pass the filter."
            : "None of the \(count) exchanges here passes the filter."
    }

    /// Whether a clock far ahead changes the order of exchanges.
    package func hasExchangesFarAhead() throws(WaybillError) -> Bool {
        try connection.integer(
            """
            SELECT EXISTS(SELECT 1 FROM exchanges l JOIN sources s ON s.id = l.source WHERE l.method IS NOT NULL \
            AND \(SQL.wall("l.at_us", source: "l.source")) - s.heard_us > \(LeadingParts.farthestMicroseconds))
            """) != 0
    }

    package func exchangeCount() throws(WaybillError) -> Int {
        try connection.integer("SELECT count(*) FROM exchanges WHERE method IS NOT NULL")
    }
}

struct ExchangeKey {
    var opened: Int64
    var source: Int64
    var part: Int64
    var sequence: Int64

    static func follows(_ left: ExchangeKey, _ right: ExchangeKey) -> Bool {
        (left.opened, left.source, left.sequence) > (right.opened, right.source, right.sequence)
    }
}

final class ExchangeRows {
    private let connection: Connection
    private var clocks: [Int64: WallClock] = [:]

    init(_ connection: Connection) { self.connection = connection }

    func record(at key: ExchangeKey) throws(WaybillError) -> ExchangeRecord? {
        let clock = try clock(of: key.source)
        return try connection.statement(Self.query).first(key.source, key.part, key.sequence) { row in
            Self.record(row, clock)
        } ?? nil
    }

    private func clock(of source: Int64) throws(WaybillError) -> WallClock {
        if let known = clocks[source] { return known }
        let clock = try WallClock(of: source, connection)
        clocks[source] = clock
        return clock
    }

    private static let query = """
        SELECT \(FactRowReader.exchangeOpenedColumns), \(FactRowReader.exchangeClosedColumns), \
        \(TransactionRecord.Source.columns), s.ended, p.guid, p.use_case, \
        \(SQL.name(useCase: "p.use_case", event: "-1", otherwise: "'use case ' || p.use_case")) \
        FROM exchanges l JOIN sources s ON s.id = l.source LEFT JOIN parts p ON p.source = l.source AND p.sequence = l.part \
        WHERE l.source = ? AND l.part = ? AND l.sequence = ? AND l.method IS NOT NULL
        """

    private static func record(_ row: Row, _ clock: WallClock) -> ExchangeRecord? {
        let rest = row.dropFirst(19)
        let source = TransactionRecord.Source(rest)
        let closed = row.isNull(8) ? [] : [FactRowReader.exchangeClosed(row.dropFirst(8))]
        guard let facts = PartFacts([FactRowReader.exchangeOpened(row)] + closed).exchanges.first else { return nil }
        let exchange = TransactionRecord.Exchange(facts, source: source.id, clock: clock)
        let transaction = rest.optionalGUID(8)
        return ExchangeRecord(
            exchange: exchange,
            state: ExchangeRecord.State(
                exchange.state, isMocked: exchange.transfer.isMocked, hasSourceEnded: rest.bool(7)),
            source: source, transaction: transaction, useCase: transaction.map { _ in rest.int(9) },
            useCaseName: transaction.map { _ in rest.text(10) })
    }
}
