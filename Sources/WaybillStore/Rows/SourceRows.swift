package import WaybillCore

/// What the writer has to know of a source.
package struct SourceRow {
    package var id: Int64
    /// Recorded into this very store, rather than received.
    package var isOwn: Bool
    package var hasEnded: Bool
    package var recorded: Int64
    /// Rows that say what it has given up.
    package var droppedRowCount = 0
    /// How it ended, where that is known.
    package var endedBy: SourceEnd?
    /// Of a received one: the digest of the secret of who spoke for it first; nil: there was none.
    package var proofDigest: [UInt8]?
    /// When it was last heard of, in microseconds since 1970; `nil` for a source of this store.
    var heard: Int64?

    fileprivate init(_ row: Row) {
        (id, heard, hasEnded, recorded) = (row.int(0), row.optionalInt(1), row.bool(2), row.int(3))
        isOwn = heard == nil
        proofDigest = row.optionalBytes(4)
        endedBy = row.sourceEnd(5)
        droppedRowCount = row.int(6)
    }

    package init(id: Int64, isOwn: Bool, hasEnded: Bool, recorded: Int64, proofDigest: [UInt8]? = nil) {
        (self.id, self.isOwn, self.hasEnded, self.recorded) = (id, isOwn, hasEnded, recorded)
        self.proofDigest = proofDigest
    }
}

extension Row {
    /// How a source ended; nil where that is not known.
    package func sourceEnd(_ column: Int32) -> SourceEnd? { optionalText(column).flatMap { SourceEnd(name: $0) } }
}

/// The rows of `sources` and `clocks`.
package struct SourceRows {
    package let connection: Connection

    package init(connection: Connection) { self.connection = connection }

    /// The row of a source; nil where there is none.
    package func find(_ source: GUID) throws(WaybillError) -> SourceRow? {
        try connection.statement("\(Self.select) WHERE uuid = ?").first(source) { row in SourceRow(row) }
    }

    /// The row of that number; nil where there is none.
    package func find(_ id: Int64) throws(WaybillError) -> SourceRow? {
        try connection.statement("\(Self.select) WHERE id = ?").first(id) { row in SourceRow(row) }
    }

    private static let select =
        "SELECT id, heard_us, ended, recorded, proof_hash, ended_by, dropped_rows FROM sources"

    /// What sets of a source of this store show; nil where it was received.
    package func proof(of id: Int64) throws(WaybillError) -> IdentityProof? {
        try connection.statement("SELECT proof FROM sources WHERE id = ?").first(id) { row in
            row.optionalText(0).flatMap { IdentityProof($0) }
        } ?? nil
    }

    /// Removes a source, and every row that belongs to it.
    package func remove(_ id: Int64) throws(WaybillError) {
        for table in Tables.bySource { try connection.statement("DELETE FROM \(table) WHERE source = ?").run(id) }
        try connection.statement("DELETE FROM sources WHERE id = ?").run(id)
    }

    /// The number of the next source: SQLite's own choice, the greatest one and 1, or NULL, by which it chooses.
    ///
    /// A damaged store may have a number behind which there is none, or none that is read as it was written. Then it is
    /// the first that is free.
    private static let next = """
        (SELECT CASE WHEN max(id) >= \(Int32.max) THEN (SELECT min(free) FROM (SELECT 1 AS free UNION ALL SELECT id + 1 FROM sources \
        WHERE id BETWEEN 1 AND \(Int32.max) - 1) WHERE free NOT IN (SELECT id FROM sources)) END FROM sources)
        """

    /// Adds a source.
    ///
    /// - Parameters:
    ///   - proof: What it shows itself by: kept of a source of this store, else the digest of it.
    ///   - heard: When it was first heard of, in microseconds since 1970; nil for a source of this store.
    package func insert(_ source: RecordedSource, proof: IdentityProof?, heard: Int64?) throws(WaybillError)
        -> SourceRow
    {
        let digest = heard == nil ? nil : proof?.digest
        try connection.statement(
            """
            INSERT INTO sources(id, uuid, installation, app, app_version, device, os, os_version, attributes, heard_us, \
            proof, proof_hash) \
            VALUES (\(Self.next), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        ).run(
            source.id, source.installation, source.app, source.appVersion, source.device, source.os, source.osVersion,
            source.attributes.columnText, heard, heard == nil ? proof?.text : nil, digest.map(ColumnValue.blob))
        var row = SourceRow(
            id: connection.lastInsertedID, isOwn: heard == nil, hasEnded: false, recorded: 0, proofDigest: digest)
        row.heard = heard
        return row
    }

    /// Marks a source as ended: what it left open was interrupted.
    package func end(_ source: Int64) throws(WaybillError) {
        try connection.statement("UPDATE sources SET ended = 1 WHERE id = ?").run(source)
        try connection.statement(
            "UPDATE parts SET outcome = \(TransactionOutcome.interrupted.rawValue) WHERE source = ? AND closed IS NULL"
        ).run(
            source)
        try HeldParts(connection: connection).release(of: source)
    }

    /// Takes back that a source has ended, which others took for ended because it was silent.
    package func revive(_ source: Int64) throws(WaybillError) {
        try connection.statement("UPDATE sources SET ended = 0 WHERE id = ?").run(source)
        try connection.statement(
            "UPDATE parts SET outcome = \(TransactionOutcome.open.rawValue) WHERE source = ? AND closed IS NULL"
        ).run(
            source)
    }

    /// Keeps how a source ended; of two that were told, the same one in any order of arrival.
    package func note(_ end: SourceEnd, of source: Int64) throws(WaybillError) {
        try connection.statement("UPDATE sources SET ended_by = max(ifnull(ended_by, ''), ?) WHERE id = ?").run(
            end.name, source)
    }

    /// The collector has something to learn about an own source, apart from facts.
    ///
    /// - Parameter first: The first sequence that is dropped, or for another reason than before; nil: none is.
    package func announce(_ source: Int64, droppedFrom first: Int64? = nil) throws(WaybillError) {
        try connection.statement("UPDATE sources SET news = 1, told = min(told, ?) WHERE id = ? AND recorded > 0").run(
            (first ?? .max) - 1, source)
    }

    /// Has the next set report what was sampled away. A running source needs no set for that alone; a source that has
    /// ended does, because it may never have another one.
    func note(_ source: Int64, sampledFrom first: Int64) throws(WaybillError) {
        try connection.statement(
            "UPDATE sources SET told = min(told, ?), news = iif(news = 2 OR ended, 1, news) WHERE id = ?"
        ).run(first - 1, source)
    }

    /// Adds anchors, of which the first are kept, so many as a set may have; gives the earliest that was not known.
    package func add(_ clocks: [ClockAnchor], to source: Int64) throws(WaybillError) -> Int64? {
        // Of two offsets for one moment, which no source of ours sends, the same one stands in any order of arrival.
        let statement = try connection.statement(
            """
            INSERT INTO clocks(source, at_us, offset_us) VALUES (?, ?, ?) \
            ON CONFLICT(source, at_us) DO UPDATE SET offset_us = excluded.offset_us WHERE excluded.offset_us > offset_us
            """)
        var earliest: Int64?
        for clock in clocks {
            try statement.run(source, clock.atMicroseconds, clock.offsetMicroseconds)
            if connection.changeCount > 0 { earliest = min(earliest ?? .max, clock.atMicroseconds) }
        }
        guard let earliest else { return nil }
        let limit = Limits.envelopeItems
        if try connection.integer("SELECT count(*) FROM clocks WHERE source = ?", source) > limit {
            try connection.statement(
                """
                DELETE FROM clocks WHERE source = ?1 AND at_us >= \
                (SELECT at_us FROM clocks WHERE source = ?1 ORDER BY at_us LIMIT 1 OFFSET ?2)
                """
            ).run(source, limit)
        }
        return earliest
    }
}
