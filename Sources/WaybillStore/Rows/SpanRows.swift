package import WaybillCore

/// The rows of `spans`: what came by OTLP, each span with the fact that it has become, or with what it will become.
package struct SpanRows {
    package let connection: Connection

    package init(_ connection: Connection) { self.connection = connection }

    /// A span of one source in one transaction.
    package struct Span: Sendable {
        package var id: SpanID
        /// nil: none, or not known.
        package var parent: SpanID?
        /// As OTLP numbers them; 0: it has not come itself, and others were below it.
        package var kind: Int
        /// The part of its facts; nil: it waits.
        package var part: Int64?
        /// The first of its facts: the opening of the part, where it stands for that. nil: it waits, or has not come.
        package var fact: Int64?
        /// While it waits: its facts as a set.
        package var waiting: [UInt8]?
        /// Whether what caused its part is to be looked for.
        package var isUncaused = false
        /// The span as it came, redacted, in OTLP's JSON; `nil` if it has not come, or was not read.
        package var original: [UInt8]?

        package init(id: SpanID, parent: SpanID?, kind: Int, waiting: [UInt8]? = nil) {
            (self.id, self.parent, self.kind, self.waiting) = (id, parent, kind, waiting)
        }
    }

    /// Whether the store has rows of spans, with the spans as they came. A store of an older version has none.
    package static func areThere(_ connection: Connection) throws(WaybillError) -> Bool {
        try connection.integer("SELECT count(*) FROM pragma_table_info('spans') WHERE name = 'original'") != 0
    }

    /// Without the original, which is only read where it is used.
    private static let columns = "span, parent, kind, part, fact, waiting, uncaused"

    private static func span(_ row: Row) -> Span {
        var span = Span(
            id: row.spanID(0), parent: row.optionalSpanID(1), kind: row.int(2),
            waiting: row.optionalBytes(5))
        (span.part, span.fact, span.isUncaused) = (row.optionalInt(3), row.optionalInt(4), row.bool(6))
        return span
    }

    private static func spanWithOriginal(_ row: Row) -> Span {
        var span = span(row)
        span.original = row.optionalText(7).map { Array($0.utf8) }
        return span
    }

    /// nil where it has not come, and nobody has named it as the part's that it belongs to.
    package func find(_ id: SpanID, of source: Int64, in transaction: GUID) throws(WaybillError) -> Span? {
        try connection.statement("SELECT \(Self.columns) FROM spans WHERE guid = ? AND source = ? AND span = ?")
            .first(transaction, source, id, transform: Self.span)
    }

    /// Those of a source that wait for others of the transaction.
    package func waiting(of source: Int64, in transaction: GUID) throws(WaybillError) -> [Span] {
        try connection.statement(
            "SELECT \(Self.columns), original FROM spans WHERE guid = ? AND source = ? AND waiting IS NOT NULL"
        ).rows(transaction, source, transform: Self.spanWithOriginal)
    }

    /// Whether any of a transaction has come.
    package func contains(_ transaction: GUID) throws(WaybillError) -> Bool {
        try connection.integer("SELECT EXISTS(SELECT 1 FROM spans WHERE guid = ?)", transaction) != 0
    }

    /// What waits since before a time, in microseconds since 1970; the oldest first.
    package func waiting(before wall: Int64, limit: Int) throws(WaybillError) -> [(transaction: GUID, source: Int64)] {
        try connection.statement(
            "SELECT DISTINCT guid, source FROM spans WHERE waiting IS NOT NULL AND received_us < ? ORDER BY received_us LIMIT ?"
        ).rows(wall, limit) { row in (row.guid(0), row.int(1)) }
    }

    /// How many wait; no more than `limit` are counted.
    package func waitingCount(limit: Int) throws(WaybillError) -> Int {
        try connection.integer("SELECT count(*) FROM (SELECT 1 FROM spans WHERE waiting IS NOT NULL LIMIT ?)", limit)
    }

    /// Writes the row of a span, over one that it had.
    ///
    /// - Parameter wall: When it came, in microseconds since 1970.
    package func write(_ span: Span, of source: Int64, in transaction: GUID, at wall: Int64) throws(WaybillError) {
        try connection.statement(
            """
            INSERT INTO spans(guid, source, span, parent, kind, part, fact, waiting, uncaused, received_us, original) \
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET parent = excluded.parent, kind = excluded.kind, \
            part = excluded.part, fact = excluded.fact, waiting = excluded.waiting, uncaused = excluded.uncaused, \
            original = excluded.original
            """
        ).run(
            transaction, source, span.id, span.parent, span.kind, span.part, span.fact,
            span.waiting.map(ColumnValue.blob), span.isUncaused, wall,
            span.original.map { String(decoding: $0, as: UTF8.self) })
    }

    /// Those that have become facts of a part, by the first of their facts.
    package func spans(of part: Int64, in source: Int64) throws(WaybillError) -> [Int64: Span] {
        var spans: [Int64: Span] = [:]
        try connection.statement("SELECT \(Self.columns), original FROM spans WHERE source = ? AND part = ?")
            .forEachRow(source, part) { row in
                let span = Self.spanWithOriginal(row)
                if let fact = span.fact { spans[fact] = span }
            }
        return spans
    }
}

/// A span's ID is stored as its 8 bytes.
extension SpanID: SQLValue {
    package func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        let bytes = withUnsafeBytes(of: rawValue.bigEndian) { Array($0) }
        return ColumnValue.blob(bytes).bind(to: statement, at: index)
    }
}

extension Row {
    /// nil for NULL, and for anything but 8 bytes.
    func optionalSpanID(_ column: Int32) -> SpanID? {
        guard let bytes = optionalBytes(column), bytes.count == 8 else { return nil }
        return SpanID(rawValue: bytes.reduce(0) { $0 << 8 | UInt64($1) })
    }

    func spanID(_ column: Int32) -> SpanID {
        optionalSpanID(column) ?? SpanID(FactID(source: GUID(high: 0, low: 0), sequence: 0))
    }
}

/// Finds the exchanges that caused the parts of spans: a span names its parent by an ID, which is an exchange's span ID,
/// or that of a span which has become one. Either may come first.
package struct SpanCauses {
    /// Exchanges of one transaction that are looked at for the cause of a part.
    private static let exchangeLimit = 10_000
    /// OTLP's `SPAN_KIND_CLIENT`.
    private static let clientKind = 3

    private let connection: Connection

    package init(_ connection: Connection) { self.connection = connection }

    /// The transactions for which a share of a set may have brought what caused parts that are here.
    func transactions(of share: TransactionSet.Share) throws(WaybillError) -> Set<GUID> {
        guard try connection.integer("SELECT EXISTS(SELECT 1 FROM spans WHERE uncaused = 1)") != 0 else { return [] }
        let transaction = try connection.statement(
            "SELECT p.guid FROM parts p JOIN sources s ON s.id = p.source WHERE s.uuid = ? AND p.sequence = ? AND p.guid IS NOT NULL"
        )
        var parts: Set<Int64> = []
        for fact in share.facts {
            switch fact.content {
            case .opened, .exchangeOpened: parts.insert(fact.part)
            case .event, .attributesSet, .closed, .exchangeClosed: break
            }
        }
        var transactions: Set<GUID> = []
        for part in parts where part != 0 {
            if let id = try transaction.first(share.source.id, part, transform: { row in row.guid(0) }) {
                transactions.insert(id)
            }
        }
        return transactions
    }

    /// Looks for what caused the parts of a transaction, as far as that is not known. It looks at the whole transaction:
    /// call it once for all that comes together, not for each source.
    ///
    /// - Returns: Whether any was found: then ``LeadingParts`` have to decide again.
    package func find(in transaction: GUID) throws(WaybillError) -> Bool {
        let waiting = try connection.statement(
            "SELECT source, part, parent, span FROM spans WHERE guid = ? AND uncaused = 1 AND part IS NOT NULL AND parent IS NOT NULL"
        ).rows(transaction) { row in
            (source: row.int(0), part: row.int(1), parent: row.spanID(2), span: row.spanID(3))
        }
        guard !waiting.isEmpty else { return false }
        let exchanges = try exchanges(of: transaction, Set(waiting.map(\.parent)))
        var isAnyFound = false
        for part in waiting {
            guard let cause = exchanges[part.parent] else { continue }
            isAnyFound = true
            try connection.statement("UPDATE parts SET cause_source = ?, cause = ? WHERE source = ? AND sequence = ?")
                .run(cause.source, cause.sequence, part.source, part.part)
            try connection.statement("UPDATE spans SET uncaused = 0 WHERE guid = ? AND source = ? AND span = ?")
                .run(transaction, part.source, part.span)
        }
        return isAnyFound
    }

    /// Exchanges of clients by the IDs under which others name them. Of two under one ID the lesser one counts.
    package func exchanges(of transaction: GUID, _ wanted: Set<SpanID>) throws(WaybillError) -> [SpanID: FactID] {
        var found: [SpanID: FactID] = [:]
        func note(_ exchange: FactID, as id: SpanID) {
            guard wanted.contains(id) else { return }
            guard let other = found[id] else {
                found[id] = exchange
                return
            }
            if (exchange.source, exchange.sequence) < (other.source, other.sequence) { found[id] = exchange }
        }
        try connection.statement(
            """
            SELECT s.uuid, l.sequence FROM parts p JOIN sources s ON s.id = p.source \
            JOIN network_logs l ON l.source = p.source AND l.part = p.sequence \
            WHERE p.guid = ? AND l.role = 0 AND l.method IS NOT NULL LIMIT ?
            """
        ).forEachRow(transaction, Self.exchangeLimit) { row in
            let exchange = FactID(source: row.guid(0), sequence: row.int(1))
            note(exchange, as: SpanID(exchange))
        }
        // A client's span that stands for a part has its exchange behind the opening.
        let exchange = try connection.statement(
            """
            SELECT s.uuid, l.sequence FROM sources s JOIN network_logs l ON l.source = s.id AND l.part = ?2 AND l.role = 0 \
            AND l.method IS NOT NULL AND (l.sequence = ?3 OR ?4 = \(Self.clientKind) AND ?2 = ?3 AND l.sequence = ?3 + 1) \
            WHERE s.id = ?1
            """)
        for span in try spans(of: transaction, wanted) {
            try exchange.forEachRow(span.source, span.part, span.fact, span.kind) { row in
                note(FactID(source: row.guid(0), sequence: row.int(1)), as: span.id)
            }
        }
        return found
    }

    private typealias FoundSpan = (id: SpanID, source: Int64, part: Int64, fact: Int64, kind: Int)

    /// The spans with these IDs. The key has the source before the span, so that each ID is looked up in each source that
    /// has a part; where the transaction has fewer spans than that makes, all of them are gone through.
    private func spans(of transaction: GUID, _ wanted: Set<SpanID>) throws(WaybillError) -> [FoundSpan] {
        let columns = "SELECT span, source, part, fact, kind FROM spans"
        let isThere = "guid = ?1 AND part IS NOT NULL AND fact IS NOT NULL"
        let parts = try connection.statement("SELECT DISTINCT source FROM parts WHERE guid = ?")
        let sources: [Int64] = try parts.rows(transaction) { row in row.int(0) }
        let lookupCount = Int64(wanted.count) * Int64(sources.count)
        let spanCount: Int64 = try connection.integer(
            "SELECT count(*) FROM (SELECT 1 FROM spans WHERE guid = ? LIMIT ?)", transaction, lookupCount + 1)
        var found: [FoundSpan] = []
        func add(_ row: Row) {
            let id = row.spanID(0)
            guard wanted.contains(id) else { return }
            found.append((id, row.int(1), row.int(2), row.int(3), row.int(4)))
        }
        if spanCount <= lookupCount {
            try connection.statement("\(columns) WHERE \(isThere)").forEachRow(transaction) { row in add(row) }
        } else {
            let lookup = try connection.statement("\(columns) WHERE \(isThere) AND source = ?2 AND span = ?3")
            for source in sources {
                for id in wanted { try lookup.forEachRow(transaction, source, id) { row in add(row) } }
            }
        }
        return found
    }
}
