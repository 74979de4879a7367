package import WaybillCore
package import WaybillStore

package struct ExportSelection {
    package var shares: [ScannedShare]
    package var isFiltered = false
    package var cursor = ExportCursor()
}

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
        case .some(let ids):
            try choose(ids)
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
            selection = ExportSelection(shares: try connection.quarantinedShares())
        }
        selection.cursor.store = try connection.storeID()
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
                ranges[row.int(0), default: SequenceRanges()].insert(row.range(1))
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
        let places: [Int64] =
            ArrivalPlace.writer(of: last) == nil
            ? [] : try connection.statement("SELECT id FROM arrivals WHERE id > ?").rows(beyond) { row in row.int(0) }
        cursor.advance(to: last, over: places)
    }

    private func lastArrival() throws(WaybillError) -> Int64 {
        try connection.integer("SELECT seq FROM sqlite_sequence WHERE name = 'arrivals'")
    }

    /// Rejects a cursor of another store, or of a later state of this one: it would leave facts out.
    private func check(_ cursor: ExportCursor, _ own: [(row: Int64, id: GUID, recorded: Int64)]) throws(WaybillError) {
        guard cursor != ExportCursor() else { return }
        var last = try lastArrival()
        if try cursor.store != connection.storeID() {
            guard let id = cursor.store, let copied = try connection.lastArrival(copiedFrom: id) else {
                throw WaybillError(
                    .format,
                    "The cursor is of another store. Export without it, or into an empty folder.")
            }
            last = copied
        }
        // Places of several writers are times. New arrivals have later ones even after this store was restored.
        let isBehind = cursor.arrival <= last || ArrivalPlace.writer(of: last) != nil
        let isAhead = own.contains { source in (cursor.recorded[source.id] ?? 0) > source.recorded }
        guard isBehind, !isAhead else {
            throw WaybillError(
                .format,
                "The cursor is ahead of the store: it was given by another one, or before this one was set back.")
        }
    }

    func choose(_ filter: TransactionFilter, now: Int64) throws(WaybillError) {
        try chooseNone()
        let query = ListQuery(all: "p.guid", filter, now: now)
        try connection.statement("INSERT OR IGNORE INTO temp.chosen \(query.sql)").forEachRow(
            arguments: query.arguments
        ) { _ in }
    }

    private func choose(_ transactions: Set<GUID>) throws(WaybillError) {
        try chooseNone()
        let insert = try connection.statement("INSERT INTO temp.chosen VALUES (?)")
        for id in transactions { try insert.run(id) }
    }

    private func chooseNone() throws(WaybillError) {
        try connection.execute(
            "CREATE TEMP TABLE IF NOT EXISTS chosen(guid BLOB PRIMARY KEY) WITHOUT ROWID; DELETE FROM temp.chosen")
    }
}

package enum ExportScope: Sendable, Hashable {
    case everything
    /// Facts of the matching transactions. `now`, in microseconds since 1970, decides about timeouts.
    case transactions(TransactionFilter, now: Int64)
    case some(Set<GUID>)
    case after(ExportCursor)
    /// Facts received or recorded here at this time or later, in microseconds since 1970.
    case since(Int64)
    case quarantine
}

package struct ExportCursor: Hashable, Sendable {
    /// `nil` for a database.
    package var store: GUID?
    package var arrival: Int64 = 0
    /// The last place of each writer after ``arrival``; empty for a store in one file.
    package var writers: [Int64: Int64] = [:]
    package var recorded: [GUID: Int64] = [:]

    package init() {}

    package func includes(_ place: Int64) -> Bool {
        place <= arrival || ArrivalPlace.writer(of: place).map { place <= writers[$0] ?? 0 } ?? false
    }

    /// Advances to the last place, keeping an hour of places for arrivals that are still on their way.
    package mutating func advance(to last: Int64, over places: [Int64]) {
        guard ArrivalPlace.writer(of: last) != nil else {
            (arrival, writers) = (last, [:])
            return
        }
        arrival = max(arrival, last - ArrivalPlace.perHour)
        for place in places {
            if let writer = ArrivalPlace.writer(of: place) { writers[writer] = max(writers[writer] ?? 0, place) }
        }
        writers = writers.filter { $0.value > arrival }
    }
}

extension ExportCursor: CustomStringConvertible {
    package var description: String {
        let others = writers.values.sorted().map { "~\($0)" }
        let own = recorded.sorted { $0.key < $1.key }.map { "~\($0.key).\($0.value)" }
        return "\(arrival)\(((store.map { ["~\($0)"] } ?? []) + others + own).joined())"
    }

    package init(_ text: String) throws(WaybillError) {
        let malformed = WaybillError(
            .format, "The cursor is not one that an export gave. Leave it out to export everything.")
        let items = text.split(separator: "~", omittingEmptySubsequences: false)
        guard let first = items.first, let arrival = Int64(first), arrival >= 0 else { throw malformed }
        self.arrival = arrival
        for item in items.dropFirst() {
            if let place = Int64(item), place > arrival, let writer = ArrivalPlace.writer(of: place) {
                writers[writer] = place
                continue
            }
            if let store = GUID(item), self.store == nil {
                self.store = store
                continue
            }
            let pair = item.split(separator: ".")
            guard pair.count == 2, let source = GUID(pair[0]), let sequence = Int64(pair[1]), sequence >= 0 else {
                throw malformed
            }
            recorded[source] = sequence
        }
    }
}

/// A store in one file counts from 1. Several writers use times in units of 100 microseconds since 2026, with the
/// writer in the lowest bits.
package enum ArrivalPlace {
    package static let writerCount: Int64 = 1 << 9
    /// The number of places in an hour, the longest time that a place may take to arrive.
    package static let perHour: Int64 = 36_000_000 * writerCount
    package static let first: Int64 = 1 << 40

    package static func writer(of place: Int64) -> Int64? { place < first ? nil : place % writerCount }
}

package struct ArrivedRanges {
    let connection: Connection

    package init(connection: Connection) { self.connection = connection }

    /// Excludes sequences of an earlier arrival: a set that was sent to two processes at once has two.
    package func ranges(behind cursor: ExportCursor, of source: Int64? = nil) throws(WaybillError)
        -> [Int64: SequenceRanges]
    {
        var new: [Int64: SequenceRanges] = [:]
        var old: [Int64: SequenceRanges] = [:]
        try connection.statement(
            "SELECT id, source, first, last FROM arrivals WHERE id > ?1 AND (?2 IS NULL OR source = ?2) ORDER BY id"
        ).forEachRow(cursor.arrival, source) { row in
            let range = row.range(2)
            if cursor.includes(row.int(0)) {
                old[row.int(1), default: SequenceRanges()].insert(range)
            } else {
                new[row.int(1), default: SequenceRanges()].insert(range)
            }
        }
        for (source, known) in old { new[source] = new[source]?.subtracting(known) }
        return new.filter { !$0.value.isEmpty }
    }
}
