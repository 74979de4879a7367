package import WaybillCore
package import WaybillStore

/// What a list has to show anew.
extension StoreReader {
    /// Transactions of which facts came behind a position, and that pass a filter: those that are new, and those that
    /// have changed.
    ///
    /// - Parameters:
    ///   - position: ``RecordPage/position`` of the answer before; nil: there are no rows, and the page tells where
    ///     changes begin.
    ///   - cursor: ``RecordPage/next`` of the page before, with the same position.
    ///   - wall: Now, in microseconds since 1970: decides what has timed out. That something times out is no change.
    /// - Throws: `.format` for a position of another store, or for a cursor that no list gave.
    package func changes(
        after position: ExportCursor?, matching filter: TransactionFilter, limit: Int, after cursor: String?,
        now wall: Int64
    ) throws(WaybillError) -> RecordPage<TransactionSummary> {
        try read { () throws(WaybillError) in
            let scope: ExportScope = position.map { .after($0) } ?? .everything
            let selection = try ExportSelector(connection: connection).selection(scope)
            var page = RecordPage<TransactionSummary>(rows: [], next: nil)
            if position != nil {
                try collect(selection.shares)
                page = try transactions(matching: filter, limit: limit, after: cursor, now: wall, in: .changed)
            }
            page.position = selection.cursor.description
            return page
        }
    }

    /// Fills the temporary table `changed`.
    private func collect(_ shares: [ScannedShare]) throws(WaybillError) {
        try connection.execute(
            "CREATE TEMP TABLE IF NOT EXISTS changed(guid BLOB PRIMARY KEY) WITHOUT ROWID; DELETE FROM temp.changed")
        let collect = try connection.statement(
            """
            INSERT OR IGNORE INTO temp.changed SELECT p.guid FROM parts p \
            WHERE p.source = ?1 AND p.sequence <= ?3 AND p.last >= ?2 AND p.guid IS NOT NULL \
            AND (p.sequence >= ?2 OR p.closed BETWEEN ?2 AND ?3 \
            OR EXISTS(SELECT 1 FROM events e WHERE e.source = ?1 AND e.part = p.sequence \
            AND e.after BETWEEN ?2 - p.sequence AND ?3 - p.sequence) \
            OR EXISTS(SELECT 1 FROM network_logs l WHERE l.source = ?1 AND l.part = p.sequence \
            AND (l.sequence BETWEEN ?2 AND ?3 OR l.closed BETWEEN ?2 AND ?3)))
            """)
        for share in shares {
            for range in share.sequences?.ranges ?? [] {
                try collect.run(share.row, range.lowerBound, range.upperBound)
            }
        }
    }
}
