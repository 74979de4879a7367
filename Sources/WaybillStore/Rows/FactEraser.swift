package import WaybillCore

/// An eraser of facts with their part or exchange, which books undelivered ones as dropped.
///
/// The opening of that part, or of an exchange outside of one, is the root of a fact.
struct FactEraser {
    private(set) var transactions: Set<GUID> = []
    private(set) var count = 0

    private let connection: Connection
    private let retired: RangeTable
    private let reason: Ledger.DropReason?
    private var undecided: Set<GUID> = []

    /// Without a reason, received facts are retired.
    init(_ connection: Connection, because reason: Ledger.DropReason? = .erased) {
        self.connection = connection
        self.reason = reason
        retired = .retired(connection)
    }

    /// Erases facts and everything that belongs to them.
    ///
    /// - Parameter singles: The sequences that may not be roots; finding them requires a scan of the source's facts.
    mutating func erase(
        _ sequences: SequenceRanges, singles: SequenceRanges = SequenceRanges(), of source: SourceRow
    ) throws(WaybillError) {
        var erased: [Int64] = []
        for range in try occupied(sequences, of: source.id) { try removeRoots(range, of: source.id, into: &erased) }
        if !singles.isEmpty { try removeSingles(singles, of: source, into: &erased) }
        count += erased.count
        try book(sequences.union(SequenceRanges(each: erased)), of: source)
    }

    mutating func finish() throws(WaybillError) {
        try connection.decideLeaders(of: undecided)
        undecided = []
    }

    // MARK: Rows

    /// This jumps from one root to the next, because huge dropped ranges have few.
    private func occupied(_ sequences: SequenceRanges, of source: Int64) throws(WaybillError) -> [ClosedRange<Int64>] {
        let next = try connection.statement(
            """
            SELECT min(ifnull((SELECT min(sequence) FROM parts WHERE source = ?1 AND sequence >= ?2), ?3), \
            ifnull((SELECT min(sequence) FROM exchanges WHERE source = ?1 AND part = 0 AND sequence >= ?2), ?3))
            """)
        var occupied: [ClosedRange<Int64>] = []
        var opened = Int64.min
        for range in sequences.ranges where opened <= range.upperBound {
            if opened < range.lowerBound {
                opened = try next.first(source, range.lowerBound, Int64.max) { row in row.int(0) } ?? .max
            }
            guard range.contains(opened) else { continue }
            occupied.append(range)
            opened = range.upperBound
        }
        return occupied
    }

    private mutating func removeRoots(_ range: ClosedRange<Int64>, of source: Int64, into erased: inout [Int64])
        throws(WaybillError)
    {
        let (first, last) = (range.lowerBound, range.upperBound)
        var isOutsideTouched = false
        try connection.statement("DELETE FROM events WHERE source = ? AND part BETWEEN ? AND ? RETURNING sequence")
            .forEachRow(source, first, last) { row in erased.append(row.int(0)) }
        // Not `method IS NOT NULL`: with a matching partial index, SQLite 3.40 returns true for every deleted row.
        for place in ["part BETWEEN ? AND ?", "part = 0 AND sequence BETWEEN ? AND ?"] {
            try connection.statement(
                "DELETE FROM exchanges WHERE source = ? AND \(place) RETURNING part, method, sequence, closed"
            )
            .forEachRow(source, first, last) { row in
                if row.int(0) == 0 { isOutsideTouched = true }
                if !row.isNull(1) { erased.append(row.int(2)) }
                if let closed = row.optionalInt(3) { erased.append(closed) }
            }
        }
        try connection.statement(
            "DELETE FROM parts WHERE source = ? AND sequence BETWEEN ? AND ? RETURNING guid, sequence, closed"
        )
        .forEachRow(source, first, last) { row in
            if let guid = row.optionalGUID(0) {
                erased.append(row.int(1))
                transactions.insert(guid)
                undecided.insert(guid)
            }
            if let closed = row.optionalInt(2) { erased.append(closed) }
        }
        if isOutsideTouched { try refresh(0, of: source) }
    }

    /// One scan for all, because no index has the sequences of facts within a part.
    private mutating func removeSingles(
        _ sequences: SequenceRanges, of source: SourceRow, into erased: inout [Int64]
    ) throws(WaybillError) {
        var touched: Set<Int64> = []
        var events: [(part: Int64, after: Int64)] = []
        try connection.statement("SELECT part, after FROM events WHERE source = ?").forEachRow(source.id) { row in
            if sequences.contains(row.int(0) + row.int(1)) { events.append((row.int(0), row.int(1))) }
        }
        for event in events {
            try connection.statement("DELETE FROM events WHERE source = ? AND part = ? AND after = ?").run(
                source.id, event.part, event.after)
            touched.insert(event.part)
            erased.append(event.part + event.after)
        }
        var exchanges: [(part: Int64, sequence: Int64)] = []
        var closings: [(isPart: Bool, part: Int64, sequence: Int64, closed: Int64)] = []
        try connection.statement("SELECT part, sequence, method IS NOT NULL, closed FROM exchanges WHERE source = ?")
            .forEachRow(source.id) { row in
                if sequences.contains(row.int(1)) {
                    exchanges.append((row.int(0), row.int(1)))
                    if row.bool(2) { erased.append(row.int(1)) }
                    if let closed = row.optionalInt(3) { erased.append(closed) }
                } else if let closed = row.optionalInt(3), sequences.contains(closed) {
                    closings.append((false, row.int(0), row.int(1), closed))
                }
            }
        for exchange in exchanges {
            try connection.statement("DELETE FROM exchanges WHERE source = ? AND part = ? AND sequence = ?").run(
                source.id, exchange.part, exchange.sequence)
            touched.insert(exchange.part)
        }
        try connection.statement("SELECT sequence, closed FROM parts WHERE source = ? AND closed IS NOT NULL")
            .forEachRow(source.id) { row in
                if sequences.contains(row.int(1)) { closings.append((true, row.int(0), row.int(0), row.int(1))) }
            }
        for closing in closings {
            touched.insert(closing.part)
            erased.append(closing.closed)
            if closing.isPart {
                let outcome: TransactionOutcome = source.hasEnded ? .interrupted : .open
                try connection.statement(
                    """
                    UPDATE parts SET closed = NULL, closed_at_us = NULL, error_code = NULL, closed_detail = NULL, outcome = ? \
                    WHERE source = ? AND sequence = ?
                    """
                ).run(outcome.rawValue, source.id, closing.sequence)
            } else {
                try connection.statement(
                    """
                    UPDATE exchanges SET closed = NULL, closed_at_us = NULL, state = NULL, status = NULL, first_byte_us = NULL, \
                    sent_bytes = NULL, received_bytes = NULL, error_code = NULL, closed_detail = NULL WHERE source = ? AND part = ? AND sequence = ?
                    """
                ).run(source.id, closing.part, closing.sequence)
                try connection.statement(
                    "DELETE FROM exchanges WHERE source = ? AND part = ? AND sequence = ? AND method IS NULL"
                )
                .run(source.id, closing.part, closing.sequence)
            }
        }
        for part in touched { try refresh(part, of: source.id) }
    }

    /// A part without facts is deleted.
    private func refresh(_ part: Int64, of source: Int64) throws(WaybillError) {
        try connection.statement(Self.deleteEmptyPart).run(source, part)
        try connection.statement(Self.deriveLatest).run(source, part)
    }

    private static let deleteEmptyPart = """
        DELETE FROM parts WHERE source = ?1 AND sequence = ?2 AND guid IS NULL AND closed IS NULL \
        AND NOT EXISTS(SELECT 1 FROM events WHERE source = ?1 AND part = ?2) \
        AND NOT EXISTS(SELECT 1 FROM exchanges WHERE source = ?1 AND part = ?2)
        """

    private static let deriveLatest = """
        UPDATE parts SET (beyond, beyond_at_us) = (SELECT nullif(max(sequence), closed), nullif(max(at_us), closed_at_us) FROM ( \
        SELECT CASE WHEN guid IS NULL THEN 0 ELSE sequence END AS sequence, ifnull(at_us, 0) AS at_us \
        UNION ALL SELECT ifnull(closed, 0), ifnull(closed_at_us, 0) \
        UNION ALL SELECT e.sequence, e.at_us FROM events e WHERE e.source = ?1 AND e.part = ?2 \
        UNION ALL SELECT CASE WHEN l.method IS NULL THEN 0 ELSE l.sequence END, ifnull(l.at_us, 0) FROM exchanges l \
        WHERE l.source = ?1 AND l.part = ?2 \
        UNION ALL SELECT ifnull(l.closed, 0), ifnull(l.closed_at_us, 0) FROM exchanges l WHERE l.source = ?1 AND l.part = ?2)) \
        WHERE source = ?1 AND sequence = ?2
        """

    // MARK: Bookings

    private func book(_ erased: SequenceRanges, of source: SourceRow) throws(WaybillError) {
        let before = try connection.bookedRanges.sequences(of: source.id, meeting: erased)
        guard let reason else {
            return try retired.add(erased.intersection(before), to: source.id)
        }
        var after = before
        if source.isOwn {
            for set in try connection.statement(
                "SELECT lease, first, last FROM ranges WHERE source = ? AND lease IS NOT NULL"
            ).rows(
                source.id, transform: { row in (id: row.guid(0), claimed: SequenceRanges([row.range(1)])) })
            where set.claimed.subtracting(erased) != set.claimed { try connection.endLease(of: set.id) }
            // The collector's reason may quote the fact.
            for range in erased.ranges where reason == .erased {
                try connection.statement(
                    "UPDATE quarantine SET reason = 'erased' WHERE source = ? AND sequence BETWEEN ? AND ?"
                )
                .run(source.id, range.lowerBound, range.upperBound)
            }
        } else {
            after = before.subtracting(erased)
            try connection.bookedRanges.replace(before, with: after, of: source.id)
            try retired.remove(erased, from: source.id)
            try connection.statement("UPDATE sources SET delivered = delivered - ? WHERE id = ?").run(
                before.count - after.count, source.id)
        }
        // Earlier drop reasons stay, except for an erasure.
        let given =
            reason == .erased
            ? SequenceRanges() : try connection.droppedRanges(of: source.id, meeting: erased).sequences
        let dropped = erased.subtracting(given)
        guard try connection.bookDropped(dropped.dropped(reason), except: after, of: source.id), source.isOwn else {
            return
        }
        try connection.announceNews(of: source.id, droppedFrom: dropped.ranges.first?.lowerBound)
        try connection.settleParts(of: source.id, recorded: source.recorded)
    }
}

extension Fact {
    /// If the reason is damage, readable remains stay.
    func isAmong(_ dropped: SequenceRanges, because reason: Ledger.DropReason) -> Bool {
        reason == .damaged ? dropped.contains(sequence) : isAmong(dropped)
    }

    func isAmong(_ erased: SequenceRanges) -> Bool {
        erased.isEmpty ? false : roots.contains(where: erased.contains)
    }

    var roots: [Int64] {
        guard case .exchangeClosed(let content) = content else { return [sequence, part] }
        return [sequence, part, content.exchange]
    }
}

/// Erased installations and transactions, whose later facts are refused. A store of own recordings has no tombstones:
/// it must forget erased IDs.
package struct Tombstones {
    private let connection: Connection
    private let wall: Int64
    private let isKept: Bool

    package init(_ connection: Connection, at wall: Int64) throws(WaybillError) {
        self.connection = connection
        self.wall = wall
        isKept =
            try connection.integer(
                """
                SELECT EXISTS(SELECT 1 FROM sources WHERE heard_us IS NOT NULL) OR EXISTS(SELECT 1 FROM erased) \
                OR NOT EXISTS(SELECT 1 FROM sources)
                """) != 0
    }

    package func bury(_ ids: some Sequence<GUID>, in table: String = "erased") throws(WaybillError) {
        guard isKept else { return }
        let statement = try connection.statement(
            "INSERT INTO \(table)(guid, at_us) VALUES (?, ?) ON CONFLICT DO NOTHING")
        for id in ids { try statement.run(id, wall) }
    }

    /// Another source that began a transaction keeps it.
    package func bury(begunByErased ids: some Sequence<GUID>) throws(WaybillError) {
        try bury(ids, in: "erased_with_installation")
    }

    /// Avoids checking each opening, because most stores have no tombstones.
    package func areThere() throws(WaybillError) -> Bool {
        try connection.integer(
            "SELECT EXISTS(SELECT 1 FROM erased) OR EXISTS(SELECT 1 FROM erased_with_installation)") != 0
    }

    /// `begun` has the transactions that begin in the same share.
    package func refuse(_ opened: Fact.Opened, begunBeside begun: Set<GUID>) throws(WaybillError) -> Bool {
        if try contains(opened.transaction) { return true }
        guard opened.isJoined, !begun.contains(opened.transaction) else { return false }
        return try connection.integer(
            """
            SELECT EXISTS(SELECT 1 FROM erased_with_installation WHERE guid = ?1) \
            AND NOT EXISTS(SELECT 1 FROM parts WHERE guid = ?1 AND joined = 0)
            """, opened.transaction) != 0
    }

    package func contains(_ id: GUID) throws(WaybillError) -> Bool {
        try connection.integer("SELECT EXISTS(SELECT 1 FROM erased WHERE guid = ?)", id) != 0
    }
}
