package import WaybillCore

/// The rows of `spans`: OTLP spans, each with its fact, or its data while it waits.
package struct SpanRows {
    package let connection: Connection

    package init(_ connection: Connection) { self.connection = connection }

    package struct Span: Sendable {
        package var id: SpanID
        /// `nil` if there is none, or it is unknown.
        package var parent: SpanID?
        /// As in OTLP; 0 if the span has not arrived, but children have.
        package var kind: Int
        /// The part of its facts; `nil` while it waits.
        package var part: Int64?
        /// Its first fact, such as the opening of its part; `nil` if it waits or has not arrived.
        package var fact: Int64?
        /// Its facts as a set, while it waits.
        package var waiting: [UInt8]?
        package var isUncaused = false
        /// The redacted span in OTLP's JSON; `nil` if it has not arrived.
        package var original: [UInt8]?

        package init(id: SpanID, parent: SpanID?, kind: Int, waiting: [UInt8]? = nil) {
            (self.id, self.parent, self.kind, self.waiting) = (id, parent, kind, waiting)
        }
    }

    package static let columns = "span, parent, kind, part, fact, waiting, uncaused, original"

    package static func span(_ row: Row) -> Span {
        var span = Span(
            id: row.spanID(0), parent: row.optionalSpanID(1), kind: row.int(2),
            waiting: row.optionalBytes(5))
        (span.part, span.fact, span.isUncaused) = (row.optionalInt(3), row.optionalInt(4), row.bool(6))
        span.original = row.optionalText(7).map { Array($0.utf8) }
        return span
    }

    package func find(_ id: SpanID, of source: Int64, in transaction: GUID) throws(WaybillError) -> Span? {
        try connection.statement("SELECT \(Self.columns) FROM spans WHERE guid = ? AND source = ? AND span = ?")
            .first(transaction, source, id, transform: Self.span)
    }

    package func waiting(of source: Int64, in transaction: GUID) throws(WaybillError) -> [Span] {
        try connection.statement(
            "SELECT \(Self.columns) FROM spans WHERE guid = ? AND source = ? AND waiting IS NOT NULL"
        ).rows(transaction, source, transform: Self.span)
    }

    /// Returns the spans that arrived before `wall`, oldest first.
    package func waiting(before wall: Int64, limit: Int) throws(WaybillError) -> [(transaction: GUID, source: Int64)] {
        try connection.statement(
            "SELECT DISTINCT guid, source FROM spans WHERE waiting IS NOT NULL AND received_us < ? ORDER BY received_us LIMIT ?"
        ).rows(wall, limit) { row in (row.guid(0), row.int(1)) }
    }

    package func waitingCount(limit: Int) throws(WaybillError) -> Int {
        try connection.integer("SELECT count(*) FROM (SELECT 1 FROM spans WHERE waiting IS NOT NULL LIMIT ?)", limit)
    }

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

    /// IDs of sources of the same service begin alike.
    package func isKnown(_ id: SpanID, besides source: Int64, in transaction: GUID) throws(WaybillError) -> Bool {
        try connection.integer(
            """
            SELECT EXISTS(SELECT 1 FROM spans x JOIN sources other ON other.id = x.source JOIN sources own ON own.id = ?2 \
            WHERE x.guid = ?1 AND x.span = ?3 AND x.kind != 0 AND x.source != ?2 \
            AND substr(other.uuid, 1, 8) = substr(own.uuid, 1, 8))
            """, transaction, source, id) != 0
    }

    package func key() throws(WaybillError) -> [UInt8]? { try connection.setting("span_key").map { Array($0.utf8) } }

    package func spans(of part: Int64, in source: Int64) throws(WaybillError) -> [Int64: Span] {
        var spans: [Int64: Span] = [:]
        try connection.statement("SELECT \(Self.columns) FROM spans WHERE source = ? AND part = ?")
            .forEachRow(source, part) { row in
                let span = Self.span(row)
                if let fact = span.fact { spans[fact] = span }
            }
        return spans
    }
}

extension SpanID: SQLValue {
    package func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        let bytes = withUnsafeBytes(of: rawValue.bigEndian) { Array($0) }
        return ColumnValue.blob(bytes).bind(to: statement, at: index)
    }
}

extension Row {
    /// `nil` for NULL, and for anything but 8 bytes.
    func optionalSpanID(_ column: Int32) -> SpanID? { optionalBytes(column).flatMap { SpanID(bytes: $0) } }

    func spanID(_ column: Int32) -> SpanID {
        optionalSpanID(column) ?? SpanID(FactID(source: GUID(high: 0, low: 0), sequence: 0))
    }
}

/// The exchanges that caused the parts of spans. A span's parent ID is the span ID of an exchange, or of a span that
/// became one.
package struct SpanCauses {
    private static let exchangeLimit = 10_000
    private static let clientKind = 3

    private let connection: Connection

    package init(_ connection: Connection) { self.connection = connection }

    func transactions(of share: TransactionSet.Share) throws(WaybillError) -> Set<GUID> {
        guard try connection.integer("SELECT EXISTS(SELECT 1 FROM spans WHERE uncaused = 1)") != 0 else { return [] }
        guard let source = try connection.sourceRow(share.source.id) else { return [] }
        var parts: Set<Int64> = []
        for fact in share.facts {
            switch fact.content {
            case .opened, .exchangeOpened: parts.insert(fact.part)
            case .event, .attributesSet, .closed, .exchangeClosed, .unknown: break
            }
        }
        return try PlacedParts(of: source.id, connection).transactions(of: parts)
    }

    /// Returns whether leading parts must be decided again. Call it once per batch.
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

    /// If two exchanges share a span ID, the lower fact ID wins.
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
            JOIN exchanges l ON l.source = p.source AND l.part = p.sequence \
            WHERE p.guid = ? AND l.role = 0 AND l.method IS NOT NULL LIMIT ?
            """
        ).forEachRow(transaction, Self.exchangeLimit) { row in
            let exchange = FactID(source: row.guid(0), sequence: row.int(1))
            note(exchange, as: SpanID(exchange))
        }
        // If a client's span is a part, its exchange follows the opening.
        let exchange = try connection.statement(
            """
            SELECT s.uuid, l.sequence FROM sources s JOIN exchanges l ON l.source = s.id AND l.part = ?2 AND l.role = 0 \
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

    /// Looks up each ID in each source, as the key requires, or scans the transaction if that is cheaper.
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
