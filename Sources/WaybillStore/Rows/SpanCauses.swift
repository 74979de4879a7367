package import WaybillCore

/// Finds the exchanges that caused the parts of spans: a span names its parent by an ID, which is an exchange's span ID,
/// or that of a span which has become one. Either may come first.
package struct SpanCauses {
    /// Exchanges of one transaction that are looked at for the cause of a part.
    private static let exchangeLimit = 10_000
    /// OTLP's `SPAN_KIND_CLIENT`.
    private static let clientKind = 3

    private let connection: Connection

    package init(_ connection: Connection) { self.connection = connection }

    /// Looks whether a set has brought what caused parts that are here.
    func find(among share: TransactionSet.Share) throws(WaybillError) {
        guard try connection.integer("SELECT EXISTS(SELECT 1 FROM spans WHERE uncaused = 1)") != 0 else { return }
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
        for transaction in transactions { try find(in: transaction) }
    }

    /// Looks for what caused the parts of a transaction, as far as that is not known.
    package func find(in transaction: GUID) throws(WaybillError) {
        let waiting = try connection.statement(
            "SELECT source, part, parent FROM spans WHERE guid = ? AND uncaused = 1 AND part IS NOT NULL AND parent IS NOT NULL"
        ).rows(transaction) { row in (source: row.int(0), part: row.int(1), parent: row.spanID(2)) }
        guard !waiting.isEmpty else { return }
        let exchanges = try exchanges(of: transaction, Set(waiting.map(\.parent)))
        var isAnyFound = false
        for part in waiting {
            guard let cause = exchanges[part.parent] else { continue }
            isAnyFound = true
            try connection.statement("UPDATE parts SET cause_source = ?, cause = ? WHERE source = ? AND sequence = ?")
                .run(cause.source, cause.sequence, part.source, part.part)
            try connection.statement(
                "UPDATE spans SET uncaused = 0 WHERE guid = ? AND source = ? AND part = ? AND uncaused = 1"
            ).run(transaction, part.source, part.part)
        }
        if isAnyFound { try Leaders(connection: connection).decide(transaction) }
    }

    /// Exchanges of clients by the IDs under which others name them. Of two under one ID the lesser one counts.
    package func exchanges(of transaction: GUID, _ wanted: Set<SpanID>) throws(WaybillError) -> [SpanID: Fact.ID] {
        var found: [SpanID: Fact.ID] = [:]
        func note(_ exchange: Fact.ID, as id: SpanID) {
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
            let exchange = Fact.ID(source: row.guid(0), sequence: row.int(1))
            note(exchange, as: SpanID(exchange))
        }
        // A client's span that stands for a part has its exchange behind the opening. By source, since the key has it before
        // the span: each is looked up, where otherwise all spans of the transaction were gone through for each.
        let spans = try connection.statement(
            """
            SELECT s.uuid, l.sequence FROM spans x JOIN sources s ON s.id = x.source \
            JOIN network_logs l ON l.source = x.source AND l.part = x.part AND l.role = 0 AND l.method IS NOT NULL \
            AND (l.sequence = x.fact OR x.kind = \(Self.clientKind) AND x.part = x.fact AND l.sequence = x.fact + 1) \
            WHERE x.guid = ?1 AND x.source IN (SELECT source FROM parts WHERE guid = ?1) AND x.span = ?2
            """)
        for id in wanted {
            try spans.forEachRow(transaction, id) { row in
                note(Fact.ID(source: row.guid(0), sequence: row.int(1)), as: id)
            }
        }
        return found
    }
}
