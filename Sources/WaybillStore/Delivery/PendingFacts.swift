import WaybillCore

/// Reads an own source's facts by sequence, of the parts that are not settled.
///
/// Facts are clustered by part. The index of unsettled parts says which of them can have a fact in a range, so that a
/// batch costs what it holds, however much is pending behind it and however much is settled.
struct PendingFacts {
    let connection: Connection

    /// The facts of a range, in order of sequence; what has no row is missing.
    func facts(of source: Int64, in range: ClosedRange<Int64>) throws(WaybillError) -> [Fact] {
        var facts: [Fact] = []
        for (sql, fact) in Self.queries {
            try connection.statement(sql).forEachRow(source, range.lowerBound, range.upperBound) { row in
                facts.append(fact(row))
            }
        }
        return facts.sorted { $0.sequence < $1.sequence }
    }

    /// The first sequence behind `sequence` that has a row, of any part; nil where there is none. Looks at all of the
    /// source's rows.
    func first(of source: Int64, after sequence: Int64) throws(WaybillError) -> Int64? {
        try connection.statement(
            """
            SELECT min(sequence) FROM ( \
            SELECT sequence FROM parts WHERE source = ?1 AND sequence > ?2 AND guid IS NOT NULL \
            UNION ALL SELECT closed FROM parts WHERE source = ?1 AND closed > ?2 \
            UNION ALL SELECT sequence FROM events WHERE source = ?1 AND sequence > ?2 \
            UNION ALL SELECT sequence FROM network_logs WHERE source = ?1 AND sequence > ?2 AND method IS NOT NULL \
            UNION ALL SELECT closed FROM network_logs WHERE source = ?1 AND closed > ?2)
            """
        ).first(source, sequence) { row in row.optionalInt(0) } ?? nil
    }

    static let queries: [(String, @Sendable (Row) -> Fact)] = [
        (
            """
            SELECT \(FactRowReader.openedColumns) FROM parts p \
            WHERE p.source = ?1 AND p.sequence BETWEEN ?2 AND ?3 AND p.settled = 0 AND p.guid IS NOT NULL
            """, FactRowReader.opened
        ),
        (
            """
            SELECT \(FactRowReader.closedColumns) FROM parts p INDEXED BY parts_unsettled \
            WHERE p.source = ?1 AND p.sequence <= ?3 AND p.last >= ?2 AND p.settled = 0 AND p.closed BETWEEN ?2 AND ?3
            """, FactRowReader.closed
        ),
        (
            """
            SELECT \(FactRowReader.eventColumns) FROM parts p INDEXED BY parts_unsettled CROSS JOIN events e \
            ON e.source = p.source AND e.part = p.sequence AND e.after BETWEEN ?2 - p.sequence AND ?3 - p.sequence \
            WHERE p.source = ?1 AND p.sequence <= ?3 AND p.last >= ?2 AND p.settled = 0
            """, FactRowReader.event
        ),
        (
            """
            SELECT \(FactRowReader.exchangeOpenedColumns) FROM parts p INDEXED BY parts_unsettled CROSS JOIN network_logs l \
            ON l.source = p.source AND l.part = p.sequence AND l.sequence BETWEEN ?2 AND ?3 \
            WHERE p.source = ?1 AND p.sequence <= ?3 AND p.last >= ?2 AND p.settled = 0 AND l.method IS NOT NULL
            """, FactRowReader.exchangeOpened
        ),
        (
            """
            SELECT \(FactRowReader.exchangeClosedColumns) FROM network_logs l INDEXED BY network_logs_by_closing \
            WHERE l.source = ?1 AND l.closed BETWEEN ?2 AND ?3
            """, FactRowReader.exchangeClosed
        ),
    ]
}
