import WaybillCore

struct SalvagedRows {
    private let damaged: Connection
    private let connection: Connection

    /// Tables and their keys, sources first: rows of unknown sources are not copied.
    private static let tables: [(name: String, keys: [String], condition: String)] = [
        ("sources", ["id"], "1"), ("settings", ["key"], "1"), ("device_time", ["id"], "1"), ("totals", ["app"], "1"),
        ("erased", ["guid"], "1"), ("erased_with_installation", ["guid"], "1"), ("installations", ["guid"], "1"),
        ("names", ["use_case", "event", "app", "app_version", "name"], "1"),
        ("arrivals", ["id"], "1"),
        ("clocks", ["source", "at_us"], "1"), ("parts", ["source", "sequence"], "1"),
        ("events", ["source", "part", "after"], "1"),
        ("exchanges", ["source", "part", "sequence"], "1"), ("bodies", ["id"], "1"),
        ("dropped", ["source", "first"], "1"),
        ("retired", ["source", "first"], "1"), ("spans", ["source", "guid", "span"], "1"),
        ("quarantine", ["source", "sequence"], "1"), ("legacy_quarantine", ["id"], "1"),
        ("ranges", ["source", "first"], "lease IS NULL"),
    ]

    init(from damaged: Connection, into connection: Connection) {
        self.damaged = damaged
        self.connection = connection
    }

    func copy() throws(WaybillError) {
        if (try? Schema.hasLegacyTables(damaged)) == true { try Schema.makeLegacyTables(connection) }
        for (name, keys, condition) in Self.tables {
            let columns = try commonColumns(of: name)
            guard !columns.isEmpty else { continue }
            let table = Table(name: name, columns: columns, condition: condition)
            if keys.first == "source" {
                for source in try connection.statement("SELECT id FROM sources").rows(transform: { row in row.int(0) })
                {
                    try copy(table, of: source, by: Array(keys.dropFirst()))
                }
            } else {
                for direction in ["", " DESC"] {
                    try? scan(table, "ORDER BY " + keys.map { $0 + direction }.joined(separator: ", "), []) { _ in }
                }
            }
        }
    }

    private struct Table {
        var name: String
        var columns: [String]
        var condition: String

        var insertion: String {
            "INSERT OR IGNORE INTO \(name)(\(columns.joined(separator: ", "))) "
                + "VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))"
        }
    }

    private func commonColumns(of table: String) throws(WaybillError) -> [String] {
        let sql = "SELECT name FROM pragma_table_info(?)"
        // A view of that name might never end.
        let isView =
            try? damaged.integer(
                "SELECT EXISTS(SELECT 1 FROM sqlite_schema WHERE type = 'view' AND name = ? COLLATE NOCASE)", table)
            != 0
        guard isView != true else { return [] }
        let there = Set((try? damaged.statement(sql).rows(table) { row in row.text(0) }) ?? [])
        return try connection.statement(sql).rows(table) { row in row.text(0) }.filter(there.contains)
    }

    private func scan(
        _ table: Table, _ rest: String, _ arguments: [any SQLValue], then body: (Row) -> Void
    ) throws(WaybillError) {
        let insertion = try connection.statement(table.insertion)
        let rows = try damaged.statement(
            "SELECT \(table.columns.joined(separator: ", ")) FROM \(table.name) WHERE \(table.condition) \(rest)")
        try rows.forEachRow(arguments: arguments) { row in
            // Ignores rows that violate the table's constraints.
            try? insertion.forEachRow(arguments: table.columns.indices.map { row.value(Int32($0)) }) { _ in }
            body(row)
        }
    }

    /// After an error, this skips keys in growing steps.
    private func copy(_ table: Table, of source: Int64, by keys: [String]) throws(WaybillError) {
        let places = keys.compactMap { table.columns.firstIndex(of: $0) }.map { Int32($0) }
        guard places.count == keys.count, let first = places.first else { return }
        let second = places.count > 1 ? places[1] : nil
        let isBehind = second == nil ? "\(keys[0]) > ?2 AND ?3 = ?3" : "(\(keys[0]), \(keys[1])) > (?2, ?3)"
        let rest = "AND source = ?1 AND \(isBehind) ORDER BY \(keys.joined(separator: ", "))"
        var reached = Key(first: .min, second: .min)
        var attempt = 0
        while let from = reached.skipping(attempt, hasSecond: second != nil) {
            let before = reached
            do throws(WaybillError) {
                try scan(table, rest, [source, from.first, from.second]) { row in
                    reached = max(reached, Key(first: row.int(first), second: second.map { row.int($0) } ?? 0))
                }
                return
            } catch {
                attempt = reached > before ? 1 : attempt + 1
            }
        }
    }

    struct Key: Comparable {
        var first: Int64
        var second: Int64

        static func < (left: Key, right: Key) -> Bool { (left.first, left.second) < (right.first, right.second) }

        /// Returns where to continue, further with each failed attempt; `nil` at the end.
        func skipping(_ attempt: Int, hasSecond: Bool) -> Key? {
            if attempt == 0 { return self }
            let steps = 53  // as many powers of 2 as a sequence may have
            let jump = hasSecond ? attempt - steps : attempt
            if jump <= 0 { return Key(first: first, second: max(0, second) &+ 1 << (attempt - 1)) }
            return jump > steps ? nil : Key(first: max(-1, first) &+ 1 << (jump - 1), second: -1)
        }
    }
}

/// The books after a loss: own pending facts without rows are booked as damaged.
struct SalvagedBooks {
    private(set) var factCount: Int64 = 0
    private(set) var lostCount: Int64 = 0

    private let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    mutating func balance() throws(WaybillError) {
        try connection.statement(Self.addMissingParts).run()
        try connection.statement(Self.removeLostBodies).run()
        try connection.statement("UPDATE sources SET news = 1 WHERE news = 2").run()
        for table in ["ranges", "dropped"] {
            try connection.statement("DELETE FROM \(table) WHERE first < 1 OR last < first").run()
        }
        for source in try connection.statement("SELECT id FROM sources WHERE heard_us IS NULL").rows(transform: { row in
            row.int(0)
        }) {
            try balance(source)
        }
        try connection.recountDropped()
        try electLeaders()
    }

    private mutating func balance(_ source: Int64) throws(WaybillError) {
        let found = SequenceRanges(each: try connection.statement(SQL.sequences).rows(source) { row in row.int(0) })
        let booked = try connection.bookedRanges.sequences(of: source)
        try connection.statement("DELETE FROM ranges WHERE source = ?").run(source)
        try connection.bookedRanges.add(booked, to: source)
        let dropped = try connection.droppedRanges(of: source).sequences.subtracting(booked)
        let last = [found, booked, dropped].compactMap(\.ranges.last?.upperBound).max() ?? 0
        try connection.statement("UPDATE sources SET recorded = max(recorded, ?) WHERE id = ?").run(last, source)
        try settle(source, booked)
        let recorded = try connection.integer("SELECT recorded FROM sources WHERE id = ?", source)
        guard recorded > 0 else { return }
        let lost = try connection.pendingSequences(of: source, recorded: recorded).subtracting(found)
        let known = try connection.droppedRanges(of: source)
        if try connection.bookDropped(known + lost.dropped(.damaged), except: booked.union(found), of: source),
            !lost.isEmpty
        {
            try connection.announceNews(of: source, droppedFrom: 1)
        }
        try connection.statement("UPDATE parts SET settled = 0 WHERE source = ?").run(source)
        try connection.settleParts(of: source, recorded: recorded)
        factCount += found.count
        lostCount += lost.count
    }

    /// Settled facts outside quarantine were delivered.
    private func settle(_ source: Int64, _ booked: SequenceRanges) throws(WaybillError) {
        var quarantined: Int64 = 0
        for sequence in try connection.statement("SELECT sequence FROM quarantine WHERE source = ?").rows(
            source, transform: { $0.int(0) })
        {
            if booked.contains(sequence) {
                quarantined += 1
            } else {
                try connection.statement("DELETE FROM quarantine WHERE source = ? AND sequence = ?").run(
                    source, sequence)
            }
        }
        try connection.statement("UPDATE sources SET delivered = ? WHERE id = ?").run(
            booked.count - quarantined, source)
    }

    private func electLeaders() throws(WaybillError) {
        let leaderless = try connection.statement(
            "SELECT guid FROM parts WHERE guid IS NOT NULL GROUP BY guid HAVING count(listed_us) <> 1"
        ).rows { row in row.guid(0) }
        try connection.decideLeaders(of: leaderless)
    }

    private static let removeLostBodies = """
        DELETE FROM bodies WHERE NOT EXISTS(SELECT 1 FROM exchanges l WHERE l.source = bodies.source AND l.sequence = bodies.exchange) \
        OR piece > 0 AND NOT EXISTS(SELECT 1 FROM bodies b WHERE b.source = bodies.source AND b.exchange = bodies.exchange \
        AND b.direction = bodies.direction AND b.piece = bodies.piece - 1)
        """

    /// Adds parts for events and exchanges that lost theirs, as if their openings had not arrived.
    private static let addMissingParts = """
        INSERT INTO parts(source, sequence, outcome, beyond, beyond_at_us, settled) \
        SELECT f.source, f.part, CASE s.ended WHEN 0 THEN \(TransactionOutcome.open.rawValue) ELSE \(TransactionOutcome.interrupted.rawValue) END, \
        max(f.sequence), max(f.at_us), 0 FROM (SELECT source, part, sequence, at_us FROM events \
        UNION ALL SELECT source, part, max(sequence, ifnull(closed, 0)), max(ifnull(at_us, 0), ifnull(closed_at_us, 0)) FROM exchanges) f \
        JOIN sources s ON s.id = f.source WHERE NOT EXISTS(SELECT 1 FROM parts p WHERE p.source = f.source AND p.sequence = f.part) \
        GROUP BY f.source, f.part
        """
}
