package import WaybillCore
package import WaybillStore

/// Network exchanges, as lines of a list and one by one.
extension StoreReader {
    /// Exchanges that pass a filter, the newest first.
    ///
    /// Text is looked for in the newest ``BodySearch/pageLimit`` bytes of kept bodies; the page's note says when there
    /// were more.
    ///
    /// - Parameters:
    ///   - cursor: ``RecordPage/next`` of the page before; nil for the first. Exchanges that arrive meanwhile do not
    ///     shift the pages.
    ///   - wall: Now, in microseconds since 1970: decides which transactions have timed out.
    /// - Throws: `.format` for a cursor that no list gave.
    package func exchanges(
        matching filter: ExchangeFilter, limit: Int, after cursor: String?, now wall: Int64
    ) throws(WaybillError) -> RecordPage<ExchangeRecord> {
        var place: ListCursor?
        if let cursor { place = try ListCursor(cursor) }
        let limit = min(max(1, limit), Int(Int32.max))
        return try read { () throws(WaybillError) in
            let list = try ExchangeList(
                filter, now: wall, newest: newestExchanges, bodyLimit: BodySearch.pageLimit, connection)
            let found = try list.keys(limit: limit + 1, after: place)
            let rows = ExchangeRows(connection)
            var records: [ExchangeRecord] = []
            for key in found.prefix(limit) { if let record = try rows.record(at: key) { records.append(record) } }
            let last = found.count > limit ? found[limit - 1] : nil
            let next = last.map { ListCursor(listed: $0.opened, source: $0.source, sequence: $0.sequence).description }
            return RecordPage(rows: records, next: next, note: list.note)
        }
    }

    /// Hands over the exchanges that pass a filter, the oldest first, within one read of the store and one at a time.
    ///
    /// - Parameter wall: Now, in microseconds since 1970: decides which transactions have timed out.
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

    /// One exchange; nil where nothing is stored of its opening.
    package func exchange(_ id: FactID) throws(WaybillError) -> ExchangeRecord? {
        try read { () throws(WaybillError) in
            let key = try connection.statement(
                """
                SELECT l.source, l.part FROM sources s CROSS JOIN network_logs l ON l.source = s.id \
                WHERE s.uuid = ? AND l.sequence = ? AND l.method IS NOT NULL
                """
            ).first(id.source, id.sequence) { row in
                ExchangeKey(opened: 0, source: row.int(0), part: row.int(1), sequence: id.sequence)
            }
            guard let key else { return nil }
            return try ExchangeRows(connection).record(at: key)
        }
    }

    /// The sources whose support code begins like this, in order; an empty prefix has none.
    ///
    /// - Parameter prefix: Up to eight characters of the alphabet of ``SupportCode``, in either case, with or without
    ///   the hyphen.
    package func sources(withCode prefix: some StringProtocol) throws(WaybillError) -> [GUID] {
        let digits = prefix.filter { $0 != "-" }
        // The code of the prefix, filled up, has the canonical letters.
        guard (1...8).contains(digits.count),
            let filled = SupportCode(digits + String(repeating: "0", count: 8 - digits.count))
        else {
            return []
        }
        let canonical = filled.description.filter { $0 != "-" }.prefix(digits.count)
        return try connection.statement("SELECT uuid FROM sources ORDER BY uuid").rows { row in row.guid(0) }
            .filter { $0.supportCode.description.filter { $0 != "-" }.hasPrefix(canonical) }
    }

    /// One sentence on why no exchange passes a filter.
    package func whyEmpty(_ filter: ExchangeFilter) throws(WaybillError) -> String {
        Self.whyNone(of: try exchangeCount())
    }

    /// The same of so many that there are.
    package static func whyNone(of count: Int) -> String {
        guard count > 0 else { return "There is no exchange here." }
        return count == 1
            ? "The only exchange here does not pass the filter."
            : "None of the \(count) exchanges here passes the filter."
    }

    /// How many exchanges there are.
    package func exchangeCount() throws(WaybillError) -> Int {
        try connection.integer("SELECT count(*) FROM network_logs WHERE method IS NOT NULL")
    }
}

/// Where an exchange's row is, and when it was opened.
struct ExchangeKey {
    /// Microseconds since 1970.
    var opened: Int64
    /// The `sources.id` of its source.
    var source: Int64
    var part: Int64
    var sequence: Int64

    /// The order of lists, newest first; ties by source and sequence.
    static func follows(_ left: ExchangeKey, _ right: ExchangeKey) -> Bool {
        (left.opened, left.source, left.sequence) > (right.opened, right.source, right.sequence)
    }
}

/// Reads the rows of exchanges as records, within one read of the store.
final class ExchangeRows {
    private let connection: Connection
    private var clocks: [Int64: WallClock] = [:]

    init(_ connection: Connection) { self.connection = connection }

    /// nil where the row is gone.
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
        s.uuid, s.app, s.app_version, s.device, s.os, s.os_version, s.ended, p.guid, p.use_case, \
        \(SQL.name(useCase: "p.use_case", event: "-1", otherwise: "'use case ' || p.use_case")), \
        \(SQL.endedBy("s")) \
        FROM network_logs l JOIN sources s ON s.id = l.source LEFT JOIN parts p ON p.source = l.source AND p.sequence = l.part \
        WHERE l.source = ? AND l.part = ? AND l.sequence = ? AND l.method IS NOT NULL
        """

    private static func record(_ row: Row, _ clock: WallClock) -> ExchangeRecord? {
        let rest = row.dropFirst(19)
        let source = TransactionRecord.Source(
            id: rest.guid(0), app: rest.text(1), appVersion: rest.text(2), device: rest.text(3), os: rest.text(4),
            osVersion: rest.text(5), endedBy: rest.sourceEnd(10))
        let closed = row.isNull(8) ? nil : FactRowReader.exchangeClosed(row.dropFirst(8))
        guard
            let exchange = TransactionRecord.Exchange(
                FactRowReader.exchangeOpened(row), closed: closed, source: source.id, clock: clock)
        else {
            return nil
        }
        let transaction = rest.optionalGUID(7)
        return ExchangeRecord(
            exchange: exchange,
            state: ExchangeRecord.State(
                exchange.state, isMocked: exchange.transfer.isMocked, hasSourceEnded: rest.bool(6)),
            source: source, transaction: transaction, useCase: transaction.map { _ in rest.int(8) },
            useCaseName: transaction.map { _ in rest.text(9) })
    }
}

extension TransactionRecord.Exchange {
    /// An exchange of its two facts.
    ///
    /// All its times go by the clock anchor of its opening, so that its durations are those of the source's own clock,
    /// also where the wall clock was set meanwhile.
    ///
    /// - Parameter closed: nil while it is in progress.
    /// - Returns: nil where the first is not the opening of an exchange.
    init?(_ fact: Fact, closed: Fact?, source: GUID, clock: WallClock) {
        guard case .exchangeOpened(let opened) = fact.content else { return nil }
        var closing: Fact.ExchangeClosed?
        if case .exchangeClosed(let content) = closed?.content { closing = content }
        let offset = clock.offset(at: fact.atMicroseconds)
        let wall = { (at: Int64) in at.adding(offset) }
        self.init(
            id: FactID(source: source, sequence: fact.sequence), part: fact.part, role: opened.role,
            method: opened.method,
            url: opened.url,
            state: closing?.state, status: closing?.status, openedMicroseconds: wall(fact.atMicroseconds),
            firstByteMicroseconds: closing?.firstByteAtMicroseconds.map(wall),
            closedMicroseconds: closed.map { wall($0.atMicroseconds) },
            sentByteCount: closing?.sentByteCount, receivedByteCount: closing?.receivedByteCount,
            requestHeaderFields: opened.headerFields,
            responseHeaderFields: closing?.headerFields ?? [], error: closing?.error,
            transfer: closing?.transfer.timed(by: wall) ?? Fact.Transfer())
    }
}

extension Fact.Transfer {
    /// The same with times of another clock.
    package func timed(by clock: (Int64) -> Int64) -> Self {
        var transfer = self
        transfer.sentAtMicroseconds = sentAtMicroseconds.map(clock)
        for index in redirects.indices {
            transfer.redirects[index].atMicroseconds = clock(redirects[index].atMicroseconds)
        }
        transfer.webSocket = webSocket?.timed(by: clock)
        return transfer
    }
}
