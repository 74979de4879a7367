package import WaybillCore
package import WaybillStore

/// The facts that a scope means at one moment.
package struct ExportSelection {
    package var shares: [ScannedShare]
    /// Whether only the transactions in the temporary table `chosen` are meant.
    package var isFiltered = false
    /// Behind everything that is there at that moment.
    package var cursor = ExportCursor()
}

/// Finds them; inside a read that sees one state of the store.
package struct ExportSelector {
    let connection: Connection

    package init(connection: Connection) { self.connection = connection }

    package func selection(_ scope: ExportScope) throws(WaybillError) -> ExportSelection {
        let own = try ownSources()
        var selection: ExportSelection
        switch scope {
        case .everything:
            selection = ExportSelection(shares: try allShares())
        case .transactions(let filter, let now):
            try choose(filter, now: now)
            selection = ExportSelection(shares: try allShares(), isFiltered: true)
        case .transaction(let id):
            try choose(id)
            selection = ExportSelection(shares: try allShares(), isFiltered: true)
        case .after(let cursor):
            try check(cursor, own)
            selection = ExportSelection(shares: try arrived(behind: cursor))
            (selection.cursor.arrival, selection.cursor.writers) = (cursor.arrival, cursor.writers)
            for source in own {
                let first = (cursor.recorded[source.id] ?? 0) + 1
                guard first <= source.recorded else { continue }
                selection.shares.append(
                    ScannedShare(row: source.row, sequences: SequenceRanges([first...source.recorded])))
            }
        case .since(let time):
            selection = ExportSelection(shares: try arrived(since: time))
            selection.shares += own.filter { $0.recorded > 0 }.map {
                ScannedShare(row: $0.row, sequences: SequenceRanges([1...$0.recorded]), earliest: time)
            }
        case .quarantine:
            selection = ExportSelection(shares: try QuarantineRows(connection: connection).shares())
        }
        try advance(&selection.cursor)
        for source in own where source.recorded > 0 { selection.cursor.recorded[source.id] = source.recorded }
        return selection
    }

    private func ownSources() throws(WaybillError) -> [(row: Int64, id: GUID, recorded: Int64)] {
        try connection.statement("SELECT id, uuid, recorded FROM sources WHERE heard_us IS NULL ORDER BY id").rows {
            row in
            (row.int(0), row.guid(1), row.int(2))
        }
    }

    private func allShares() throws(WaybillError) -> [ScannedShare] {
        try connection.statement("SELECT id FROM sources ORDER BY id").rows { row in ScannedShare(row: row.int(0)) }
    }

    private func arrived(since time: Int64) throws(WaybillError) -> [ScannedShare] {
        var ranges: [Int64: SequenceRanges] = [:]
        try connection.statement("SELECT source, first, last FROM arrivals WHERE received_us >= ? ORDER BY id")
            .forEachRow(time) { row in
                ranges[row.int(0), default: SequenceRanges()].insert(row.int(1)...max(row.int(1), row.int(2)))
            }
        return Self.shares(ranges)
    }

    private func arrived(behind cursor: ExportCursor) throws(WaybillError) -> [ScannedShare] {
        Self.shares(try ArrivedRanges(connection: connection).ranges(behind: cursor))
    }

    private static func shares(_ ranges: [Int64: SequenceRanges]) -> [ScannedShare] {
        ranges.sorted { $0.key < $1.key }.map { ScannedShare(row: $0.key, sequences: $0.value) }
    }

    private func advance(_ cursor: inout ExportCursor) throws(WaybillError) {
        let last = try lastArrival()
        let beyond = max(cursor.arrival, last - ArrivalPlace.perHour)
        // A store in one file has as many places as it has counted.
        let places: [Int64] =
            ArrivalPlace.writer(of: last) == nil
            ? [] : try connection.statement("SELECT id FROM arrivals WHERE id > ?").rows(beyond) { row in row.int(0) }
        cursor.advance(to: last, over: places)
    }

    /// The highest number that was ever given.
    private func lastArrival() throws(WaybillError) -> Int64 {
        try connection.integer("SELECT seq FROM sqlite_sequence WHERE name = 'arrivals'")
    }

    /// A cursor of another store, or of a later state of this one, would leave facts out.
    private func check(_ cursor: ExportCursor, _ own: [(row: Int64, id: GUID, recorded: Int64)]) throws(WaybillError) {
        let last = try lastArrival()
        // Places that several writers give are times: what comes later has later ones, also where this one was set back.
        let isBehind = cursor.arrival <= last || ArrivalPlace.writer(of: last) != nil
        let isAhead = own.contains { source in (cursor.recorded[source.id] ?? 0) > source.recorded }
        guard isBehind, !isAhead else {
            throw WaybillError(
                .format,
                "The cursor is ahead of the store: it was given by another one, or before this one was set back.")
        }
    }

    /// Fills the temporary table `chosen`, which SQLite keeps on disk when there are many.
    func choose(_ filter: TransactionFilter, now: Int64) throws(WaybillError) {
        try chooseNone()
        let query = ListQuery(all: "p.guid", filter, now: now)
        try connection.statement("INSERT OR IGNORE INTO temp.chosen \(query.sql)").forEachRow(
            arguments: query.arguments
        ) { _ in }
    }

    private func choose(_ transaction: GUID) throws(WaybillError) {
        try chooseNone()
        try connection.statement("INSERT INTO temp.chosen VALUES (?)").run(transaction)
    }

    private func chooseNone() throws(WaybillError) {
        try connection.execute(
            "CREATE TEMP TABLE IF NOT EXISTS chosen(guid BLOB PRIMARY KEY) WITHOUT ROWID; DELETE FROM temp.chosen")
    }
}
