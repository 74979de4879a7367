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
        optionalSpanID(column) ?? SpanID(Fact.ID(source: GUID(high: 0, low: 0), sequence: 0))
    }
}
