package import WaybillCore
package import WaybillStore

/// What became of facts on their way.
extension StoreReader {
    private static let hour: Int64 = 3_600_000_000
    private static let sampleLimit = 20

    /// How facts come in and go on, by one state of the store.
    ///
    /// - Parameters:
    ///   - wall: Now, in microseconds since 1970.
    ///   - hourCount: How many hours back.
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
        let totals = try Totals(connection: connection).all()
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
        own.heldCount = try HeldParts(connection: connection).count()
        let sampled = try connection.integer(
            """
            SELECT ifnull(sum(max(0, d.last - d.first + 1)), 0) FROM dropped d JOIN sources s ON s.id = d.source \
            WHERE s.heard_us IS NULL AND d.reason = 'sampled'
            """)
        own.sampledCount = totals.reduce(sampled) { $0 + ($1.ledger.dropped[DropReason.sampled.rawValue] ?? 0) }
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
            groups[index].sample = try QuarantineRows(connection: connection).facts(of: share).first
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
        // Sets that came in one commit carry times of their own, so that they can be counted by them.
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
