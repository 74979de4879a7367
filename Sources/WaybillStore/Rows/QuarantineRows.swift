package import WaybillCore

extension Connection {
    package func quarantinedShares() throws(WaybillError) -> [ScannedShare] {
        var ranges: [Int64: SequenceRanges] = [:]
        try statement("SELECT source, sequence FROM quarantine ORDER BY source, sequence").forEachRow {
            row in
            ranges[row.int(0), default: SequenceRanges()].insert(row.int(1)...row.int(1))
        }
        return ranges.sorted { $0.key < $1.key }.map { ScannedShare(row: $0.key, sequences: $0.value) }
    }

    package func facts(of share: ScannedShare) throws(WaybillError) -> [Fact] {
        var scan = try FactScan([share], isFiltered: false, self)
        var collector = FactCollector()
        while try scan.run(&collector) {}
        return collector.facts
    }
}

private struct FactCollector: FactVisitor {
    var facts: [Fact] = []
    var isFull: Bool { false }

    mutating func enter(_ source: ScannedSource) {}
    mutating func enter(_ part: ScannedPart) {}
    mutating func visit(_ fact: Fact, closing opening: Fact?) { facts.append(fact) }
}

extension StoreReader {
    package func quarantined(limit: Int) throws(WaybillError) -> [QuarantinedFact] {
        try read { () throws(WaybillError) in
            let rows = try connection.statement(
                """
                SELECT q.source, s.uuid, q.sequence, q.reason, q.at_us FROM quarantine q JOIN sources s ON s.id = q.source \
                ORDER BY q.source, q.sequence LIMIT ?
                """
            ).rows(limit) { row in
                (
                    source: row.int(0),
                    entry: QuarantinedFact(
                        id: FactID(source: row.guid(1), sequence: row.int(2)), reason: row.text(3),
                        rejectedAtMicroseconds: row.int(4))
                )
            }
            var result = rows.map(\.entry)
            let sequences = Dictionary(grouping: rows.indices, by: { rows[$0].source })
            for (source, indices) in sequences {
                let ranges = SequenceRanges(each: indices.lazy.map { result[$0].id.sequence })
                let facts = try connection.facts(of: ScannedShare(row: source, sequences: ranges))
                let bySequence = Dictionary(facts.map { ($0.sequence, $0) }, uniquingKeysWith: { first, _ in first })
                for index in indices { result[index].fact = bySequence[result[index].id.sequence] }
            }
            return result
        }
    }
}

extension Store {
    /// Makes quarantined facts pending again; `nil` means all.
    package func releaseQuarantined(_ wanted: Set<FactID>? = nil) throws(WaybillError) -> Int {
        try write { () throws(WaybillError) in
            var count = 0
            for share in try connection.quarantinedShares() {
                let uuid = try connection.statement("SELECT uuid FROM sources WHERE id = ?").first(share.row) { row in
                    row.guid(0)
                }
                guard let uuid else { continue }
                let facts = try connection.facts(of: share)
                    .filter { wanted?.contains(FactID(source: uuid, sequence: $0.sequence)) ?? true }
                for fact in facts {
                    try connection.statement("DELETE FROM quarantine WHERE source = ? AND sequence = ?").run(
                        share.row, fact.sequence)
                }
                for part in Set(facts.map(\.part)) {
                    try connection.statement("UPDATE parts SET settled = 0 WHERE source = ? AND sequence = ?").run(
                        share.row, part)
                }
                try connection.bookedRanges.remove(facts.sequences, from: share.row)
                count += facts.count
            }
            return count
        }
    }
}

/// The rows of `legacy_quarantine`. Senders would resend rejected data forever, so the collector accepts it and keeps
/// it here.
package struct LegacyQuarantine {
    package let connection: Connection

    package init(connection: Connection) { self.connection = connection }

    package static let limit = 10_000
    /// The maximum length of a row, in characters.
    package static let lengthLimit = 65_536

    package func add(_ quarantined: LegacyQuarantined) throws(WaybillError) {
        try connection.statement("INSERT INTO legacy_quarantine(received_us, guid, reason, json) VALUES (?, ?, ?, ?)")
            .run(
                quarantined.receivedMicroseconds, quarantined.transaction, quarantined.reason,
                quarantined.json.cut(to: Self.lengthLimit))
        try connection.statement(
            "DELETE FROM legacy_quarantine WHERE id <= (SELECT max(id) FROM legacy_quarantine) - ?"
        ).run(Self.limit)
    }

    package func erase(_ transactions: [GUID]) throws(WaybillError) {
        guard try Schema.hasLegacyTables(connection) else { return }
        let statement = try connection.statement("DELETE FROM legacy_quarantine WHERE guid = ?")
        for id in transactions { try statement.run(id) }
    }

    package func erase(before wall: Int64) throws(WaybillError) {
        guard try Schema.hasLegacyTables(connection) else { return }
        try connection.statement("DELETE FROM legacy_quarantine WHERE received_us < ?").run(wall)
    }
}

extension StoreReader {
    package func legacyQuarantine(limit: Int) throws(WaybillError) -> (rows: [LegacyQuarantined], count: Int) {
        guard try Schema.hasLegacyTables(connection) else { return ([], 0) }
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
