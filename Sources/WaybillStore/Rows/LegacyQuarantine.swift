package import WaybillCore

/// The rows of `legacy_quarantine`: they are kept here, since the senders delete what was taken, and send without end
/// what was not.
package struct LegacyQuarantine {
    package let connection: Connection

    package init(connection: Connection) { self.connection = connection }

    /// Rows that are kept; the latest.
    package static let limit = 10_000
    /// Characters that are kept of one.
    package static let lengthLimit = 65_536

    /// Keeps one, which is redacted already.
    package func add(_ quarantined: LegacyQuarantined) throws(WaybillError) {
        try connection.statement("INSERT INTO legacy_quarantine(received_us, guid, reason, json) VALUES (?, ?, ?, ?)")
            .run(
                quarantined.receivedMicroseconds, quarantined.transaction, quarantined.reason,
                quarantined.json.cut(to: Self.lengthLimit) ?? quarantined.json)
        try connection.statement(
            "DELETE FROM legacy_quarantine WHERE id <= (SELECT max(id) FROM legacy_quarantine) - ?"
        ).run(Self.limit)
    }

    package func erase(_ transactions: [GUID]) throws(WaybillError) {
        let statement = try connection.statement("DELETE FROM legacy_quarantine WHERE guid = ?")
        for id in transactions { try statement.run(id) }
    }

    /// What was received before a time.
    package func erase(before wall: Int64) throws(WaybillError) {
        try connection.statement("DELETE FROM legacy_quarantine WHERE received_us < ?").run(wall)
    }
}

extension StoreReader {
    /// What is in quarantine of sets of version 0.0.1, the latest first; and how much there is in all.
    package func legacyQuarantine(limit: Int) throws(WaybillError) -> (rows: [LegacyQuarantined], count: Int) {
        // A store that was written by an older version has no such table.
        guard try connection.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'legacy_quarantine'") > 0 else {
            return ([], 0)
        }
        let rows = try connection.statement(
            "SELECT guid, reason, json, received_us FROM legacy_quarantine ORDER BY id DESC LIMIT ?"
        )
        .rows(limit) { row in
            LegacyQuarantined(
                transaction: row.optionalGUID(0), reason: row.text(1), json: row.text(2),
                receivedMicroseconds: row.int(3))
        }
        return (rows, try connection.integer("SELECT count(*) FROM legacy_quarantine"))
    }
}
