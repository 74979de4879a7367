import WaybillCore

/// A table of a source's sequences, as rows of first and last that do not meet: `ranges` without what is leased, or
/// `retired`.
///
/// Changed where something has changed: a source may have hundreds of thousands of rows, and each set brings few.
struct RangeTable {
    let name: String
    /// SQL behind `WHERE source = ?`; empty: every row counts.
    var condition = ""
    let connection: Connection

    /// All of a source, or at least the rows that meet `windows` or end right before one of them or begin right behind
    /// it.
    func sequences(of source: Int64, meeting windows: SequenceRanges?) throws(WaybillError) -> SequenceRanges {
        var found = SequenceRanges()
        guard let windows else {
            try connection.statement("SELECT first, last FROM \(name) WHERE source = ?\(condition) ORDER BY first")
                .forEachRow(source) { row in found.insert(row.int(0)...max(row.int(0), row.int(1))) }
            return found
        }
        let statement = try connection.statement(
            "SELECT first, last FROM \(name) WHERE source = ?1\(condition) AND \(Self.isNear(name)) ORDER BY first")
        for window in try Self.joined(windows, in: name, of: source, connection).ranges {
            try statement.forEachRow(source, window.lowerBound, window.upperBound) { row in
                found.insert(row.int(0)...max(row.int(0), row.int(1)))
            }
        }
        return found
    }

    /// One window in place of many where there are few rows between the first and the last: to look near one window
    /// takes as long as to read some rows in a row.
    static func joined(
        _ windows: SequenceRanges, in table: String, of source: Int64, _ connection: Connection
    ) throws(WaybillError) -> SequenceRanges {
        let limit = 4 * windows.ranges.count
        guard limit > 32, let first = windows.ranges.first, let last = windows.ranges.last else { return windows }
        let count = try connection.integer(
            "SELECT count(*) FROM (SELECT 1 FROM \(table) WHERE source = ? AND first BETWEEN ? AND ? LIMIT ?)", source,
            first.lowerBound, last.upperBound, limit)
        return count < limit ? SequenceRanges([first.lowerBound...last.upperBound]) : windows
    }

    /// Makes the rows say `after` where they said `before`.
    func replace(_ before: SequenceRanges, with after: SequenceRanges, of source: Int64) throws(WaybillError) {
        let starts = Set(after.ranges.map(\.lowerBound))
        for range in before.ranges where !starts.contains(range.lowerBound) {
            try connection.statement("DELETE FROM \(name) WHERE source = ? AND first = ?").run(
                source, range.lowerBound)
        }
        let old = Set(before.ranges)
        let insertion = try connection.statement(
            """
            INSERT INTO \(name)(source, first, last) VALUES (?, ?, ?) \
            ON CONFLICT(source, first) DO UPDATE SET last = excluded.last
            """)
        for range in after.ranges where !old.contains(range) {
            try insertion.run(source, range.lowerBound, range.upperBound)
        }
    }

    /// Whether a row of source `?1` meets `?2` to `?3` or lies beside it.
    ///
    /// Rows do not meet, so that of those that begin before only the last one can reach it.
    static func isNear(_ table: String) -> String {
        """
        first <= ?3 + 1 AND first >= ifnull((SELECT max(first) FROM \(table) WHERE source = ?1 AND first < ?2), ?2)
        """
    }
}
