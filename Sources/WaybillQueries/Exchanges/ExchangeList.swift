package import WaybillCore
package import WaybillStore

/// Merges the newest exchanges of each source, because no index has the order of the list.
package struct ExchangeList {
    let connection: Connection
    let filter: ExchangeFilter
    let conditions: ConditionSQL
    private let newest: NewestExchanges
    let note: String?

    package init(
        _ filter: ExchangeFilter, of transactions: TransactionFilter? = nil, now wall: Int64,
        newest: NewestExchanges = NewestExchanges(), bodyLimit: Int64 = .max, _ connection: Connection
    ) throws(WaybillError) {
        self.connection = connection
        self.filter = filter
        self.newest = newest
        guard transactions == nil || !filter.conditions.contains(where: \.isOfTransaction) else {
            throw WaybillError(
                .setting, "What is said of transactions belongs to the filter of transactions, where there is one.")
        }
        var chosen = transactions
        let ofTransactions = filter.conditions.filter { $0.isOfTransaction && !$0.isIndexed }
        if !ofTransactions.isEmpty {
            var own = TransactionFilter(ofTransactions)
            // Exchanges are shown whoever began their transaction.
            own.beginner = .any
            chosen = own
        }
        if let chosen { try ExportSelector(connection: connection).choose(chosen, now: wall) }
        conditions = ConditionSQL(filter, isChosen: chosen != nil, now: wall)
        let isCut = try BodySearch(connection: connection).find(conditions.words, limit: bodyLimit)
        note = isCut ? "Only the newest \(bodyLimit / 1_000_000) MB of kept bodies were looked through." : nil
    }

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

    func spans(after cursor: ListCursor?) throws(WaybillError) -> [ExchangeSpan] {
        let until = [filter.untilMicroseconds, cursor.map { $0.listed + 1 }].compactMap(\.self).min()
        return try ExchangeSpan.all(newest, connection).compactMap {
            $0.clamped(since: filter.sinceMicroseconds, until: until)
        }
        .sorted { $0.newest > $1.newest }
    }

    func forKeys(while body: (ExchangeKey) throws(WaybillError) -> Bool) throws(WaybillError) {
        let conditions = timedConditions
        try connection.statement(
            """
            SELECT \(Self.opened) AS opened, l.source, l.part, l.sequence FROM \(ConditionSQL.exchanges) \
            WHERE \(conditions.sql) ORDER BY 1, 2, 4
            """
        ).forRows(arguments: conditions.arguments) { (row) throws(WaybillError) in
            try body(ExchangeKey(opened: row.int(0), source: row.int(1), part: row.int(2), sequence: row.int(3)))
        }
    }

    package func forEachRow(_ columns: String, _ body: (Row) throws(WaybillError) -> Void) throws(WaybillError) {
        let conditions = timedConditions
        try connection.statement("SELECT \(columns) FROM \(ConditionSQL.exchanges) WHERE \(conditions.sql)")
            .forEachRow(arguments: conditions.arguments, body: body)
    }

    private static let opened = SQL.wall("l.at_us", source: "l.source")

    private var timedConditions: ConditionSQL {
        var conditions = conditions
        for condition in filter.conditions where condition.isIndexed && !condition.isOfTransaction {
            conditions.add(condition)
        }
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
        try connection.statement("SELECT l.at_us, l.part, l.sequence FROM \(ConditionSQL.exchanges) WHERE \(sql)")
            .forEachRow(arguments: conditions.arguments) { row in
                keys.append(
                    ExchangeKey(
                        opened: row.int(0) + span.offset, source: span.source, part: row.int(1), sequence: row.int(2)))
            }
        return keys
    }
}

extension ExchangeList {
    func keys(
        limit: Int, after cursor: ListCursor?, budget: SearchBudget?
    ) throws(WaybillError) -> (keys: [ExchangeKey], lookedAt: (count: Int, from: Int64)?) {
        guard let budget else { return (try keys(limit: limit, after: cursor), nil) }
        var spans = Array(try spans(after: cursor).reversed())
        var found: [ExchangeKey] = []
        var count = 0
        while try settle(&spans, count: Self.sourceCount(of: budget.stretch) + 1) {
            let begin = try beginning(of: spans, stretch: budget.stretch)
            var older: [ExchangeSpan] = []
            while let span = spans.last, span.newest >= begin ?? .min {
                spans.removeLast()
                if let window = span.clamped(since: begin, until: nil) {
                    found += try keys(in: window, limit: limit, after: cursor)
                    count += Int(clamping: try value("count(*)", in: window) ?? 0)
                }
                if let begin, let rest = span.clamped(since: nil, until: begin) { older.append(rest) }
            }
            spans += older
            found = Array(found.sorted(by: ExchangeKey.follows).prefix(limit))
            if found.count == limit { break }
            if let begin, budget.isOver(), !spans.isEmpty { return (found, (count, begin)) }
        }
        return (found, nil)
    }

    private static func sourceCount(of stretch: Int) -> Int { max(1, stretch / 10) }

    /// Makes the last spans end at an exchange, to keep windows from shrinking to nothing in between.
    private func settle(_ spans: inout [ExchangeSpan], count: Int) throws(WaybillError) -> Bool {
        while let index = spans.indices.suffix(count).last(where: { !spans[$0].isExact }) {
            var span = spans.remove(at: index)
            guard let newest = try value("max(at_us)", in: span) else { continue }
            span.times = span.times.lowerBound..<newest + 1
            span.isExact = true
            spans.insert(span, at: spans.lastIndex { $0.newest <= span.newest }.map { $0 + 1 } ?? 0)
        }
        return !spans.isEmpty
    }

    private func beginning(of spans: [ExchangeSpan], stretch: Int) throws(WaybillError) -> Int64? {
        guard let newest = spans.last else { return nil }
        let inSource = try connection.statement(
            "SELECT at_us FROM exchanges WHERE source = ? AND method IS NOT NULL AND at_us >= ? AND at_us < ? "
                + "ORDER BY at_us DESC LIMIT 1 OFFSET ?"
        ).first(newest.source, newest.times.lowerBound, newest.times.upperBound, stretch - 1) { row in
            row.int(0) + newest.offset
        }
        let amongSources = spans.dropLast(Self.sourceCount(of: stretch)).last?.newest
        return [inSource, amongSources].compactMap(\.self).max()
    }

    /// Returns an aggregate of a span's exchanges, whatever the conditions; `nil` for NULL.
    func value(_ aggregate: String, in span: ExchangeSpan) throws(WaybillError) -> Int64? {
        try connection.statement(
            "SELECT \(aggregate) FROM exchanges WHERE source = ? AND method IS NOT NULL AND at_us >= ? AND at_us < ?"
        ).first(span.source, span.times.lowerBound, span.times.upperBound) { row in row.optionalInt(0) } ?? nil
    }
}

/// A stretch of one source's time at a fixed distance to the wall clock, which keeps the order the same for both.
struct ExchangeSpan {
    var source: Int64
    var offset: Int64
    var times: Range<Int64>

    /// Whether an exchange was opened at ``newest``. Otherwise all may be much older.
    var isExact: Bool

    var newest: Int64 { times.upperBound - 1 + offset }

    static func spans(of source: NewestExchanges.Source, _ anchors: [ClockAnchor]) -> [ExchangeSpan] {
        let anchors = anchors.isEmpty ? [ClockAnchor(atMicroseconds: 0, offsetMicroseconds: 0)] : anchors
        return anchors.indices.compactMap { index in
            let start = index == 0 ? 0 : anchors[index].atMicroseconds
            let end = min(source.newest + 1, index + 1 < anchors.count ? anchors[index + 1].atMicroseconds : .max)
            guard start < end else { return nil }
            let (last, offset) = (end - 1, anchors[index].offsetMicroseconds)
            // Implausible times are replaced by the time of arrival, as for transactions.
            let listed = LeadingParts.listed(begun: last.adding(offset), heard: source.heard)
            return ExchangeSpan(
                source: source.id, offset: listed.subtracting(last), times: start..<end,
                isExact: source.isExact && end == source.newest + 1)
        }
    }

    func clamped(since: Int64?, until: Int64?) -> ExchangeSpan? {
        let start = since.map { max($0 - offset, times.lowerBound) } ?? times.lowerBound
        let end = until.map { min($0 - offset, times.upperBound) } ?? times.upperBound
        guard start < end else { return nil }
        return ExchangeSpan(
            source: source, offset: offset, times: start..<end, isExact: isExact && end == times.upperBound)
    }
}

extension ExchangeSpan {
    static func all(_ newest: NewestExchanges, _ connection: Connection) throws(WaybillError) -> [ExchangeSpan] {
        let sources = try newest.sources(connection)
        // One scan takes a tenth of the time of a lookup per source.
        let clocks = try connection.statement("SELECT source, at_us, offset_us FROM clocks ORDER BY source, at_us")
        clocks.start()
        defer { clocks.stop() }
        var spans: [ExchangeSpan] = []
        spans.reserveCapacity(sources.count)
        var anchors: [ClockAnchor] = []
        var row = try clocks.next()
        for source in sources {
            while let clock = row, clock.int(0) < source.id { row = try clocks.next() }
            anchors.removeAll(keepingCapacity: true)
            while let clock = row, clock.int(0) == source.id {
                anchors.append(ClockAnchor(atMicroseconds: clock.int(1), offsetMicroseconds: clock.int(2)))
                row = try clocks.next()
            }
            spans += Self.spans(of: source, anchors)
        }
        return spans
    }
}
