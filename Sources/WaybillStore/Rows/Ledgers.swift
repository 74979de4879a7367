package import WaybillCore

/// Draws up the ledger of a source.
package struct Ledgers {
    package let connection: Connection

    package init(connection: Connection) { self.connection = connection }

    /// Counted from two sides: what is settled or received by its ranges, what was delivered by the counter that each
    /// verdict is booked in.
    package func ledger(of source: Int64) throws(WaybillError) -> Ledger {
        let ranges = RangeRows(connection: connection)
        let counters = try connection.statement(
            "SELECT recorded, refused, delivered, (SELECT count(*) FROM quarantine WHERE source = id) FROM sources WHERE id = ?"
        ).first(source) { row in
            Ledger(recorded: row.count(0), delivered: row.count(2), quarantined: row.count(3), refused: row.count(1))
        }
        guard var ledger = counters else { return Ledger() }
        ledger.pending = ledger.recorded - (try ranges.bookedCount(of: source))
        for (reason, count) in try ranges.droppedCounts(of: source) {
            ledger.dropped[reason] = count
            ledger.pending -= count
        }
        ledger.pending = max(0, ledger.pending)
        return ledger
    }
}

extension Row {
    /// A number of facts: in a file of somebody else's it may be any, and what is added up of such must not overflow.
    func count(_ column: Int32) -> Int64 { min(max(int(column), 0), Limits.recordedFacts) }
}
