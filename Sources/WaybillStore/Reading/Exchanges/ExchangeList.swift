import WaybillCore

/// Finds the exchanges of a list, within one read of the store.
///
/// Exchanges carry their source's time, whose distance to the wall clock may be learned late. So nothing is stored in the order of a list: each
/// source's newest are found by an index, those that can matter are asked, and what they have is merged. A page costs what it shows, and a look at
/// each source.
struct ExchangeList {
    private let connection: Connection
    private let filter: ExchangeFilter
    private let conditions: ExchangeConditions
    /// One sentence on the bodies that were not looked through; nil where all were, or none had to be.
    let note: String?

    /// - Parameters:
    ///   - transactions: Whose exchanges are meant; nil: those of all, and those outside any.
    ///   - wall: Now, in microseconds since 1970: decides which transactions have timed out.
    ///   - bodyLimit: Bytes of bodies that are looked through for words, the newest first. Default: all.
    /// - Throws: `.setting` where both filters say something about transactions.
    init(
        _ filter: ExchangeFilter, of transactions: TransactionFilter? = nil, now wall: Int, bodyLimit: Int = .max, _ connection: Connection
    ) throws(WaybillError) {
        self.connection = connection
        self.filter = filter
        var chosen = transactions
        let conditionsOfTransactions = filter.conditions.compactMap(\.ofTransaction)
        if filter.useCase != nil || !filter.outcomes.isEmpty || !conditionsOfTransactions.isEmpty {
            guard transactions == nil else {
                throw WaybillError(.setting, "What is said of transactions belongs to the filter of transactions, where there is one.")
            }
            var ownConditions = TransactionFilter()
            ownConditions.useCase = filter.useCase
            ownConditions.outcomes = filter.outcomes
            ownConditions.conditions = conditionsOfTransactions
            chosen = ownConditions
        }
        if let chosen { try ExportSelector(connection: connection).choose(chosen, now: wall) }
        conditions = ExchangeConditions(filter, isChosen: chosen != nil)
        let isCut = try BodySearch(connection: connection).find(conditions.words, limit: bodyLimit)
        note = isCut ? "Only the newest \(bodyLimit / 1_000_000) MB of kept bodies were looked through." : nil
    }

    /// The newest, behind a cursor.
    func keys(limit: Int, after cursor: ListCursor?) throws(WaybillError) -> [ExchangeKey] {
        var found: [ExchangeKey] = []
        // What was opened at the cursor's own time is left to the condition on rows.
        let until = [filter.untilMicroseconds, cursor.map { $0.listed + 1 }].compactMap(\.self).min()
        let spans = try spans().compactMap { $0.clamped(since: filter.sinceMicroseconds, until: until) }
        for span in spans.sorted(by: { $0.newest > $1.newest }) {
            if found.count == limit, let oldest = found.last, span.newest < oldest.opened { break }
            found = Array((found + (try keys(in: span, limit: limit, after: cursor))).sorted(by: ExchangeKey.follows).prefix(limit))
        }
        return found
    }

    /// All of them, the oldest first, until `body` returns false: sorted by SQLite, which keeps what is much in a file.
    func forKeys(while body: (ExchangeKey) throws(WaybillError) -> Bool) throws(WaybillError) {
        let conditions = timedConditions
        try connection.statement(
            """
            SELECT \(Self.opened) AS opened, l.source, l.part, l.sequence FROM \(ExchangeConditions.tables) \
            WHERE \(conditions.sql) ORDER BY 1, 2, 4
            """
        ).forRows(arguments: conditions.arguments) { (row) throws(WaybillError) in
            try body(ExchangeKey(opened: row.int(0), source: row.int(1), part: row.int(2), sequence: row.int(3)))
        }
    }

    /// Hands over the rows of all of them, in no order.
    ///
    /// - Parameter columns: Of ``ExchangeConditions/tables``.
    func forEachRow(_ columns: String, _ body: (Row) throws(WaybillError) -> Void) throws(WaybillError) {
        let conditions = timedConditions
        try connection.statement("SELECT \(columns) FROM \(ExchangeConditions.tables) WHERE \(conditions.sql)")
            .forEachRow(arguments: conditions.arguments, body: body)
    }

    /// Microseconds since 1970.
    private static let opened = SQL.wall("l.at_us", source: "l.source")

    private var timedConditions: ExchangeConditions {
        var conditions = conditions
        if let since = filter.sinceMicroseconds { conditions.add("\(Self.opened) >= \(conditions.argument(since))") }
        if let until = filter.untilMicroseconds { conditions.add("\(Self.opened) < \(conditions.argument(until))") }
        return conditions
    }

    private func spans() throws(WaybillError) -> [ExchangeSpan] {
        let newest = try connection.statement(
            """
            SELECT id, at_us FROM (SELECT id, (SELECT max(l.at_us) FROM network_logs l WHERE l.source = id AND l.method IS NOT NULL) AS at_us \
            FROM sources) WHERE at_us IS NOT NULL
            """
        ).rows { row in (source: row.int(0), at: row.int(1)) }
        var spans: [ExchangeSpan] = []
        for (source, at) in newest { spans += ExchangeSpan.spans(of: source, try WallClock(of: source, connection), newest: at) }
        return spans
    }

    private func keys(in span: ExchangeSpan, limit: Int, after cursor: ListCursor?) throws(WaybillError) -> [ExchangeKey] {
        var conditions = conditions
        var sql = "\(conditions.sql) AND l.source = \(conditions.argument(span.source))"
        sql += " AND l.at_us >= \(conditions.argument(span.times.lowerBound)) AND l.at_us < \(conditions.argument(span.times.upperBound))"
        if let cursor {
            let place = (cursor.listed - span.offset, cursor.source, cursor.sequence)
            sql += " AND (l.at_us, l.source, l.sequence) < "
            sql += "(\(conditions.argument(place.0)), \(conditions.argument(place.1)), \(conditions.argument(place.2)))"
        }
        sql += " ORDER BY l.at_us DESC, l.sequence DESC LIMIT \(conditions.argument(limit))"
        var keys: [ExchangeKey] = []
        try connection.statement("SELECT l.at_us, l.part, l.sequence FROM \(ExchangeConditions.tables) WHERE \(sql)")
            .forEachRow(arguments: conditions.arguments) { row in
                keys.append(ExchangeKey(opened: row.int(0) + span.offset, source: span.source, part: row.int(1), sequence: row.int(2)))
            }
        return keys
    }
}
