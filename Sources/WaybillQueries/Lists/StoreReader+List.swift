package import WaybillCore
package import WaybillStore

extension StoreReader {
    /// Lists some transactions with their places.
    package func transactions(
        among ids: Set<GUID>, matching filter: TransactionFilter, after place: ListCursor? = nil, now wall: Int64
    ) throws(WaybillError) -> [(place: ListCursor, row: TransactionSummary)] {
        try read { () throws(WaybillError) in
            try connection.execute(Self.makingChanged)
            let insert = try connection.statement("INSERT OR IGNORE INTO temp.changed VALUES (?)")
            for id in ids { try insert.run(id) }
            let query = ListQuery(filter, limit: Int(Int32.max), after: place, now: wall, in: .changed)
            var found: [(place: ListCursor, row: TransactionSummary)] = []
            for place in try leaders(query, filter.order) {
                let row = try summary(leader: place.sequence, of: place.source, now: wall)
                if let row { found.append((place, row)) }
            }
            return found
        }
    }

    private static let makingChanged =
        "CREATE TEMP TABLE IF NOT EXISTS changed(guid BLOB PRIMARY KEY) WITHOUT ROWID; DELETE FROM temp.changed"

    package func sourceRows() throws(WaybillError) -> [(row: Int64, id: GUID)] {
        try connection.statement("SELECT id, uuid FROM sources ORDER BY id").rows { row in (row.int(0), row.guid(1)) }
    }

    package func leaders(_ query: ListQuery, _ order: TransactionFilter.Order) throws(WaybillError) -> [ListCursor] {
        var found: [ListCursor] = []
        try connection.statement(query.sql).forEachRow(arguments: query.arguments) { row in
            found.append(ListCursor(order: order, listed: row.int(0), source: row.int(1), sequence: row.int(2)))
        }
        return found
    }

    func summaries(of leaders: some Sequence<ListCursor>, now wall: Int64) throws(WaybillError) -> [TransactionSummary]
    {
        var rows: [TransactionSummary] = []
        for leader in leaders {
            if let summary = try summary(leader: leader.sequence, of: leader.source, now: wall) { rows.append(summary) }
        }
        return rows
    }

    /// At most `limit`, because a client can give one code to any number.
    package func transactionIDs(with code: SupportCode, limit: Int) throws(WaybillError) -> [GUID] {
        try connection.statement(
            "SELECT DISTINCT guid FROM parts WHERE guid IS NOT NULL AND \(SupportCode.matches("guid", "?")) ORDER BY guid LIMIT ?"
        )
        .rows(code.lastBytes, limit) { row in row.guid(0) }
    }

    func summary(leader sequence: Int64, of source: Int64, now wall: Int64) throws(WaybillError) -> TransactionSummary?
    {
        var opened: String?
        var summary = try connection.statement(Self.summaryQuery).first(source, sequence) { row in
            opened = row.optionalText(9)
            let detail = DetailColumn(row.optionalText(8))
            return TransactionSummary(
                id: row.guid(0), useCase: row.int(1), useCaseName: row.text(2),
                outcome: TransactionOutcome(
                    stored: row.int(3), lastActivity: row.int(14), timeout: row.int(4), now: wall),
                begunMicroseconds: row.int(5),
                durationMicroseconds: row.optionalInt(6), error: detail.error(code: row.optionalInt(7)),
                attributes: [:], sourceCount: row.int(11),
                eventCount: row.int(12),
                exchangeCount: row.int(13), isWaitingForBeginner: row.bool(10),
                endedBy: row.int(3) == TransactionOutcome.interrupted.rawValue ? row.sourceEnd(15) : nil,
                parent: row.optionalGUID(16),
                parentPart: row.optionalInt(17).map { FactID(source: row.guid(18), sequence: $0) },
                children: row.int(19) > 0 ? .init(count: row.int(19), failedCount: row.int(20)) : nil,
                sampling: FactRowReader.sampling(row, from: 21))
        }
        let changes = try connection.statement(Self.attributesSet).rows(source, sequence) { row in
            DetailColumn(row.optionalText(0))
        }
        summary?.attributes = Self.attributes(opened, setBy: changes)
        return summary
    }

    static func attributes(_ opened: String?, setBy changes: [DetailColumn]) -> Attributes {
        var attributes = DetailColumn(opened).attributes
        for change in changes {
            attributes.apply(Fact.AttributesSet(attributes: change.attributes, removed: change.removed))
        }
        return attributes
    }

    private static let attributesSet = """
        SELECT e.detail FROM events e WHERE e.source = ? AND e.part = ? AND e.code = \(Tables.codeOfAttributesSet) ORDER BY e.after
        """

    private static let summaryQuery = """
        SELECT p.guid, p.use_case, \
        \(SQL.name(useCase: "p.use_case", event: "-1", otherwise: "'use case ' || p.use_case")), \
        p.outcome, p.timeout_us, p.listed_us, p.closed_at_us - p.at_us, p.error_code, p.closed_detail, p.opened_detail, p.joined, \
        (SELECT count(DISTINCT q.source) FROM parts q WHERE q.guid = p.guid), \
        (SELECT count(*) FROM parts q CROSS JOIN events e ON e.source = q.source AND e.part = q.sequence \
        WHERE q.guid = p.guid AND e.code >= 0), \
        (SELECT count(*) FROM parts q CROSS JOIN exchanges l ON l.source = q.source AND l.part = q.sequence \
        WHERE q.guid = p.guid AND l.method IS NOT NULL), \
        \(SQL.lastActivity(guid: "p.guid")), \(SQL.endedBy("s")), p.parent, p.parent_part, s.uuid, \(children("")), \
        \(children("AND q.outcome = \(TransactionOutcome.failed.rawValue)")), \
        \(FactRowReader.samplingColumns) \
        FROM parts p JOIN sources s ON s.id = p.source WHERE p.source = ? AND p.sequence = ?
        """

    private static func children(_ condition: String) -> String {
        "(SELECT count(*) FROM parts q WHERE q.parent = p.guid AND q.listed_us IS NOT NULL \(condition))"
    }

    package func children(of transaction: GUID) throws(WaybillError) -> TransactionSummary.Children? {
        try connection.statement(
            "SELECT \(Self.children("")), \(Self.children("AND q.outcome = \(TransactionOutcome.failed.rawValue)")) FROM (SELECT ? AS guid) p"
        ).first(transaction) { row in
            row.int(0) > 0 ? TransactionSummary.Children(count: row.int(0), failedCount: row.int(1)) : nil
        } ?? nil
    }

    func children(of parent: GUID, limit: Int, now wall: Int64) throws(WaybillError) -> [TransactionSummary] {
        let leaders = try connection.statement(
            """
            SELECT p.listed_us, p.source, p.sequence FROM parts p JOIN sources s ON s.id = p.source \
            WHERE p.parent = ? AND p.listed_us IS NOT NULL ORDER BY p.listed_us, s.uuid, p.sequence LIMIT ?
            """
        ).rows(parent, limit) { row in ListCursor(listed: row.int(0), source: row.int(1), sequence: row.int(2)) }
        return try summaries(of: leaders, now: wall)
    }
}

extension TransactionOutcome {
    package init(stored: Int, lastActivity: Int64, timeout: Int64, now wall: Int64) {
        let outcome = TransactionOutcome(rawValue: stored) ?? .open
        self = outcome == .open && lastActivity + timeout < wall ? .timedOut : outcome
    }
}

extension StoreReader {
    /// A number that changes with each commit of another connection. It means nothing to other readers.
    package func version() throws(WaybillError) -> Int64 { try connection.dataVersion() }

    package func errorCounts(of transactions: [GUID]) throws(WaybillError) -> [GUID: Int] {
        try read { () throws(WaybillError) in
            var counts: [GUID: Int] = [:]
            for transaction in transactions {
                let count: Int = try connection.integer(Self.errorCount, transaction)
                if count > 0 { counts[transaction] = count }
            }
            return counts
        }
    }

    private static let errorCount = """
        SELECT (SELECT count(*) FROM parts p CROSS JOIN events e ON e.source = p.source AND e.part = p.sequence \
        WHERE p.guid = ?1 AND e.detail IS NOT NULL AND json_valid(e.detail) AND json_extract(e.detail, '$.error_code') IS NOT NULL) \
        + (SELECT count(*) FROM parts p CROSS JOIN exchanges l ON l.source = p.source AND l.part = p.sequence \
        WHERE p.guid = ?1 AND \(SQL.hasFailed("l")))
        """

    /// Returns the leading part; `nil` without one.
    package func leader(of transaction: GUID) throws(WaybillError) -> (
        row: Int64, id: FactID, isJoined: Bool, parent: GUID?
    )? {
        try connection.statement(
            """
            SELECT p.source, s.uuid, p.sequence, p.joined, p.parent FROM parts p JOIN sources s ON s.id = p.source \
            WHERE p.guid = ? AND p.listed_us IS NOT NULL
            """
        ).first(transaction) { row in
            (row.int(0), FactID(source: row.guid(1), sequence: row.int(2)), row.bool(3), row.optionalGUID(4))
        }
    }

    package func neighbors(
        of transaction: GUID, now wall: Int64
    ) throws(WaybillError) -> (before: TransactionSummary?, after: TransactionSummary?) {
        try read { () throws(WaybillError) in
            guard let leader = try leader(of: transaction) else { return (nil, nil) }
            func neighbor(_ condition: String) throws(WaybillError) -> TransactionSummary? {
                let sequence = try connection.statement(
                    "SELECT sequence FROM parts WHERE source = ? AND listed_us IS NOT NULL AND joined = ? AND guid <> ? AND \(condition) LIMIT 1"
                ).first(leader.row, leader.isJoined, transaction, leader.id.sequence) { row in row.int(0) }
                guard let sequence else { return nil }
                return try summary(leader: sequence, of: leader.row, now: wall)
            }
            return (try neighbor("sequence < ? ORDER BY sequence DESC"), try neighbor("sequence > ? ORDER BY sequence"))
        }
    }
}

extension StoreReader {
    package func counts(now wall: Int64) throws(WaybillError) -> TransactionCounts {
        try read { () throws(WaybillError) in
            TransactionCounts(
                open: try connection.integer(
                    """
                    SELECT count(*) FROM parts p WHERE p.joined = 0 AND p.outcome = \(TransactionOutcome.open.rawValue) AND p.listed_us IS NOT NULL \
                    AND \(SQL.lastActivity(guid: "p.guid")) + p.timeout_us >= ?
                    """, wall),
                failed: try connection.integer(
                    "SELECT count(*) FROM parts WHERE joined = 0 AND outcome = \(TransactionOutcome.failed.rawValue) AND listed_us IS NOT NULL"
                ),
                pending: try connection.integer(SQL.pendingCount))
        }
    }
}

extension StoreReader {
    /// Without a position, the page only reports the position for the next call. A timeout is not a change.
    package func changes(
        after position: ExportCursor?, matching filter: TransactionFilter, limit: Int, after cursor: String?,
        now wall: Int64
    ) throws(WaybillError) -> RecordPage<TransactionSummary> {
        try read { () throws(WaybillError) in
            let scope: ExportScope = position.map { .after($0) } ?? .everything
            let selection = try ExportSelector(connection: connection).selection(scope)
            var page = RecordPage<TransactionSummary>(rows: [], next: nil)
            if position != nil {
                try collect(selection.shares)
                page = try transactions(matching: filter, limit: limit, after: cursor, now: wall, in: .changed)
            }
            page.position = selection.cursor.description
            return page
        }
    }

    private func collect(_ shares: [ScannedShare]) throws(WaybillError) {
        try connection.execute(Self.makingChanged)
        let collect = try connection.statement("INSERT OR IGNORE INTO temp.changed \(SQL.changed)")
        for share in shares {
            for range in share.sequences?.ranges ?? [] {
                try collect.run(share.row, range.lowerBound, range.upperBound)
            }
        }
    }
}
