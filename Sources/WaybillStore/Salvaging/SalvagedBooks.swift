import WaybillCore

/// Makes the books balance after rows were lost: of own sources, what was pending and has no row any more is booked as
/// damaged.
struct SalvagedBooks {
    /// Facts that have a row.
    private(set) var factCount: Int64 = 0
    /// Facts that were booked as damaged.
    private(set) var lostCount: Int64 = 0

    private let connection: Connection
    private let ranges: RangeRows

    init(_ connection: Connection) {
        self.connection = connection
        ranges = RangeRows(connection: connection)
    }

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
        try ranges.recount()
        try electLeaders()
    }

    private mutating func balance(_ source: Int64) throws(WaybillError) {
        let found = SequenceRanges(
            try connection.statement(Self.sequences).rows(source) { row in row.int(0)...row.int(0) })
        let booked = SequenceRanges(
            try connection.statement("SELECT first, last FROM ranges WHERE source = ? ORDER BY first").rows(source) {
                row in
                row.int(0)...row.int(1)
            })
        try connection.statement("DELETE FROM ranges WHERE source = ?").run(source)
        try ranges.replace(SequenceRanges(), with: booked, of: source)
        let dropped = try ranges.dropped(of: source).sequences.subtracting(booked)
        let last = [found, booked, dropped].compactMap(\.ranges.last?.upperBound).max() ?? 0
        try connection.statement("UPDATE sources SET recorded = max(recorded, ?) WHERE id = ?").run(last, source)
        try settle(source, booked)
        let recorded = try connection.integer("SELECT recorded FROM sources WHERE id = ?", source)
        guard recorded > 0 else { return }
        let lost = SequenceRanges([1...recorded]).subtracting(booked).subtracting(dropped).subtracting(found)
        let known = try ranges.dropped(of: source)
        if try ranges.drop(known + lost.dropped(.damaged), except: booked.union(found), of: source), !lost.isEmpty {
            try SourceRows(connection: connection).announce(source, droppedFrom: 1)
        }
        try connection.statement("UPDATE parts SET settled = 0 WHERE source = ?").run(source)
        try ranges.settleParts(of: source, recorded: recorded)
        factCount += found.count
        lostCount += lost.count
    }

    /// Every settled fact that is not in quarantine was delivered.
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
        let leaders = Leaders(connection: connection)
        for transaction in leaderless { try leaders.decide(transaction) }
    }

    private static let sequences = """
        SELECT sequence FROM parts WHERE source = ?1 AND guid IS NOT NULL \
        UNION ALL SELECT closed FROM parts WHERE source = ?1 AND closed IS NOT NULL \
        UNION ALL SELECT sequence FROM events WHERE source = ?1 \
        UNION ALL SELECT sequence FROM network_logs WHERE source = ?1 AND method IS NOT NULL \
        UNION ALL SELECT closed FROM network_logs WHERE source = ?1 AND closed IS NOT NULL ORDER BY 1
        """

    /// Without its exchange or its beginning a body is of no use.
    private static let removeLostBodies = """
        DELETE FROM bodies WHERE NOT EXISTS(SELECT 1 FROM network_logs l WHERE l.source = bodies.source AND l.sequence = bodies.exchange) \
        OR piece > 0 AND NOT EXISTS(SELECT 1 FROM bodies b WHERE b.source = bodies.source AND b.exchange = bodies.exchange \
        AND b.direction = bodies.direction AND b.piece = bodies.piece - 1)
        """

    /// Events and exchanges whose part is lost get one without an opening, as if that were still to come.
    private static let addMissingParts = """
        INSERT INTO parts(source, sequence, outcome, beyond, beyond_at_us, settled) \
        SELECT f.source, f.part, CASE s.ended WHEN 0 THEN \(TransactionOutcome.open.rawValue) ELSE \(TransactionOutcome.interrupted.rawValue) END, \
        max(f.sequence), max(f.at_us), 0 FROM (SELECT source, part, sequence, at_us FROM events \
        UNION ALL SELECT source, part, max(sequence, ifnull(closed, 0)), max(ifnull(at_us, 0), ifnull(closed_at_us, 0)) FROM network_logs) f \
        JOIN sources s ON s.id = f.source WHERE NOT EXISTS(SELECT 1 FROM parts p WHERE p.source = f.source AND p.sequence = f.part) \
        GROUP BY f.source, f.part
        """
}
