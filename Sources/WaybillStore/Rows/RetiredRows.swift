package import WaybillCore

/// The rows of `retired`: facts that were received, and whose rows were taken away again to keep within limits.
///
/// They stay in `ranges`, so that they are known when they come again.
package struct RetiredRows {
    package let connection: Connection

    package init(connection: Connection) { self.connection = connection }

    /// What is retired of a source; nothing in a store from before there was any.
    package func sequences(of source: Int) throws(WaybillError) -> SequenceRanges {
        guard try connection.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'retired'") != 0 else {
            return SequenceRanges()
        }
        return SequenceRanges(
            try connection.statement("SELECT first, last FROM retired WHERE source = ? ORDER BY first").rows(source) {
                row in
                row.int(0)...max(row.int(0), row.int(1))
            })
    }

    /// Makes them these.
    package func replace(with sequences: SequenceRanges, of source: Int) throws(WaybillError) {
        try connection.statement("DELETE FROM retired WHERE source = ?").run(source)
        let statement = try connection.statement("INSERT INTO retired(source, first, last) VALUES (?, ?, ?)")
        for range in sequences.ranges { try statement.run(source, range.lowerBound, range.upperBound) }
    }
}
