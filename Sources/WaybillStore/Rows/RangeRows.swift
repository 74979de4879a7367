package import WaybillCore

/// The rows of `ranges` and `dropped`, as sets of sequences.
extension Connection {
    /// The settled facts of own sources, and the received facts of others.
    package var bookedRanges: RangeTable {
        RangeTable(name: "ranges", condition: " AND lease IS NULL", connection: self)
    }

    /// The facts in delivery.
    var leasedRanges: RangeTable {
        RangeTable(name: "ranges", condition: " AND lease IS NOT NULL", connection: self)
    }

    package func bookedCount(of source: Int64) throws(WaybillError) -> Int64 {
        try integer("SELECT ifnull(sum(\(Self.rangeLength)), 0) FROM ranges WHERE source = ? AND lease IS NULL", source)
    }

    /// Excludes settled and dropped facts.
    package func pendingSequences(of source: Int64, recorded: Int64) throws(WaybillError) -> SequenceRanges {
        guard recorded > 0 else { return SequenceRanges() }
        return SequenceRanges([1...recorded]).subtracting(try bookedRanges.sequences(of: source)).subtracting(
            try droppedRanges(of: source).sequences)
    }

    /// Excludes held facts, too.
    func deliverableSequences(of source: Int64, recorded: Int64) throws(WaybillError) -> SequenceRanges {
        try pendingSequences(of: source, recorded: recorded).subtracting(try heldSequences(of: source))
    }

    /// Marks parts as settled that end before the first deliverable fact: facts are sent in order.
    package func settleParts(of source: Int64, recorded: Int64) throws(WaybillError) {
        let next = try deliverableSequences(of: source, recorded: recorded).ranges.first?.lowerBound ?? recorded + 1
        try statement(
            "UPDATE parts SET settled = 1 WHERE source = ?1 AND settled = 0 AND held = 0 AND sequence < ?2 AND last < ?2"
        ).run(source, next)
    }

    /// The facts of the set can be leased again.
    func endLease(of set: GUID) throws(WaybillError) {
        // The next set must report the news of the unsettled one.
        try statement("UPDATE sources SET news = 1 WHERE news = 2").run()
        try statement("DELETE FROM ranges WHERE lease = ?").run(set)
        try statement("DELETE FROM leases WHERE set_id = ?").run(set)
    }

    // MARK: Dropped

    /// Erased facts are refused when they arrive.
    package func erasedSequences(of source: Int64, meeting windows: SequenceRanges) throws(WaybillError)
        -> SequenceRanges
    {
        try droppedRanges(of: source, meeting: windows).filter { $0.reason == .erased }.sequences
    }

    func droppedByReason(of source: Int64, meeting windows: SequenceRanges) throws(WaybillError) -> [(
        reason: Ledger.DropReason, sequences: SequenceRanges
    )] {
        let dropped = try droppedRanges(of: source, meeting: windows)
        return Dictionary(grouping: dropped, by: \.reason).map { ($0.key, $0.value.sequences) }
    }

    /// Returns the dropped facts in order: all, or at least the ranges in or next to `windows`.
    package func droppedRanges(of source: Int64, meeting windows: SequenceRanges? = nil) throws(WaybillError)
        -> [DroppedRange]
    {
        let columns = "SELECT first, last, reason FROM dropped WHERE source = ?1"
        guard let windows else {
            return try statement("\(columns) ORDER BY first").rows(source, transform: DroppedRange.init)
        }
        guard try hasDropped(of: source) else { return [] }
        let near = try statement("\(columns) AND \(RangeTable.isNear("dropped")) ORDER BY first")
        var found: [DroppedRange] = []
        for window in try RangeTable.joined(windows, in: "dropped", of: source, self).ranges {
            try near.forEachRow(source, window.lowerBound, window.upperBound) { row in
                if row.int(0) > found.last?.first ?? .min { found.append(DroppedRange(row)) }
            }
        }
        return found
    }

    package func droppedRanges(of source: Int64, limit: Int) throws(WaybillError) -> [DroppedRange] {
        try statement("SELECT first, last, reason FROM dropped WHERE source = ? ORDER BY first LIMIT ?")
            .rows(source, limit, transform: DroppedRange.init)
    }

    /// Most sources have dropped nothing.
    package func hasDropped(of source: Int64) throws(WaybillError) -> Bool {
        try integer("SELECT EXISTS(SELECT 1 FROM dropped WHERE source = ?)", source) != 0
    }

    /// Returns by how many rows `told` would change the dropped ranges; negative if it merges some.
    package func droppedGrowth(by told: [DroppedRange], of source: Int64) throws(WaybillError) -> Int {
        let windows = told.sequences
        let before = try droppedRanges(of: source, meeting: windows)
        let after = Self.merged(before, told, except: try bookedRanges.sequences(of: source, meeting: windows))
        return after.count - before.count
    }

    package func untoldRanges(of source: Int64) throws(WaybillError) -> [DroppedRange] {
        try statement(
            """
            SELECT first, last, reason FROM dropped WHERE source = ?1 AND (last > (SELECT told FROM sources WHERE id = ?1) \
            OR (SELECT count(*) FROM dropped WHERE source = ?1) <= ?2) ORDER BY first LIMIT ?2
            """
        ).rows(source, DroppedRange.toldLimit, transform: DroppedRange.init)
    }

    /// Marks ranges of the settled set as reported. Later ones stay news.
    package func confirmTold() throws(WaybillError) {
        for source in try statement("SELECT id FROM sources WHERE news = 2").rows(transform: { $0.int(0) }) {
            let told = try untoldRanges(of: source).last?.last ?? 0
            try statement(
                """
                UPDATE sources SET told = max(told, ?2), \
                news = EXISTS(SELECT 1 FROM dropped WHERE source = ?1 AND last > max(told, ?2)) WHERE id = ?1
                """
            ).run(source, told)
        }
    }

    package func droppedCounts(of source: Int64) throws(WaybillError) -> [(reason: String, count: Int64)] {
        try statement(
            "SELECT reason, sum(\(Self.rangeLength)) FROM dropped WHERE source = ? GROUP BY reason"
        ).rows(source) { row in (row.text(0), row.count(1)) }
    }

    /// A row's number of sequences, limited because a foreign file may claim any number.
    private static let rangeLength = "min(\(Limits.recordedFacts), max(0, last - first + 1))"

    /// Counts the rows of both tables that begin in a range, up to `limit` for each table.
    package func rangeCount(in range: ClosedRange<Int64>, of source: Int64, limit: Int) throws(WaybillError) -> Int {
        var count = 0
        for table in ["ranges", "dropped"] {
            count += try integer(
                """
                SELECT count(*) FROM (SELECT 1 FROM \(table) WHERE source = ? AND first BETWEEN ? AND ? LIMIT ?)
                """, source, range.lowerBound, range.upperBound, limit)
        }
        return count
    }

    /// Books reported ranges, except facts that have arrived. The order of reports and arrivals doesn't matter.
    ///
    /// If a sequence has two reasons, `erased` wins, or else the first in the list of reasons. `present` has the
    /// existing facts near the ranges, and new ones.
    @discardableResult
    package func bookDropped(_ told: [DroppedRange], except present: SequenceRanges, of source: Int64)
        throws(WaybillError)
        -> Bool
    {
        let before = try droppedRanges(of: source, meeting: told.sequences.union(present))
        if told.isEmpty && before.isEmpty { return false }
        let after = Self.merged(before, told, except: present)
        guard after != before else { return false }
        let (old, new) = (Set(before), Set(after))
        for range in before where !new.contains(range) {
            try statement("DELETE FROM dropped WHERE source = ? AND first = ?").run(source, range.first)
        }
        let insertion = try statement("INSERT INTO dropped(source, first, last, reason) VALUES (?, ?, ?, ?)")
        for range in after where !old.contains(range) {
            try insertion.run(source, range.first, range.last, range.reason.rawValue)
        }
        if after.count != before.count {
            try statement("UPDATE sources SET dropped_rows = dropped_rows + ? WHERE id = ?").run(
                after.count - before.count, source)
        }
        return true
    }

    private static func merged(
        _ booked: [DroppedRange], _ told: [DroppedRange], except present: SequenceRanges
    ) -> [DroppedRange] {
        let said = Dictionary(grouping: booked + told, by: \.reason)
        var claimed = present
        var merged: [DroppedRange] = []
        for reason in [.erased] + Ledger.DropReason.allCases.filter({ $0 != .erased }) {
            guard let ranges = said[reason] else { continue }
            let all = SequenceRanges(ranges.lazy.map(\.range))
            merged += all.subtracting(claimed).dropped(reason)
            claimed = claimed.union(all)
        }
        return merged.ordered { $0.first < $1.first }
    }

    package func recountDropped() throws(WaybillError) {
        try statement(
            "UPDATE sources SET dropped_rows = (SELECT count(*) FROM dropped WHERE source = sources.id)"
        ).run()
    }
}

extension SequenceRanges {
    package func dropped(_ reason: Ledger.DropReason) -> [DroppedRange] {
        ranges.map { DroppedRange(first: $0.lowerBound, last: $0.upperBound, reason: reason) }
    }
}

extension DroppedRange {
    /// The maximum number of ranges that a set reports for a source; unreported ones come first.
    package static let toldLimit = 1_000

    fileprivate init(_ row: Row) {
        let range = row.range(0)
        self.init(
            first: range.lowerBound, last: range.upperBound,
            reason: Ledger.DropReason(rawValue: row.text(2)) ?? .damaged)
    }
}

extension [DroppedRange] {
    package var sequences: SequenceRanges { SequenceRanges(lazy.map(\.range)) }
}

/// A table of disjoint sequence ranges. Only changed rows are written.
package struct RangeTable {
    let name: String
    /// SQL after `WHERE source = ?`; empty for all rows.
    var condition = ""
    let connection: Connection

    /// Received facts that retention deleted. They stay in `ranges`, to recognize them later.
    package static func retired(_ connection: Connection) -> RangeTable {
        RangeTable(name: "retired", connection: connection)
    }

    package func add(_ sequences: SequenceRanges, to source: Int64) throws(WaybillError) {
        let before = try self.sequences(of: source, meeting: sequences)
        try replace(before, with: before.union(sequences), of: source)
    }

    package func remove(_ sequences: SequenceRanges, from source: Int64) throws(WaybillError) {
        let before = try self.sequences(of: source, meeting: sequences)
        try replace(before, with: before.subtracting(sequences), of: source)
    }

    /// Returns all sequences, or at least the ranges in or next to `windows`.
    package func sequences(of source: Int64, meeting windows: SequenceRanges? = nil) throws(WaybillError)
        -> SequenceRanges
    {
        var found = SequenceRanges()
        guard let windows else {
            try connection.statement("SELECT first, last FROM \(name) WHERE source = ?\(condition) ORDER BY first")
                .forEachRow(source) { row in found.insert(row.range(0)) }
            return found
        }
        let statement = try connection.statement(
            "SELECT first, last FROM \(name) WHERE source = ?1\(condition) AND \(Self.isNear(name)) ORDER BY first")
        for window in try Self.joined(windows, in: name, of: source, connection).ranges {
            try statement.forEachRow(source, window.lowerBound, window.upperBound) { row in
                found.insert(row.range(0))
            }
        }
        return found
    }

    /// Replaces many windows by one if few rows lie between, because a lookup costs as much as several rows.
    static func joined(
        _ windows: SequenceRanges, in table: String, of source: Int64, _ connection: Connection
    ) throws(WaybillError) -> SequenceRanges {
        let limit = 4 * windows.ranges.count
        guard limit > 32, let first = windows.ranges.first, let last = windows.ranges.last else { return windows }
        let count = try connection.integer(
            "SELECT count(*) FROM (SELECT 1 FROM \(table) WHERE source = ? AND first BETWEEN ? AND ? LIMIT ?)", source,
            first.lowerBound, last.upperBound, limit)
        return count < limit ? SequenceRanges([first.lowerBound...last.upperBound]) : windows
    }

    package func replace(_ before: SequenceRanges, with after: SequenceRanges, of source: Int64) throws(WaybillError) {
        let starts = Set(after.ranges.map(\.lowerBound))
        for range in before.ranges where !starts.contains(range.lowerBound) {
            try connection.statement("DELETE FROM \(name) WHERE source = ? AND first = ?").run(
                source, range.lowerBound)
        }
        let old = Set(before.ranges)
        let insertion = try connection.statement(
            """
            INSERT INTO \(name)(source, first, last) VALUES (?, ?, ?) \
            ON CONFLICT(source, first) DO UPDATE SET last = excluded.last
            """)
        for range in after.ranges where !old.contains(range) {
            try insertion.run(source, range.lowerBound, range.upperBound)
        }
    }

    /// Whether a row of source `?1` meets `?2` to `?3` or is adjacent. Of earlier rows, only the last can reach it.
    static func isNear(_ table: String) -> String {
        """
        first <= ?3 + 1 AND first >= ifnull((SELECT max(first) FROM \(table) WHERE source = ?1 AND first < ?2), ?2)
        """
    }
}
