package import WaybillCore

/// The collector's verdicts are booked.
extension Store {
    /// Settles the facts of a set: those that were rejected go into quarantine with the reason, all others are
    /// delivered.
    ///
    /// - Parameter wall: Now, in microseconds since 1970.
    /// - Returns: false when the lease is gone, because it expired or its facts were erased: then nothing is booked,
    ///   and the same facts go out again.
    package func settle(_ set: GUID, rejections: [Rejection], at wall: Int64) throws(WaybillError) -> Bool {
        try write { () throws(WaybillError) in
            guard try connection.integer("SELECT EXISTS(SELECT 1 FROM leases WHERE set_id = ?)", set) != 0 else {
                return false
            }
            let claimed = try connection.statement(
                "SELECT r.source, s.uuid, s.recorded, r.first, r.last FROM ranges r JOIN sources s ON s.id = r.source WHERE r.lease = ?"
            ).rows(set) { row in
                (id: row.int(0), source: row.guid(1), recorded: row.int(2), range: row.int(3)...row.int(4))
            }
            let byReason = Dictionary(grouping: rejections, by: \.source)
            for (id, ranges) in Dictionary(grouping: claimed, by: \.id) {
                guard let source = ranges.first else { continue }
                try settle(
                    SequenceRanges(ranges.lazy.map(\.range)), of: id, recorded: source.recorded,
                    rejections: byReason[source.source] ?? [],
                    at: wall, in: set)
            }
            try RangeRows(connection: connection).confirmTold()
            try connection.statement("DELETE FROM leases WHERE set_id = ?").run(set)
            return true
        }
    }

    private func settle(
        _ claimed: SequenceRanges, of source: Int64, recorded: Int64, rejections: [Rejection], at wall: Int64,
        in set: GUID
    ) throws(WaybillError) {
        var quarantined: Set<Int64> = []
        for rejection in rejections {
            // A fact whose sequence the collector could not read is known by its place in the list, which was in order
            // of sequence.
            guard let sequence = rejection.sequence ?? claimed.element(at: Int64(rejection.index)),
                claimed.contains(sequence)
            else { continue }
            try connection.statement(
                """
                INSERT INTO quarantine(source, sequence, reason, at_us) VALUES (?, ?, ?, ?) \
                ON CONFLICT(source, sequence) DO UPDATE SET reason = excluded.reason, at_us = excluded.at_us
                """
            ).run(source, sequence, rejection.reason, wall)
            quarantined.insert(sequence)
        }
        try connection.statement("UPDATE sources SET delivered = delivered + ? WHERE id = ?").run(
            claimed.count - Int64(quarantined.count), source)
        try connection.statement("DELETE FROM ranges WHERE source = ? AND lease = ?").run(source, set)
        let rows = RangeRows(connection: connection)
        let before = try rows.booked(of: source)
        try rows.replace(before, with: before.union(claimed), of: source)
        try rows.settleParts(of: source, recorded: recorded)
    }
}
