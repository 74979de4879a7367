package import WaybillCore
package import WaybillStore

/// What came behind a cursor.
package struct ArrivedRanges {
    let connection: Connection

    package init(connection: Connection) { self.connection = connection }

    /// Sequences by source, of which no arrival that the cursor includes has any: where a set was sent to two processes
    /// at once, both say that it arrived.
    ///
    /// - Parameter source: Of one only; nil: of all.
    package func ranges(behind cursor: ExportCursor, of source: Int64? = nil) throws(WaybillError)
        -> [Int64: SequenceRanges]
    {
        var new: [Int64: SequenceRanges] = [:]
        var old: [Int64: SequenceRanges] = [:]
        try connection.statement(
            "SELECT id, source, first, last FROM arrivals WHERE id > ?1 AND (?2 IS NULL OR source = ?2) ORDER BY id"
        ).forEachRow(cursor.arrival, source) { row in
            let range = row.int(2)...max(row.int(2), row.int(3) as Int64)
            if cursor.includes(row.int(0)) {
                old[row.int(1), default: SequenceRanges()].insert(range)
            } else {
                new[row.int(1), default: SequenceRanges()].insert(range)
            }
        }
        for (source, known) in old { new[source] = new[source]?.subtracting(known) }
        return new.filter { !$0.value.isEmpty }
    }
}
