package import WaybillCore
package import WaybillStore

/// Finds the exchanges of a list, within one read of the store.
///
/// Exchanges carry their source's time, whose distance to the wall clock may be learned late. So nothing is stored in
/// the order of a list: each source's newest are found by an index, those that can matter are asked, and what they have
/// is merged. A page costs what it shows, and a look at each source.
package struct ExchangeList {
    let connection: Connection
    let filter: ExchangeFilter
    private let conditions: ExchangeSQL
    private let newest: NewestExchanges
    /// One sentence on the bodies that were not looked through; nil where all were, or none had to be.
    let note: String?

    /// - Parameters:
    ///   - transactions: Whose exchanges are meant; nil: those of all, and those outside any.
    ///   - wall: Now, in microseconds since 1970: decides which transactions have timed out.
    ///   - newest: What the reader knows of its sources. Default: nothing yet.
    ///   - bodyLimit: Bytes of bodies that are looked through for words, the newest first. Default: all.
    /// - Throws: `.setting` where both filters say something about transactions.
    package init(
        _ filter: ExchangeFilter, of transactions: TransactionFilter? = nil, now wall: Int64,
        newest: NewestExchanges = NewestExchanges(), bodyLimit: Int64 = .max, _ connection: Connection
    ) throws(WaybillError) {
        self.connection = connection
        self.filter = filter
        self.newest = newest
        let ofTransactions = filter.conditions.filter(\.isOfTransaction)
        guard transactions == nil || (filter.useCase == nil && filter.outcomes.isEmpty && ofTransactions.isEmpty) else {
            throw WaybillError(
                .setting, "What is said of transactions belongs to the filter of transactions, where there is one.")
        }
        var chosen = transactions
        if !ofTransactions.isEmpty {
            var own = TransactionFilter()
            // Exchanges are shown whoever began their transaction.
            (own.conditions, own.beginner) = (ofTransactions, .any)
            chosen = own
        }
        if let chosen { try ExportSelector(connection: connection).choose(chosen, now: wall) }
        conditions = ExchangeSQL(filter, isChosen: chosen != nil, now: wall)
        let isCut = try BodySearch(connection: connection).find(conditions.words, limit: bodyLimit)
        note = isCut ? "Only the newest \(bodyLimit / 1_000_000) MB of kept bodies were looked through." : nil
    }

    /// The newest, behind a cursor.
    func keys(limit: Int, after cursor: ListCursor?) throws(WaybillError) -> [ExchangeKey] {
        var found: [ExchangeKey] = []
        for span in try spans(after: cursor) {
            if found.count == limit, let oldest = found.last, span.newest < oldest.opened { break }
            found = Array(
                (found + (try keys(in: span, limit: limit, after: cursor))).sorted(by: ExchangeKey.follows).prefix(
                    limit))
        }
        return found
    }

    /// Where exchanges can be that come behind a cursor; that with the newest in front.
    func spans(after cursor: ListCursor?) throws(WaybillError) -> [ExchangeSpan] {
        // What was opened at the cursor's own time is left to the condition on rows.
        let until = [filter.untilMicroseconds, cursor.map { $0.listed + 1 }].compactMap(\.self).min()
        return try ExchangeSpan.all(newest, connection).compactMap {
            $0.clamped(since: filter.sinceMicroseconds, until: until)
        }
        .sorted { $0.newest > $1.newest }
    }

    /// All of them, the oldest first, until `body` returns false: sorted by SQLite, which keeps what is much in a file.
    func forKeys(while body: (ExchangeKey) throws(WaybillError) -> Bool) throws(WaybillError) {
        let conditions = timedConditions
        try connection.statement(
            """
            SELECT \(Self.opened) AS opened, l.source, l.part, l.sequence FROM \(ExchangeSQL.tables) \
            WHERE \(conditions.sql) ORDER BY 1, 2, 4
            """
        ).forRows(arguments: conditions.arguments) { (row) throws(WaybillError) in
            try body(ExchangeKey(opened: row.int(0), source: row.int(1), part: row.int(2), sequence: row.int(3)))
        }
    }

    /// Hands over the rows of all of them, in no order.
    ///
    /// - Parameter columns: Of ``ExchangeSQL/tables``.
    package func forEachRow(_ columns: String, _ body: (Row) throws(WaybillError) -> Void) throws(WaybillError) {
        let conditions = timedConditions
        try connection.statement("SELECT \(columns) FROM \(ExchangeSQL.tables) WHERE \(conditions.sql)")
            .forEachRow(arguments: conditions.arguments, body: body)
    }

    /// Microseconds since 1970.
    private static let opened = SQL.wall("l.at_us", source: "l.source")

    private var timedConditions: ExchangeSQL {
        var conditions = conditions
        if let since = filter.sinceMicroseconds { conditions.add("\(Self.opened) >= \(conditions.argument(since))") }
        if let until = filter.untilMicroseconds { conditions.add("\(Self.opened) < \(conditions.argument(until))") }
        return conditions
    }

    func keys(in span: ExchangeSpan, limit: Int, after cursor: ListCursor?) throws(WaybillError) -> [ExchangeKey] {
        var conditions = conditions
        var sql = "\(conditions.sql) AND l.source = \(conditions.argument(span.source))"
        sql +=
            " AND l.at_us >= \(conditions.argument(span.times.lowerBound)) AND l.at_us < \(conditions.argument(span.times.upperBound))"
        if let cursor {
            let place = (cursor.listed - span.offset, cursor.source, cursor.sequence)
            sql += " AND (l.at_us, l.source, l.sequence) < "
            sql += "(\(conditions.argument(place.0)), \(conditions.argument(place.1)), \(conditions.argument(place.2)))"
        }
        sql += " ORDER BY l.at_us DESC, l.sequence DESC LIMIT \(conditions.argument(limit))"
        var keys: [ExchangeKey] = []
        try connection.statement("SELECT l.at_us, l.part, l.sequence FROM \(ExchangeSQL.tables) WHERE \(sql)")
            .forEachRow(arguments: conditions.arguments) { row in
                keys.append(
                    ExchangeKey(
                        opened: row.int(0) + span.offset, source: span.source, part: row.int(1), sequence: row.int(2)))
            }
        return keys
    }
}
