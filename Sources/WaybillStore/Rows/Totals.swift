package import WaybillCore

/// The table `totals`: what is left of own sources that have ended and of which no row speaks any more, so that the
/// store does not grow with every launch.
package struct Totals {
    package let connection: Connection

    package init(connection: Connection) { self.connection = connection }

    /// Sources without rows that the collector still has to hear of; more of them, where there is no collector, are
    /// folded without that.
    private static let untoldLimit = 256
    /// Sources folded at a time.
    private static let limit = 200

    /// Folds the ledgers of sources that have ended and have neither rows nor pending facts.
    ///
    /// - Parameter hasJournal: Whether there is a journal of a source still, which would bring it back with all its
    ///   facts.
    package func fold(hasJournal: (GUID) -> Bool) throws(WaybillError) {
        let empty = try connection.statement(
            """
            SELECT id, uuid, app, news FROM sources s WHERE heard_us IS NULL AND ended = 1 \
            AND NOT EXISTS(SELECT 1 FROM parts WHERE source = s.id) AND NOT EXISTS(SELECT 1 FROM events WHERE source = s.id) \
            AND NOT EXISTS(SELECT 1 FROM network_logs WHERE source = s.id) \
            AND NOT EXISTS(SELECT 1 FROM ranges WHERE source = s.id AND lease IS NOT NULL) ORDER BY id
            """
        ).rows { row in (id: row.int(0), source: row.guid(1), app: row.text(2), isTold: row.int(3) == 0) }
        var untoldCount = empty.count { !$0.isTold }
        var foldedCount = 0
        for source in empty where foldedCount < Self.limit && (source.isTold || untoldCount > Self.untoldLimit) {
            let ledger = try Ledgers(connection: connection).ledger(of: source.id)
            guard ledger.pending == 0, !hasJournal(source.source) else { continue }
            if !source.isTold { untoldCount -= 1 }
            foldedCount += 1
            try add(ledger, of: source.app)
            try SourceRows(connection: connection).remove(source.id)
        }
    }

    private func add(_ ledger: Ledger, of app: String) throws(WaybillError) {
        let dropped = { (reason: DropReason) in ledger.dropped[reason.rawValue] ?? 0 }
        try connection.statement(
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

    /// All sums; none in a store from before there were any.
    package func all() throws(WaybillError) -> [AppTotal] {
        let columns = try connection.statement("SELECT name FROM pragma_table_info('totals')").rows { row in
            row.text(0)
        }
        guard !columns.isEmpty else { return [] }
        let sampled = columns.contains("sampled") ? "sampled" : "0"
        return try connection.statement(
            "SELECT app, sources, recorded, refused, delivered, quarantined, quota, age, erased, damaged, \(sampled) FROM totals ORDER BY app"
        ).rows { row in
            var ledger = Ledger(
                recorded: row.count(2), delivered: row.count(4), quarantined: row.count(5), refused: row.count(3))
            for (column, reason) in [(6, DropReason.quota), (7, .age), (8, .erased), (9, .damaged), (10, .sampled)]
            where row.count(Int32(column)) != 0 {
                ledger.dropped[reason.rawValue] = row.count(Int32(column))
            }
            return AppTotal(app: row.text(0), sourceCount: row.int(1), ledger: ledger)
        }
    }
}
