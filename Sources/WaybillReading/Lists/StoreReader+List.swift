package import WaybillCore
package import WaybillStore

/// Transactions as lines of a list.
extension StoreReader {
    /// Transactions that pass a filter, in its order.
    ///
    /// - Parameters:
    ///   - cursor: ``RecordPage/next`` of the page before; nil for the first. Transactions that arrive meanwhile do not
    ///     shift the pages.
    ///   - wall: Now, in microseconds since 1970: decides what has timed out.
    /// - Throws: `.format` for a cursor that no list gave, or one in another order.
    package func transactions(
        matching filter: TransactionFilter, limit: Int, after cursor: String?, now wall: Int64
    ) throws(WaybillError) -> RecordPage<TransactionSummary> {
        try transactions(matching: filter, limit: limit, after: cursor, now: wall, in: .all)
    }

    func transactions(
        matching filter: TransactionFilter, limit: Int, after cursor: String?, now wall: Int64,
        in scope: ListQuery.Scope
    ) throws(WaybillError) -> RecordPage<TransactionSummary> {
        let place = try cursor.map { (text) throws(WaybillError) in try ListCursor(text, of: filter.order) }
        let limit = min(max(1, limit), Int(Int32.max))
        let query = ListQuery(filter, limit: limit + 1, after: place, now: wall, in: scope)
        return try read { () throws(WaybillError) in
            let found = try leaders(query, filter.order)
            let next = found.count > limit ? found[limit - 1].description : nil
            return RecordPage(rows: try summaries(of: found.prefix(limit), now: wall), next: next)
        }
    }

    /// Where the leading parts are that a query finds.
    package func leaders(_ query: ListQuery, _ order: TransactionFilter.Order) throws(WaybillError) -> [ListCursor] {
        if order == .longest || order == .shortest { try Schema.checkCurrent(connection) }
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

    /// Transactions whose support code this is; two may share one.
    ///
    /// - Parameter limit: No more than so many, the first by ID: whoever sends sets can give any number one code.
    package func transactionIDs(with code: SupportCode, limit: Int) throws(WaybillError) -> [GUID] {
        try connection.statement(
            "SELECT DISTINCT guid FROM parts WHERE guid IS NOT NULL AND \(SupportCode.matches("guid", "?")) ORDER BY guid LIMIT ?"
        )
        .rows(code.lastBytes, limit) { row in row.guid(0) }
    }

    /// The transaction that a leading part stands for.
    func summary(leader sequence: Int64, of source: Int64, now wall: Int64) throws(WaybillError) -> TransactionSummary?
    {
        var summary = try connection.statement(Self.summaryQuery).first(source, sequence) { row in
            let detail = DetailColumn(row.optionalText(8))
            return TransactionSummary(
                id: row.guid(0), useCase: row.int(1), useCaseName: row.text(2),
                outcome: TransactionOutcome(
                    stored: row.int(3), lastActivity: row.int(14), timeout: row.int(4), now: wall),
                begunMicroseconds: row.int(5),
                durationMicroseconds: row.optionalInt(6), error: detail.error(code: row.optionalInt(7)),
                attributes: DetailColumn(row.optionalText(9)).attributes, sourceCount: row.int(11),
                eventCount: row.int(12),
                exchangeCount: row.int(13), isWaitingForBeginner: row.bool(10),
                endedBy: row.int(3) == TransactionOutcome.interrupted.rawValue ? row.sourceEnd(15) : nil,
                parent: row.optionalGUID(16),
                parentPart: row.optionalInt(17).map { Fact.ID(source: row.guid(18), sequence: $0) },
                children: row.int(19) > 0 ? .init(count: row.int(19), failedCount: row.int(20)) : nil,
                sampling: FactRowReader.sampling(row, from: 21))
        }
        try connection.statement(Self.attributesSet).forEachRow(source, sequence) { row in
            let detail = DetailColumn(row.optionalText(0))
            summary?.attributes.apply(Fact.AttributesSet(attributes: detail.attributes, removed: detail.removed))
        }
        return summary
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
        (SELECT count(*) FROM parts q CROSS JOIN network_logs l ON l.source = q.source AND l.part = q.sequence \
        WHERE q.guid = p.guid AND l.method IS NOT NULL), \
        \(SQL.lastActivity(guid: "p.guid")), \(SQL.endedBy("s")), p.parent, p.parent_part, s.uuid, \(children("")), \
        \(children("AND q.outcome = \(TransactionOutcome.failed.rawValue)")), \
        \(FactRowReader.samplingColumns) \
        FROM parts p JOIN sources s ON s.id = p.source WHERE p.source = ? AND p.sequence = ?
        """

    private static func children(_ condition: String) -> String {
        "(SELECT count(*) FROM parts q WHERE q.parent = p.guid AND q.listed_us IS NOT NULL \(condition))"
    }
}

extension TransactionOutcome {
    /// What is stored, or `timedOut` for what was left open too long.
    package init(stored: Int, lastActivity: Int64, timeout: Int64, now wall: Int64) {
        let outcome = TransactionOutcome(rawValue: stored) ?? .open
        self = outcome == .open && lastActivity + timeout < wall ? .timedOut : outcome
    }
}
