package import WaybillCore

/// Decides which part stands for a transaction in lists: the one that has `listed_us`.
///
/// The part that began it; without any, the joined part that began first. Where several say that they began it, one
/// whose source is named as its cause by a part that another source joined, and of these the least by (source,
/// sequence): anybody can say so who knows the ID, and who began it is the one who called others. So the rows do not
/// depend on the order of arrival.
package struct LeadingParts {
    private let connection: Connection

    package init(connection: Connection) { self.connection = connection }

    /// Whether any opened part of the transaction is there.
    func hasPart(_ transaction: GUID) throws(WaybillError) -> Bool {
        try connection.integer("SELECT EXISTS(SELECT 1 FROM parts WHERE guid = ?)", transaction) != 0
    }

    /// Decides again, after a part has come or a clock has changed. Looks at all parts of the transaction: call it once
    /// for all that comes together, not for each source.
    package func decide(_ transaction: GUID) throws(WaybillError) {
        let statement = try connection.statement(
            """
            SELECT p.source, p.sequence, p.joined, p.listed_us, s.uuid, p.cause_source, \(SQL.wall("p.at_us", source: "p.source")), s.heard_us \
            FROM parts p JOIN sources s ON s.id = p.source WHERE p.guid = ?
            """)
        let parts = try statement.rows(transaction) { row in
            Part(
                source: row.int(0), id: FactID(source: row.guid(4), sequence: row.int(1)), isJoined: row.bool(2),
                listed: row.optionalInt(3), cause: row.optionalGUID(5), begun: row.int(6), heard: row.optionalInt(7))
        }
        let callers = Set(parts.filter { $0.cause != $0.id.source }.compactMap(\.cause))
        guard let leader = parts.min(by: { Part.leads($0, $1, callers: callers) }) else { return }
        for part in parts {
            let listed = part.id == leader.id ? Self.listed(begun: part.begun, heard: part.heard) : nil
            guard listed != part.listed else { continue }
            try connection.statement("UPDATE parts SET listed_us = ? WHERE source = ? AND sequence = ?")
                .run(listed, part.source, part.id.sequence)
        }
    }

    /// A beginning that is further ahead of its arrival is not believed: clocks are wrong by minutes, and a time zone
    /// that was taken for UTC by less than a day.
    package static let farthestMicroseconds: Int64 = 86_400_000_000

    /// The time by which a transaction stands in lists: its beginning, or its arrival where the beginning lies more than
    /// a day behind that. Without this, who sends one with a wrong clock keeps it at the top of every list for years.
    package static func listed(begun: Int64, heard: Int64?) -> Int64 {
        heard.map { begun.subtracting($0) > farthestMicroseconds ? $0 : begun } ?? begun
    }

    /// Decides again for several transactions.
    package func decide(each transactions: some Sequence<GUID>) throws(WaybillError) {
        for transaction in transactions { try decide(transaction) }
    }

    /// The transactions whose beginning in a source depends on an anchor that was not known before.
    func transactions(behindAnchorAt microseconds: Int64, of source: Int64) throws(WaybillError) -> [GUID] {
        // Times before the first anchor go by the first.
        let isFirst = try connection.integer("SELECT min(at_us) FROM clocks WHERE source = ?", source) >= microseconds
        let statement = try connection.statement(
            "SELECT DISTINCT guid FROM parts WHERE source = ? AND guid IS NOT NULL AND at_us >= ?")
        return try statement.rows(source, isFirst ? Int64.min : microseconds) { row in row.guid(0) }
    }

    private struct Part {
        var source: Int64
        var id: FactID
        var isJoined: Bool
        var listed: Int64?
        /// The source whose exchange caused it, as it says.
        var cause: GUID?
        var begun: Int64
        /// When its source was last heard of, in microseconds since 1970; `nil` for a source of this store.
        var heard: Int64?

        /// - Parameter callers: The sources that other ones name as what caused their parts.
        static func leads(_ left: Part, _ right: Part, callers: Set<GUID>) -> Bool {
            guard left.isJoined == right.isJoined else { return !left.isJoined }
            if left.isJoined, left.begun != right.begun { return left.begun < right.begun }
            let (isLeftNamed, isRightNamed) = (callers.contains(left.id.source), callers.contains(right.id.source))
            if !left.isJoined, isLeftNamed != isRightNamed { return isLeftNamed }
            return (left.id.source, left.id.sequence) < (right.id.source, right.id.sequence)
        }
    }
}

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
