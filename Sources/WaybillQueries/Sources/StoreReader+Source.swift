package import WaybillCore
package import WaybillStore

extension StoreReader {
    package func details(
        of id: GUID, upTo limits: SourceDetails.Limits, now wall: Int64
    ) throws(WaybillError) -> SourceDetails? {
        try read { () throws(WaybillError) in
            guard let record = try source(id), let row = try row(of: id) else { return nil }
            let clock = try WallClock(of: row, connection)
            var details = SourceDetails()
            details.clocks = SourceClocks(
                anchors: clock.anchors, others: try others(of: row, id, limit: limits.clocks))
            details.gaps = try times(of: record.gaps.prefix(limits.gaps), in: row, clock)
            let isWhole = limits.transactions > 0
            if isWhole || record.heardMicroseconds == nil { details.latestFact = try latestFact(of: row, clock) }
            guard isWhole else { return details }
            details.transactions = try latestTransactions(of: row, limit: limits.transactions, now: wall)
            details.firstArrival =
                try connection.statement("SELECT min(received_us) FROM arrivals WHERE source = ?")
                .first(row) { row in row.optionalInt(0) } ?? nil
            return details
        }
    }

    /// Returns the approximate times of missing facts, from neighbors in the same part and from the next part.
    func times(
        of gaps: some Sequence<SourceRecord.Gap>, in row: Int64, _ clock: WallClock
    ) throws(WaybillError) -> [SourceDetails.GapTime] {
        let statement = try connection.statement(Self.around)
        var times: [SourceDetails.GapTime] = []
        for gap in gaps {
            let around = try statement.first(row, gap.first, gap.last) { row in
                SourceDetails.GapTime(
                    gap: gap, after: row.optionalInt(0).map(clock.wall), before: row.optionalInt(1).map(clock.wall))
            }
            if let around { times.append(around) }
        }
        return times
    }

    /// `?2` and `?3` are the ends of the gap. The missing facts are probably in the part before it.
    private static let around = """
        WITH part AS (SELECT sequence AS s, at_us, closed, closed_at_us FROM parts \
        WHERE source = ?1 AND sequence < ?2 AND at_us IS NOT NULL ORDER BY sequence DESC LIMIT 1) \
        SELECT max((SELECT at_us FROM part), \
        ifnull((SELECT e.at_us FROM part, events e WHERE e.source = ?1 AND e.part = s AND e.after < ?2 - s ORDER BY e.after DESC LIMIT 1), 0), \
        ifnull((SELECT l.at_us FROM part, exchanges l WHERE l.source = ?1 AND l.part = s AND l.sequence < ?2 AND l.at_us IS NOT NULL \
        ORDER BY l.sequence DESC LIMIT 1), 0)), \
        nullif(min(ifnull((SELECT e.at_us FROM part, events e WHERE e.source = ?1 AND e.part = s AND e.after > ?3 - s \
        ORDER BY e.after LIMIT 1), \(Int64.max)), \
        ifnull((SELECT closed_at_us FROM part WHERE closed > ?3), \(Int64.max)), \
        ifnull((SELECT l.at_us FROM part, exchanges l WHERE l.source = ?1 AND l.part = s AND l.sequence > ?3 AND l.at_us IS NOT NULL \
        ORDER BY l.sequence LIMIT 1), \(Int64.max)), \
        ifnull((SELECT at_us FROM parts WHERE source = ?1 AND sequence > ?3 AND at_us IS NOT NULL ORDER BY sequence LIMIT 1), \(Int64.max))), \
        \(Int64.max))
        """

    private func latestFact(of row: Int64, _ clock: WallClock) throws(WaybillError) -> Int64? {
        let latest =
            try connection.statement(
                """
                SELECT max(at) FROM (SELECT max(last_at_us) AS at FROM (SELECT last_at_us FROM parts WHERE source = ?1 \
                ORDER BY sequence DESC LIMIT 100) UNION ALL SELECT max(at_us) FROM exchanges WHERE source = ?1 AND method IS NOT NULL)
                """
            ).first(row) { row in row.optionalInt(0) } ?? nil
        return latest.map(clock.wall)
    }

    private func latestTransactions(
        of row: Int64, limit: Int, now wall: Int64
    ) throws(WaybillError) -> [TransactionSummary] {
        let leaders = try connection.statement(
            """
            SELECT l.source, l.sequence FROM (SELECT guid, sequence FROM parts WHERE source = ?1 AND guid IS NOT NULL \
            ORDER BY sequence DESC LIMIT ?2) p CROSS JOIN parts l ON l.guid = p.guid AND l.listed_us IS NOT NULL \
            GROUP BY l.source, l.sequence ORDER BY max(p.sequence) DESC
            """
        ).rows(row, limit) { row in ListCursor(listed: 0, source: row.int(0), sequence: row.int(1)) }
        return try summaries(of: leaders, now: wall)
    }

    func row(of source: GUID) throws(WaybillError) -> Int64? {
        try connection.statement("SELECT id FROM sources WHERE uuid = ?").first(source) { row in row.int(0) }
    }
}

extension StoreReader {
    private static let hour: Int64 = 3_600_000_000
    private static let sampleLimit = 20

    package func delivery(now wall: Int64, hours hourCount: Int) throws(WaybillError) -> DeliveryState {
        try read { () throws(WaybillError) in
            var state = DeliveryState(
                own: try own(now: wall), quarantine: try quarantineGroups(),
                quarantinedCount: try connection.integer("SELECT count(*) FROM quarantine"),
                hours: try hours(hourCount, now: wall))
            (state.legacyQuarantine, state.legacyQuarantinedCount) = try legacyQuarantine(
                limit: DeliveryState.groupLimit)
            return state
        }
    }

    private func own(now wall: Int64) throws(WaybillError) -> DeliveryState.Own? {
        let totals = try connection.totals()
        guard try connection.integer("SELECT count(*) FROM sources WHERE heard_us IS NULL") > 0 || !totals.isEmpty
        else { return nil }
        let settled = try connection.statement(
            """
            SELECT p.source, p.sequence FROM sources s CROSS JOIN parts p ON p.source = s.id WHERE s.heard_us IS NULL AND s.delivered > 0 \
            AND p.settled = 1 AND p.listed_us IS NOT NULL AND ifnull((SELECT d.last FROM dropped d WHERE d.source = p.source \
            AND d.first <= p.sequence ORDER BY d.first DESC LIMIT 1), 0) < p.sequence ORDER BY s.id DESC, p.sequence DESC LIMIT 1
            """
        ).first { row in (source: row.int(0), sequence: row.int(1)) }
        let delivered = try connection.integer("SELECT ifnull(sum(delivered), 0) FROM sources WHERE heard_us IS NULL")
        var own = DeliveryState.Own(
            pendingCount: try connection.integer(SQL.pendingCount),
            deliveredCount: totals.reduce(delivered) { $0 + $1.ledger.delivered },
            sending: try connection.statement(
                "SELECT set_id, (SELECT ifnull(sum(last - first + 1), 0) FROM ranges WHERE lease = set_id) FROM leases LIMIT 1"
            ).first { row in (set: row.guid(0), factCount: row.int(1)) },
            settled: try settled.flatMap { (leader) throws(WaybillError) in
                try summary(leader: leader.sequence, of: leader.source, now: wall)
            },
            pause: try deliveryPause(), totals: totals)
        own.heldCount = try connection.heldCount()
        let sampled = try connection.integer(
            """
            SELECT ifnull(sum(max(0, d.last - d.first + 1)), 0) FROM dropped d JOIN sources s ON s.id = d.source \
            WHERE s.heard_us IS NULL AND d.reason = 'sampled'
            """)
        own.sampledCount = totals.reduce(sampled) { $0 + ($1.ledger.dropped[Ledger.DropReason.sampled.rawValue] ?? 0) }
        return own
    }

    private func quarantineGroups() throws(WaybillError) -> [DeliveryState.QuarantineGroup] {
        let found = try connection.statement(
            """
            SELECT s.uuid, s.app, q.reason, count(*), min(q.sequence), max(q.sequence), min(q.at_us), max(q.at_us), q.source \
            FROM quarantine q JOIN sources s ON s.id = q.source GROUP BY q.source, q.reason ORDER BY max(q.at_us) DESC, q.source LIMIT ?
            """
        ).rows(DeliveryState.groupLimit) { row in
            let group = DeliveryState.QuarantineGroup(
                source: row.guid(0), app: row.text(1), reason: row.text(2), count: row.int(3), first: row.int(4),
                last: row.int(5),
                firstMicroseconds: row.int(6), lastMicroseconds: row.int(7), sample: nil)
            return (row: row.int(8), group: group)
        }
        var groups = found.map(\.group)
        for (index, found) in found.enumerated().prefix(Self.sampleLimit) {
            let share = ScannedShare(row: found.row, sequences: SequenceRanges([found.group.first...found.group.first]))
            groups[index].sample = try connection.facts(of: share).first
        }
        return groups
    }

    private func hours(_ count: Int, now wall: Int64) throws(WaybillError) -> [DeliveryState.Hour] {
        guard try connection.integer("SELECT count(*) FROM (SELECT 1 FROM arrivals LIMIT 1)") > 0 else { return [] }
        let current = wall / Self.hour
        let earliest = current - Int64(count) + 1
        var hours = (earliest...current).map {
            DeliveryState.Hour(beginMicroseconds: $0 * Self.hour, setCount: 0, factCount: 0)
        }
        // Sets in one commit have different times, which makes them countable.
        try connection.statement(
            """
            SELECT received_us / ?1, count(DISTINCT received_us), sum(last - first + 1) FROM arrivals \
            WHERE received_us >= ?2 AND received_us < ?3 GROUP BY 1
            """
        ).forEachRow(Self.hour, earliest * Self.hour, (current + 1) * Self.hour) { row in
            let index = Int(clamping: row.int(0) - earliest)
            hours[index].setCount = row.int(1)
            hours[index].factCount = row.int(2)
        }
        return hours
    }
}
