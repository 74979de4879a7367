import Foundation
package import WaybillCore
package import WaybillStore

/// What is asked of one source besides its record.
extension StoreReader {
    /// When the facts in the gaps of a source were recorded, as far as their neighbors in the same part and the next
    /// part tell.
    package func times(of gaps: some Sequence<SourceRecord.Gap>, in source: GUID) throws(WaybillError) -> [SourceDetails
        .GapTime]
    {
        try read { () throws(WaybillError) in
            guard let row = try row(of: source) else { return [] }
            let clock = try WallClock(of: row, connection)
            let statement = try connection.statement(Self.around)
            var times: [SourceDetails.GapTime] = []
            for gap in gaps {
                let around = try statement.first(row, gap.first, gap.last) { row in
                    (after: row.optionalInt(0), before: row.optionalInt(1))
                }
                times.append(
                    SourceDetails.GapTime(
                        gap: gap, after: (around?.after).map { Date(microseconds: clock.wall($0)) },
                        before: (around?.before).map { Date(microseconds: clock.wall($0)) }))
            }
            return times
        }
    }

    /// `?2` and `?3` are the first and the last that is missing; the part before is the one in which it most likely
    /// was.
    private static let around = """
        WITH part AS (SELECT sequence AS s, at_us, closed, closed_at_us FROM parts \
        WHERE source = ?1 AND sequence < ?2 AND at_us IS NOT NULL ORDER BY sequence DESC LIMIT 1) \
        SELECT max((SELECT at_us FROM part), \
        ifnull((SELECT e.at_us FROM part, events e WHERE e.source = ?1 AND e.part = s AND e.after < ?2 - s ORDER BY e.after DESC LIMIT 1), 0), \
        ifnull((SELECT l.at_us FROM part, network_logs l WHERE l.source = ?1 AND l.part = s AND l.sequence < ?2 AND l.at_us IS NOT NULL \
        ORDER BY l.sequence DESC LIMIT 1), 0)), \
        nullif(min(ifnull((SELECT e.at_us FROM part, events e WHERE e.source = ?1 AND e.part = s AND e.after > ?3 - s \
        ORDER BY e.after LIMIT 1), \(Int64.max)), \
        ifnull((SELECT closed_at_us FROM part WHERE closed > ?3), \(Int64.max)), \
        ifnull((SELECT l.at_us FROM part, network_logs l WHERE l.source = ?1 AND l.part = s AND l.sequence > ?3 AND l.at_us IS NOT NULL \
        ORDER BY l.sequence LIMIT 1), \(Int64.max)), \
        ifnull((SELECT at_us FROM parts WHERE source = ?1 AND sequence > ?3 AND at_us IS NOT NULL ORDER BY sequence LIMIT 1), \(Int64.max))), \
        \(Int64.max))
        """

    /// Microseconds since 1970 of a source's latest fact, as far as its latest parts and exchanges tell; nil where
    /// there is none.
    package func latestFact(of source: GUID) throws(WaybillError) -> Int64? {
        try read { () throws(WaybillError) in
            guard let row = try row(of: source) else { return nil }
            let latest =
                try connection.statement(
                    """
                    SELECT max(at) FROM (SELECT max(last_at_us) AS at FROM (SELECT last_at_us FROM parts WHERE source = ?1 \
                    ORDER BY sequence DESC LIMIT 100) UNION ALL SELECT max(at_us) FROM network_logs WHERE source = ?1 AND method IS NOT NULL)
                    """
                ).first(row) { row in row.optionalInt(0) } ?? nil
            return try latest.map { (time) throws(WaybillError) in try WallClock(of: row, connection).wall(time) }
        }
    }

    /// Microseconds since 1970 when the first set of a source brought facts; nil for a source of this very store.
    package func firstArrival(of source: GUID) throws(WaybillError) -> Int64? {
        guard let row = try row(of: source) else { return nil }
        return try connection.statement("SELECT min(received_us) FROM arrivals WHERE source = ?").first(row) { row in
            row.optionalInt(0)
        }
            ?? nil
    }

    /// The transactions that a source took part in last, the latest first.
    ///
    /// - Parameter wall: Now, in microseconds since 1970: decides what has timed out.
    package func latestTransactions(of source: GUID, limit: Int, now wall: Int64) throws(WaybillError)
        -> [TransactionSummary]
    {
        try read { () throws(WaybillError) in
            guard let row = try row(of: source) else { return [] }
            let leaders = try connection.statement(
                """
                SELECT l.source, l.sequence FROM (SELECT guid, sequence FROM parts WHERE source = ?1 AND guid IS NOT NULL \
                ORDER BY sequence DESC LIMIT ?2) p CROSS JOIN parts l ON l.guid = p.guid AND l.listed_us IS NOT NULL \
                GROUP BY l.source, l.sequence ORDER BY max(p.sequence) DESC
                """
            ).rows(row, limit) { row in (source: row.int(0), sequence: row.int(1)) }
            var summaries: [TransactionSummary] = []
            for leader in leaders {
                if let summary = try summary(leader: leader.sequence, of: leader.source, now: wall) {
                    summaries.append(summary)
                }
            }
            return summaries
        }
    }

    private func row(of source: GUID) throws(WaybillError) -> Int64? {
        try connection.statement("SELECT id FROM sources WHERE uuid = ?").first(source) { row in row.int(0) }
    }
}
