package import WaybillCore

package struct SourceRow {
    package var id: Int64
    package var hasEnded: Bool
    package var recorded: Int64
    package var droppedRowCount = 0
    package var endedBy: SourceEnd?
    /// For a received source, the digest of the first sender's secret; `nil` if it sent none.
    package var proofDigest: [UInt8]?
    /// When it last sent a set, in microseconds since 1970; `nil` for an own source.
    var heard: Int64?

    package var isOwn: Bool { heard == nil }

    static let columns = "id, ended, recorded, dropped_rows, ended_by, proof_hash, heard_us"
}

extension SourceRow {
    init(_ row: Row) {
        self.init(
            id: row.int(0), hasEnded: row.bool(1), recorded: row.int(2), droppedRowCount: row.int(3),
            endedBy: row.sourceEnd(4), proofDigest: row.optionalBytes(5), heard: row.optionalInt(6))
    }
}

extension Row {
    package func sourceEnd(_ column: Int32) -> SourceEnd? { optionalText(column).flatMap { SourceEnd(name: $0) } }
}

extension Connection {
    package func sourceRow(_ source: GUID) throws(WaybillError) -> SourceRow? {
        try statement("SELECT \(SourceRow.columns) FROM sources WHERE uuid = ?").first(source) { row in
            SourceRow(row)
        }
    }

    package func sourceRow(_ id: Int64) throws(WaybillError) -> SourceRow? {
        try statement("SELECT \(SourceRow.columns) FROM sources WHERE id = ?").first(id) { row in
            SourceRow(row)
        }
    }

    /// `nil` for a received source.
    package func sourceProof(of id: Int64) throws(WaybillError) -> IdentityProof? {
        try statement("SELECT proof FROM sources WHERE id = ?").first(id) { row in
            row.optionalText(0).flatMap { IdentityProof($0) }
        } ?? nil
    }

    package func removeSource(_ id: Int64) throws(WaybillError) {
        for table in Tables.bySource { try statement("DELETE FROM \(table) WHERE source = ?").run(id) }
        try statement("DELETE FROM sources WHERE id = ?").run(id)
    }

    /// SQL for the next ID. NULL lets SQLite choose, unless a damaged store has very high IDs.
    private static let next = """
        (SELECT CASE WHEN max(id) >= \(Int32.max) THEN (SELECT min(free) FROM (SELECT 1 AS free UNION ALL SELECT id + 1 FROM sources \
        WHERE id BETWEEN 1 AND \(Int32.max) - 1) WHERE free NOT IN (SELECT id FROM sources)) END FROM sources)
        """

    /// Stores the proof of an own source, or the digest of a received one; `heard` is `nil` for an own source.
    package func insertSource(_ source: SourceIdentity, proof: IdentityProof?, heard: Int64?) throws(WaybillError)
        -> SourceRow
    {
        let digest = heard == nil ? nil : proof?.digest
        try statement(
            """
            INSERT INTO sources(id, \(SourceIdentity.columns), heard_us, proof, proof_hash) \
            VALUES (\(Self.next), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        ).run(
            source.id, source.installation, source.app, source.appVersion, source.device, source.os, source.osVersion,
            source.attributes.columnText, heard, heard == nil ? proof?.text : nil, digest.map(ColumnValue.blob))
        return SourceRow(id: lastInsertedID, hasEnded: false, recorded: 0, proofDigest: digest, heard: heard)
    }

    package func endSource(_ source: Int64) throws(WaybillError) {
        try set(ended: true, .interrupted, of: source)
        try releaseHeldParts(of: source)
    }

    /// Reopens a silent source that was marked as ended.
    package func reviveSource(_ source: Int64) throws(WaybillError) { try set(ended: false, .open, of: source) }

    private func set(ended: Bool, _ outcome: TransactionOutcome, of source: Int64) throws(WaybillError) {
        try statement("UPDATE sources SET ended = ? WHERE id = ?").run(ended, source)
        try statement("UPDATE parts SET outcome = ? WHERE source = ? AND closed IS NULL").run(outcome.rawValue, source)
    }

    /// The order of two reports doesn't matter.
    package func note(_ end: SourceEnd, of source: Int64) throws(WaybillError) {
        try statement("UPDATE sources SET ended_by = max(ifnull(ended_by, ''), ?) WHERE id = ?").run(end.name, source)
    }

    /// Marks news for the collector. `first` is the first sequence that was dropped or got another reason.
    package func announceNews(of source: Int64, droppedFrom first: Int64? = nil) throws(WaybillError) {
        try statement("UPDATE sources SET news = 1, told = min(told, ?) WHERE id = ? AND recorded > 0").run(
            (first ?? .max) - 1, source)
    }

    /// Adds sampled facts to the next set. Only an ended source gets a set for them alone, because it may have no
    /// other.
    func note(_ source: Int64, sampledFrom first: Int64) throws(WaybillError) {
        try statement(
            "UPDATE sources SET told = min(told, ?), news = iif(news = 2 OR ended, 1, news) WHERE id = ?"
        ).run(first - 1, source)
    }

    package func add(_ clocks: [ClockAnchor], to source: Int64) throws(WaybillError) -> Int64? {
        // The greater of two offsets for one moment wins, whatever the order of arrival; our recorders send only one.
        let insertion = try statement(
            """
            INSERT INTO clocks(source, at_us, offset_us) VALUES (?, ?, ?) \
            ON CONFLICT(source, at_us) DO UPDATE SET offset_us = excluded.offset_us WHERE excluded.offset_us > offset_us
            """)
        var earliest: Int64?
        for clock in clocks {
            try insertion.run(source, clock.atMicroseconds, clock.offsetMicroseconds)
            if changeCount > 0 { earliest = min(earliest ?? .max, clock.atMicroseconds) }
        }
        guard let earliest else { return nil }
        let limit = Limits.envelopeItems
        if try integer("SELECT count(*) FROM clocks WHERE source = ?", source) > limit {
            try statement(
                """
                DELETE FROM clocks WHERE source = ?1 AND at_us >= \
                (SELECT at_us FROM clocks WHERE source = ?1 ORDER BY at_us LIMIT 1 OFFSET ?2)
                """
            ).run(source, limit)
        }
        return earliest
    }
}

/// The installation of this store, and those of received sources.
extension Connection {
    package func registerInstallation(_ installation: GUID, proof: IdentityProof) throws(WaybillError) {
        try statement("INSERT INTO settings(key, value) VALUES (?, ?) ON CONFLICT DO NOTHING").run(
            Self.key(installation), proof.text)
    }

    package func installationProof(of installation: GUID) throws(WaybillError) -> IdentityProof? {
        try setting(Self.key(installation)).flatMap { IdentityProof($0) }
    }

    /// The key sorts next to the installation's setting, so damage affects both or neither.
    private static func key(_ installation: GUID) -> String { "installation_proof \(installation)" }

    /// Returns whether `proof` fits the installation, which is open to all if it was first used without a secret.
    package func admits(_ proof: IdentityProof?, for installation: GUID) throws(WaybillError) -> Bool {
        let bound = try statement("SELECT proof_hash FROM installations WHERE guid = ?").first(installation) { row in
            row.optionalBytes(0)
        }
        guard let digest = bound ?? nil else { return true }
        return digest == proof?.digest
    }

    /// Binds a new installation to its first secret, or to none.
    package func bindInstallation(_ installation: GUID, to proof: IdentityProof?) throws(WaybillError) {
        try statement("INSERT INTO installations(guid, proof_hash) VALUES (?, ?) ON CONFLICT DO NOTHING")
            .run(installation, (proof?.digest).map(ColumnValue.blob))
    }
}

extension Connection {
    package func ledger(of source: Int64) throws(WaybillError) -> Ledger {
        let counters = try statement(
            "SELECT recorded, refused, delivered, (SELECT count(*) FROM quarantine WHERE source = id) FROM sources WHERE id = ?"
        ).first(source) { row in
            Ledger(recorded: row.count(0), delivered: row.count(2), quarantined: row.count(3), refused: row.count(1))
        }
        guard var ledger = counters else { return Ledger() }
        ledger.pending = ledger.recorded - (try bookedCount(of: source))
        for (reason, count) in try droppedCounts(of: source) {
            ledger.dropped[reason] = count
            ledger.pending -= count
        }
        ledger.pending = max(0, ledger.pending)
        return ledger
    }
}

extension Row {
    /// The number is limited, because a foreign file may contain any and sums must not overflow.
    func count(_ column: Int32) -> Int64 { min(max(int(column), 0), Limits.recordedFacts) }
}

/// The sums of ended own sources without rows, so the store doesn't grow with every launch.
extension Connection {
    /// The number of empty sources that may wait for a collector; further ones are folded anyway.
    private static let untoldLimit = 256
    private static let foldLimit = 200

    /// Folds the ledgers of ended sources that have no rows, pending facts or journal.
    package func foldTotals(hasJournal: (GUID) -> Bool) throws(WaybillError) {
        let empty = try statement(
            """
            SELECT id, uuid, app, news FROM sources s WHERE heard_us IS NULL AND ended = 1 \
            AND NOT EXISTS(SELECT 1 FROM parts WHERE source = s.id) AND NOT EXISTS(SELECT 1 FROM events WHERE source = s.id) \
            AND NOT EXISTS(SELECT 1 FROM exchanges WHERE source = s.id) \
            AND NOT EXISTS(SELECT 1 FROM ranges WHERE source = s.id AND lease IS NOT NULL) ORDER BY id
            """
        ).rows { row in (id: row.int(0), source: row.guid(1), app: row.text(2), isTold: row.int(3) == 0) }
        var untoldCount = empty.count { !$0.isTold }
        var foldedCount = 0
        for source in empty where foldedCount < Self.foldLimit && (source.isTold || untoldCount > Self.untoldLimit) {
            let ledger = try ledger(of: source.id)
            guard ledger.pending == 0, !hasJournal(source.source) else { continue }
            if !source.isTold { untoldCount -= 1 }
            foldedCount += 1
            try add(ledger, of: source.app)
            try removeSource(source.id)
        }
    }

    private func add(_ ledger: Ledger, of app: String) throws(WaybillError) {
        let dropped = { (reason: Ledger.DropReason) in ledger.dropped[reason.rawValue] ?? 0 }
        try statement(
            """
            INSERT INTO totals(app, sources, recorded, refused, delivered, quarantined, quota, age, erased, damaged, sampled) \
            VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(app) DO UPDATE SET sources = sources + 1, \
            recorded = recorded + excluded.recorded, refused = refused + excluded.refused, delivered = delivered + excluded.delivered, \
            quarantined = quarantined + excluded.quarantined, quota = quota + excluded.quota, age = age + excluded.age, \
            erased = erased + excluded.erased, damaged = damaged + excluded.damaged, sampled = sampled + excluded.sampled
            """
        ).run(
            app, ledger.recorded, ledger.refused, ledger.delivered, ledger.quarantined, dropped(.quota), dropped(.age),
            dropped(.erased), dropped(.damaged), dropped(.sampled))
    }

    package func totals() throws(WaybillError) -> [AppTotal] {
        try statement(
            "SELECT app, sources, recorded, refused, delivered, quarantined, quota, age, erased, damaged, sampled FROM totals ORDER BY app"
        ).rows { row in
            var ledger = Ledger(
                recorded: row.count(2), delivered: row.count(4), quarantined: row.count(5), refused: row.count(3))
            for (column, reason) in [
                (6, Ledger.DropReason.quota), (7, .age), (8, .erased), (9, .damaged), (10, .sampled),
            ]
            where row.count(Int32(column)) != 0 {
                ledger.dropped[reason.rawValue] = row.count(Int32(column))
            }
            return AppTotal(app: row.text(0), sourceCount: row.int(1), ledger: ledger)
        }
    }
}

extension StoreReader {
    package func ownLedger() throws(WaybillError) -> Ledger {
        try read { () throws(WaybillError) in
            var ledgers = try connection.totals().map(\.ledger)
            let own = try connection.statement("SELECT id FROM sources WHERE heard_us IS NULL").rows { row in
                row.int(0)
            }
            for source in own { ledgers.append(try connection.ledger(of: source)) }
            return ledgers.reduce(into: Ledger()) { sum, ledger in
                sum.recorded += ledger.recorded
                sum.delivered += ledger.delivered
                sum.quarantined += ledger.quarantined
                sum.pending += ledger.pending
                sum.refused += ledger.refused
                sum.dropped.merge(ledger.dropped, uniquingKeysWith: +)
            }
        }
    }
}

extension SourceIdentity {
    package static let columns = "uuid, installation, app, app_version, device, os, os_version, attributes"

    package init(_ row: Row) {
        self.init(
            id: row.guid(0), installation: row.optionalGUID(1), app: row.text(2), appVersion: row.text(3),
            device: row.text(4), os: row.text(5), osVersion: row.text(6),
            attributes: Attributes(columnText: row.optionalText(7)))
    }
}
