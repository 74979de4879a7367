package import WaybillCore

/// The choice of the part that represents a transaction in lists, and has `listed_us`.
///
/// The part that began the transaction leads, or else the first joined part. If several claim to have begun it, one
/// named as the cause of another source's part leads. The lowest (source, sequence) breaks ties, whatever the order of
/// arrival.
extension Connection {
    func hasPart(of transaction: GUID) throws(WaybillError) -> Bool {
        try integer("SELECT EXISTS(SELECT 1 FROM parts WHERE guid = ?)", transaction) != 0
    }

    /// Reads all parts, so call it once per batch after a part arrived or a clock changed.
    package func decideLeader(of transaction: GUID) throws(WaybillError) {
        let parts = try statement(
            """
            SELECT p.source, p.sequence, p.joined, p.listed_us, s.uuid, p.cause_source, \(SQL.wall("p.at_us", source: "p.source")), s.heard_us \
            FROM parts p JOIN sources s ON s.id = p.source WHERE p.guid = ?
            """
        ).rows(transaction) { row in
            LeaderCandidate(
                source: row.int(0), id: FactID(source: row.guid(4), sequence: row.int(1)), isJoined: row.bool(2),
                listed: row.optionalInt(3), cause: row.optionalGUID(5), begun: row.int(6), heard: row.optionalInt(7))
        }
        let callers = Set(parts.filter { $0.cause != $0.id.source }.compactMap(\.cause))
        guard let leader = parts.min(by: { LeaderCandidate.leads($0, $1, callers: callers) }) else { return }
        for part in parts {
            let listed = part.id == leader.id ? LeadingParts.listed(begun: part.begun, heard: part.heard) : nil
            guard listed != part.listed else { continue }
            try statement("UPDATE parts SET listed_us = ? WHERE source = ? AND sequence = ?")
                .run(listed, part.source, part.id.sequence)
        }
    }

    package func decideLeaders(of transactions: some Sequence<GUID>) throws(WaybillError) {
        for transaction in transactions { try decideLeader(of: transaction) }
    }

    func transactions(behindAnchorAt microseconds: Int64, of source: Int64) throws(WaybillError) -> [GUID] {
        // The first anchor also dates earlier times.
        let isFirst = try integer("SELECT min(at_us) FROM clocks WHERE source = ?", source) >= microseconds
        return try statement(
            "SELECT DISTINCT guid FROM parts WHERE source = ? AND guid IS NOT NULL AND at_us >= ?"
        ).rows(source, isFirst ? Int64.min : microseconds) { row in row.guid(0) }
    }
}

package enum LeadingParts {
    /// Times further ahead of their arrival are not trusted: clocks err by minutes, and time zones by less than a day.
    package static let farthestMicroseconds: Int64 = 86_400_000_000

    /// Returns the beginning, or the arrival if the beginning is over a day later. Otherwise, a wrong clock would keep
    /// a transaction at the top of lists for years.
    package static func listed(begun: Int64, heard: Int64?) -> Int64 {
        heard.map { begun.subtracting($0) > farthestMicroseconds ? $0 : begun } ?? begun
    }
}

private struct LeaderCandidate {
    var source: Int64
    var id: FactID
    var isJoined: Bool
    var listed: Int64?
    var cause: GUID?
    var begun: Int64
    var heard: Int64?

    static func leads(_ left: LeaderCandidate, _ right: LeaderCandidate, callers: Set<GUID>) -> Bool {
        guard left.isJoined == right.isJoined else { return !left.isJoined }
        if left.isJoined, left.begun != right.begun { return left.begun < right.begun }
        let (isLeftNamed, isRightNamed) = (callers.contains(left.id.source), callers.contains(right.id.source))
        if !left.isJoined, isLeftNamed != isRightNamed { return isLeftNamed }
        return (left.id.source, left.id.sequence) < (right.id.source, right.id.sequence)
    }
}

/// Own parts that sampling did not choose, whose facts are not delivered until their end decides.
extension Connection {
    package func heldCount() throws(WaybillError) -> Int64 {
        let sources = try statement("SELECT DISTINCT source FROM parts INDEXED BY parts_held WHERE held = 1")
        var count: Int64 = 0
        for source in try sources.rows(transform: { row in row.int(0) }) {
            count += try heldSequences(of: source).count
        }
        return count
    }

    /// Releases parts that their end selects, and books all others as sampled. Their rows stay.
    func decideHeldParts(of source: Int64) throws(WaybillError) {
        try statement(Self.keepHeldParts).run(source)
        let dropped = try heldSequences(of: source, "p.held = 1 AND p.closed IS NOT NULL")
        guard let first = dropped.ranges.first?.lowerBound else { return }
        try statement(
            "UPDATE parts INDEXED BY parts_held SET held = 0, settled = 1 WHERE source = ? AND held = 1 AND closed IS NOT NULL"
        ).run(source)
        try bookDropped(dropped.dropped(.sampled), except: SequenceRanges(), of: source)
        try note(source, sampledFrom: first)
    }

    func releaseHeldParts(of source: Int64) throws(WaybillError) {
        try statement("UPDATE parts INDEXED BY parts_held SET held = 0 WHERE source = ? AND held = 1").run(source)
    }

    /// Releases parts that got no fact for as long as their timeout.
    func releaseTimedOutParts(at wall: Int64) throws(WaybillError) {
        try statement(
            "UPDATE parts SET held = 0 WHERE held = 1 AND \(SQL.wall("last_at_us", source: "parts.source")) + timeout_us < ?"
        ).run(wall)
    }

    private static let keepHeldParts = """
        UPDATE parts INDEXED BY parts_held SET held = 0 WHERE source = ? AND held = 1 AND closed IS NOT NULL \
        AND (outcome NOT IN (\(TransactionOutcome.succeeded.rawValue), \(TransactionOutcome.cancelled.rawValue)) \
        OR ifnull(closed_at_us - at_us > slow_us, 0))
        """

    /// The plus stops SQLite from reading every closed exchange of the source for each part.
    func heldSequences(of source: Int64, _ condition: String = "p.held = 1") throws(WaybillError) -> SequenceRanges {
        let parts = "FROM parts p INDEXED BY parts_held"
        let these = "WHERE p.source = ?1 AND \(condition)"
        return SequenceRanges(
            each: try statement(
                """
                SELECT p.sequence \(parts) \(these) \
                UNION ALL SELECT p.closed \(parts) \(these) AND p.closed IS NOT NULL \
                UNION ALL SELECT e.sequence \(parts) CROSS JOIN events e ON e.source = p.source AND e.part = p.sequence \(these) \
                UNION ALL SELECT l.sequence \(parts) CROSS JOIN exchanges l ON l.source = p.source AND l.part = p.sequence \
                \(these) AND l.method IS NOT NULL \
                UNION ALL SELECT l.closed \(parts) CROSS JOIN exchanges l ON l.source = p.source AND l.part = p.sequence \
                \(these) AND +l.closed IS NOT NULL
                """
            ).rows(source) { row in row.int(0) })
    }
}
