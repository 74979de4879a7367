package import WaybillCore

/// Decides which part stands for a transaction in lists: the one that has `listed_us`.
///
/// The part that began it; without any, the joined part that began first. Where several say that they began it, one
/// whose source is named as its cause by a part that another source joined, and of these the least by (source,
/// sequence): anybody can say so who knows the ID, and who began it is the one who called others. So the rows do not
/// depend on the order of arrival.
package struct Leaders {
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
                source: row.int(0), id: Fact.ID(source: row.guid(4), sequence: row.int(1)), isJoined: row.bool(2),
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
        var id: Fact.ID
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
