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
    package func exchange(_ id: Fact.ID) throws(WaybillError) -> ExchangeRecord? {
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
