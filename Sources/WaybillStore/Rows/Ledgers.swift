package import WaybillCore

/// Draws up the ledger of a source.
package struct Ledgers {
    package let connection: Connection

    package init(connection: Connection) { self.connection = connection }

    /// Counted from two sides: what is settled or received by its ranges, what was delivered by the counter that each
    /// verdict is booked in.
    package func ledger(of source: Int) throws(WaybillError) -> Ledger {
        let ranges = RangeRows(connection: connection)
        let counters = try connection.statement(
            "SELECT recorded, refused, delivered, (SELECT count(*) FROM quarantine WHERE source = id) FROM sources WHERE id = ?"
        ).first(source) { row in
            Ledger(recorded: row.int(0), delivered: row.int(2), quarantined: row.int(3), refused: row.int(1))
        }
        guard var ledger = counters else { return Ledger() }
        let dropped = try ranges.dropped(of: source)
        for range in dropped { ledger.dropped[range.reason.rawValue, default: 0] += range.last - range.first + 1 }
        let booked = try ranges.booked(of: source).union(dropped.sequences)
        ledger.pending = max(0, ledger.recorded - booked.count)
        return ledger
    }
}
