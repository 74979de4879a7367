package import WaybillCore

/// The sources, and what became of their facts.
extension StoreReader {
    /// All sources, oldest in this store first.
    package func sources() throws(WaybillError) -> [SourceRecord] {
        try read { () throws(WaybillError) in try sourceRecords() }
    }

    /// A page of sources, oldest in this store first.
    ///
    /// - Parameter cursor: ``Page/next`` of the page before; nil for the first.
    /// - Throws: `.format` for a cursor that no list gave.
    package func sources(limit: Int, after cursor: String?) throws(WaybillError) -> Page<SourceRecord> {
        let row = cursor.map { Int($0) ?? -1 } ?? 0
        guard row >= 0 else {
            throw WaybillError(.format, "The cursor is not one that a list gave. Leave it out to start with the oldest source.")
        }
        return try read { () throws(WaybillError) in
            // One more tells whether there is another page.
            let found = try records(after: row, limit: limit + 1)
            let shown = found.prefix(limit)
            return Page(rows: try counted(shown), next: found.count > limit ? shown.last.map { "\($0.row)" } : nil)
        }
    }

    /// All, within a read that sees one state of the store.
    func sourceRecords() throws(WaybillError) -> [SourceRecord] { try counted(records(after: 0, limit: -1)[...]) }

    /// Those behind a row of `sources`, without ledgers and gaps; a limit below 0 is none.
    private func records(after row: Int, limit: Int) throws(WaybillError) -> [(row: Int, record: SourceRecord)] {
        try connection.statement(
            """
            SELECT id, uuid, installation, app, app_version, device, os, os_version, attributes, \
            (SELECT at_us + offset_us FROM clocks WHERE source = id ORDER BY at_us LIMIT 1), heard_us, ended FROM sources \
            WHERE id > ? ORDER BY id LIMIT ?
            """
        ).rows(row, limit) { row in
            (
                row: row.int(0),
                record: SourceRecord(
                    id: row.guid(1), installation: row.optionalGUID(2), app: row.text(3), appVersion: row.text(4), device: row.text(5),
                    os: row.text(6), osVersion: row.text(7), attributes: Attributes(columnText: row.optionalText(8)),
                    startedMicroseconds: row.optionalInt(9), heardMicroseconds: row.optionalInt(10), hasEnded: row.bool(11),
                    ledger: Ledger(),
                    gaps: [])
            )
        }
    }

    /// With what became of their facts.
    private func counted(_ found: ArraySlice<(row: Int, record: SourceRecord)>) throws(WaybillError) -> [SourceRecord] {
        var records: [SourceRecord] = []
        for (row, record) in found {
            var record = record
            record.ledger = try Ledgers(connection: connection).ledger(of: row)
            if record.heardMicroseconds != nil { record.gaps = try gaps(of: row) }
            records.append(record)
        }
        return records
    }

    /// What lies between the received and the dropped.
    private func gaps(of source: Int) throws(WaybillError) -> [SourceRecord.Gap] {
        let rows = RangeRows(connection: connection)
        let booked = try rows.booked(of: source).union(try rows.dropped(of: source).sequences)
        guard let last = booked.ranges.last else { return [] }
        return SequenceRanges([1...last.upperBound]).subtracting(booked).ranges.map {
            SourceRecord.Gap(first: $0.lowerBound, last: $0.upperBound)
        }
    }
}
