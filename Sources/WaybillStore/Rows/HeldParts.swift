package import WaybillCore

/// Parts of own sources that sampling did not choose: their facts are recorded like any other, and held back from
/// delivery until their end says whether they go out or are dropped.
///
/// `parts.held` says so, and nothing else: it is written and decided on together with the facts, so that a process may
/// be killed at any time. Of most sources nothing is held, and a look at the index says so.
package struct HeldParts {
    let connection: Connection

    package init(connection: Connection) { self.connection = connection }

    /// Facts of a source that no set may have yet.
    func sequences(of source: Int64) throws(WaybillError) -> SequenceRanges { try sequences(of: source, "p.held = 1") }

    /// Facts that are held, in all own sources.
    package func count() throws(WaybillError) -> Int64 {
        // A store of an older version holds nothing.
        guard connection.absentColumns.isEmpty else { return 0 }
        let sources = try connection.statement("SELECT DISTINCT source FROM parts INDEXED BY parts_held WHERE held = 1")
        var count: Int64 = 0
        for source in try sources.rows(transform: { row in row.int(0) }) { count += try sequences(of: source).count }
        return count
    }

    /// Whether a part still has its row.
    func isThere(_ part: Int64, of source: Int64) throws(WaybillError) -> Bool {
        try connection.statement("SELECT 1 FROM parts WHERE source = ? AND sequence = ? AND guid IS NOT NULL").first(
            source, part, transform: { _ in true }) ?? false
    }

    /// Decides on those that have been closed: frees what is kept for its end, and books all others as sampled. Their
    /// rows stay, for those who look at this very store, until retention takes them.
    func decide(of source: Int64) throws(WaybillError) {
        try connection.statement(Self.keep).run(source)
        let dropped = try sequences(of: source, "p.held = 1 AND p.closed IS NOT NULL")
        guard let first = dropped.ranges.first?.lowerBound else { return }
        try connection.statement(
            "UPDATE parts INDEXED BY parts_held SET held = 0, settled = 1 WHERE source = ? AND held = 1 AND closed IS NOT NULL"
        ).run(source)
        try RangeRows(connection: connection).drop(dropped.dropped(.sampled), except: SequenceRanges(), of: source)
        try SourceRows(connection: connection).note(source, sampledFrom: first)
    }

    /// Frees all of a source that has ended: what was interrupted is delivered.
    func release(of source: Int64) throws(WaybillError) {
        try connection.statement("UPDATE parts INDEXED BY parts_held SET held = 0 WHERE source = ? AND held = 1").run(
            source)
    }

    /// Frees those of which nothing was recorded for their timeout.
    ///
    /// - Parameter wall: Now, in microseconds since 1970.
    func releaseTimedOut(at wall: Int64) throws(WaybillError) {
        try connection.statement(
            "UPDATE parts SET held = 0 WHERE held = 1 AND \(SQL.wall("last_at_us", source: "parts.source")) + timeout_us < ?"
        ).run(wall)
    }

    /// As `Fact.Sampling` has it.
    private static let keep = """
        UPDATE parts INDEXED BY parts_held SET held = 0 WHERE source = ? AND held = 1 AND closed IS NOT NULL \
        AND (outcome NOT IN (\(TransactionOutcome.succeeded.rawValue), \(TransactionOutcome.canceled.rawValue)) \
        OR ifnull(closed_at_us - at_us > slow_us, 0))
        """

    /// The plus keeps SQLite from looking at every exchange of the source that has ended, for each part.
    private func sequences(of source: Int64, _ condition: String) throws(WaybillError) -> SequenceRanges {
        let parts = "FROM parts p INDEXED BY parts_held"
        let these = "WHERE p.source = ?1 AND \(condition)"
        return SequenceRanges(
            each: try connection.statement(
                """
                SELECT p.sequence \(parts) \(these) \
                UNION ALL SELECT p.closed \(parts) \(these) AND p.closed IS NOT NULL \
                UNION ALL SELECT e.sequence \(parts) CROSS JOIN events e ON e.source = p.source AND e.part = p.sequence \(these) \
                UNION ALL SELECT l.sequence \(parts) CROSS JOIN network_logs l ON l.source = p.source AND l.part = p.sequence \
                \(these) AND l.method IS NOT NULL \
                UNION ALL SELECT l.closed \(parts) CROSS JOIN network_logs l ON l.source = p.source AND l.part = p.sequence \
                \(these) AND +l.closed IS NOT NULL
                """
            ).rows(source) { row in row.int(0) })
    }
}
