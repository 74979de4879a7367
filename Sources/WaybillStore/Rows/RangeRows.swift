package import WaybillCore

/// The rows of `ranges` and `dropped`, as sets of sequences.
package struct RangeRows {
    package let connection: Connection

    package init(connection: Connection) { self.connection = connection }

    /// What is settled (own source) or received (any other), as far as it meets `window`; nil: all of it.
    package func booked(of source: Int, meeting window: ClosedRange<Int>? = nil) throws(WaybillError) -> SequenceRanges
    {
        // Ranges do not overlap, so that the last one that starts before the window is the only such one that can reach
        // into it.
        let statement = try connection.statement(
            """
            SELECT first, last FROM ranges WHERE source = ?1 AND lease IS NULL AND first <= ?3 AND first >= \
            ifnull((SELECT max(first) FROM ranges WHERE source = ?1 AND first < ?2), ?2) ORDER BY first
            """)
        let window = window ?? 1...Int.max - 1
        return SequenceRanges(
            try statement.rows(source, window.lowerBound, window.upperBound + 1) { row in
                row.int(0)...max(row.int(0), row.int(1))
            })
    }

    /// What is settled or claimed by a lease.
    package func taken(of source: Int) throws(WaybillError) -> SequenceRanges {
        let statement = try connection.statement("SELECT first, last FROM ranges WHERE source = ? ORDER BY first")
        return SequenceRanges(try statement.rows(source) { row in row.int(0)...max(row.int(0), row.int(1)) })
    }

    /// Makes the rows say `after` where they said `before`.
    package func replace(_ before: SequenceRanges, with after: SequenceRanges, of source: Int) throws(WaybillError) {
        let starts = Set(after.ranges.map(\.lowerBound))
        for range in before.ranges where !starts.contains(range.lowerBound) {
            try connection.statement("DELETE FROM ranges WHERE source = ? AND first = ?").run(source, range.lowerBound)
        }
        let old = Set(before.ranges)
        for range in after.ranges where !old.contains(range) {
            try connection.statement(
                "INSERT INTO ranges(source, first, last) VALUES (?, ?, ?) ON CONFLICT(source, first) DO UPDATE SET last = excluded.last"
            ).run(source, range.lowerBound, range.upperBound)
        }
    }

    /// What an own source has recorded and is neither settled nor given up.
    package func pending(of source: Int, recorded: Int) throws(WaybillError) -> SequenceRanges {
        guard recorded > 0 else { return SequenceRanges() }
        return SequenceRanges([1...recorded]).subtracting(try booked(of: source)).subtracting(
            try dropped(of: source).sequences)
    }

    /// Marks the parts of which nothing is pending any more.
    ///
    /// Facts go out in order of sequence, so that a part is settled when its last fact lies below the first that is
    /// pending.
    package func settleParts(of source: Int, recorded: Int) throws(WaybillError) {
        let firstPending = try pending(of: source, recorded: recorded).ranges.first?.lowerBound ?? recorded + 1
        try connection.statement(
            "UPDATE parts SET settled = 1 WHERE source = ?1 AND settled = 0 AND sequence < ?2 AND last < ?2"
        ).run(source, firstPending)
    }

    // MARK: Dropped

    /// What is refused when it comes, because it was erased.
    package func erased(of source: Int) throws(WaybillError) -> SequenceRanges {
        let statement = try connection.statement(
            "SELECT first, last FROM dropped WHERE source = ? AND reason = 'erased' ORDER BY first")
        return SequenceRanges(try statement.rows(source) { row in row.int(0)...max(row.int(0), row.int(1)) })
    }

    /// What was given up, for each reason that there was.
    package func droppedByReason(of source: Int) throws(WaybillError) -> [(
        reason: DropReason, sequences: SequenceRanges
    )] {
        let dropped = try dropped(of: source)
        return Dictionary(grouping: dropped, by: \.reason).map { ($0.key, $0.value.sequences) }
    }

    /// What was given up, in order of sequence.
    package func dropped(of source: Int) throws(WaybillError) -> [DroppedRange] {
        let statement = try connection.statement(
            "SELECT first, last, reason FROM dropped WHERE source = ? ORDER BY first")
        return try statement.rows(source) { row in
            DroppedRange(first: row.int(0), last: row.int(1), reason: DropReason(rawValue: row.text(2)) ?? .damaged)
        }
    }

    /// Books what was told to be dropped and what has arrived in spite of it: a fact that is there is not dropped.
    ///
    /// The same rows in any order of telling and arriving; where two reasons are told for a sequence, `erased` stands,
    /// else the first in the list of reasons.
    @discardableResult
    package func drop(_ told: [DroppedRange], except present: SequenceRanges, of source: Int) throws(WaybillError)
        -> Bool
    {
        let before = try dropped(of: source)
        if told.isEmpty && before.isEmpty { return false }
        var claimed = present
        var after: [DroppedRange] = []
        for reason in [.erased] + DropReason.allCases {
            let all = SequenceRanges((before + told).lazy.filter { $0.reason == reason }.map { $0.first...$0.last })
            let rest = all.subtracting(claimed)
            claimed = claimed.union(all)
            after += rest.ranges.map { DroppedRange(first: $0.lowerBound, last: $0.upperBound, reason: reason) }
        }
        after.sort { $0.first < $1.first }
        guard after != before else { return false }
        try connection.statement("DELETE FROM dropped WHERE source = ?").run(source)
        for range in after {
            try connection.statement("INSERT INTO dropped(source, first, last, reason) VALUES (?, ?, ?, ?)")
                .run(source, range.first, range.last, range.reason.rawValue)
        }
        return true
    }
}

extension SequenceRanges {
    /// As rows of `dropped`.
    package func dropped(_ reason: DropReason) -> [DroppedRange] {
        ranges.map { DroppedRange(first: $0.lowerBound, last: $0.upperBound, reason: reason) }
    }
}

extension [DroppedRange] {
    /// The sequences, for every reason.
    package var sequences: SequenceRanges { SequenceRanges(lazy.map { $0.first...Swift.max($0.first, $0.last) }) }
}
