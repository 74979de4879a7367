package import WaybillCore

/// The rows of `retired`: facts that were received, and whose rows were taken away again to keep within limits.
///
/// They stay in `ranges`, so that they are known when they come again.
package struct RetiredRows {
    package let connection: Connection

    package init(connection: Connection) { self.connection = connection }

    private var table: RangeTable { RangeTable(name: "retired", connection: connection) }

    /// What is retired of a source: all of it, or the ranges that meet `windows` or lie beside them; nothing in a store
    /// from before there was any.
    package func sequences(of source: Int64, meeting windows: SequenceRanges? = nil) throws(WaybillError)
        -> SequenceRanges
    {
        guard try connection.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'retired'") != 0 else {
            return SequenceRanges()
        }
        return try table.sequences(of: source, meeting: windows)
    }

    /// Books them as retired.
    package func add(_ sequences: SequenceRanges, of source: Int64) throws(WaybillError) {
        let before = try self.sequences(of: source, meeting: sequences)
        try table.replace(before, with: before.union(sequences), of: source)
    }

    /// Books them as retired no longer.
    package func remove(_ sequences: SequenceRanges, of source: Int64) throws(WaybillError) {
        let before = try self.sequences(of: source, meeting: sequences)
        try table.replace(before, with: before.subtracting(sequences), of: source)
    }
}
