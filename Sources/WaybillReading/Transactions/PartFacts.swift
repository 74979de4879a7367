package import WaybillCore
package import WaybillStore

/// Reads everything that was recorded of one part.
package struct PartFacts {
    let connection: Connection

    package init(connection: Connection) { self.connection = connection }

    /// In order of sequence; what has not arrived is missing.
    package func facts(of part: Int64, in source: Int64) throws(WaybillError) -> [Fact] {
        var facts: [Fact] = []
        for (sql, fact) in Self.queries {
            try connection.statement(sql).forEachRow(source, part) { row in facts.append(fact(row)) }
        }
        return facts.sorted { $0.sequence < $1.sequence }
    }

    private static let queries: [(String, @Sendable (Row) -> Fact)] = [
        (
            "SELECT \(FactRowReader.openedColumns) FROM parts p WHERE p.source = ? AND p.sequence = ? AND p.guid IS NOT NULL",
            FactRowReader.opened
        ),
        (
            "SELECT \(FactRowReader.closedColumns) FROM parts p WHERE p.source = ? AND p.sequence = ? AND p.closed IS NOT NULL",
            FactRowReader.closed
        ),
        ("SELECT \(FactRowReader.eventColumns) FROM events e WHERE e.source = ? AND e.part = ?", FactRowReader.event),
        (
            "SELECT \(FactRowReader.exchangeOpenedColumns) FROM network_logs l WHERE l.source = ? AND l.part = ? AND l.method IS NOT NULL",
            FactRowReader.exchangeOpened
        ),
        (
            "SELECT \(FactRowReader.exchangeClosedColumns) FROM network_logs l WHERE l.source = ? AND l.part = ? AND l.closed IS NOT NULL",
            FactRowReader.exchangeClosed
        ),
    ]
}
