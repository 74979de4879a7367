package import WaybillCore
package import WaybillStore

/// How far the clocks of one transaction's sources are apart.
extension StoreReader {
    /// What is known of the clocks of those that took part; nil where there is no such transaction.
    ///
    /// A source's clock is compared with that of the source whose exchange caused its part, by the exchanges around
    /// that one; by itself, where those are too few. What servers asked of each other adds up, offsets and
    /// uncertainties.
    package func clockAlignment(of id: GUID) throws(WaybillError) -> ClockAlignment? {
        try read { () throws(WaybillError) in
            let parts = try tiedParts(of: id)
            guard let leader = parts.first(where: \.isLeader) else { return nil }
            var offsets: [GUID: ClockAlignment.Offset] = [:]
            var order: [GUID] = []
            var rows = [leader.id: leader.source]
            var waiting = parts.filter { $0.id != leader.id }
            // From the leader outwards. A part whose cause is not reached this way is not aligned.
            while let index = waiting.firstIndex(where: { part in part.cause.map { rows[$0.source] != nil } ?? false })
            {
                let part = waiting.remove(at: index)
                guard rows[part.id] == nil, let cause = part.cause, let client = rows[cause.source],
                    let offset = try offset(of: part, in: id, causedBy: cause, in: client)
                else { continue }
                let base = offsets[cause.source]
                offsets[part.id] = ClockAlignment.Offset(
                    source: part.id, microseconds: offset.microseconds.adding(base?.microseconds ?? 0),
                    uncertaintyMicroseconds: offset.uncertaintyMicroseconds.adding(base?.uncertaintyMicroseconds ?? 0),
                    sampleCount: min(offset.sampleCount, base?.sampleCount ?? .max))
                rows[part.id] = part.source
                order.append(part.id)
            }
            return ClockAlignment(reference: leader.id, offsets: order.compactMap { offsets[$0] })
        }
    }

    private struct TiedPart {
        /// `sources.id`.
        var source: Int64
        var sequence: Int64
        var isLeader: Bool
        /// The source's.
        var id: GUID
        var cause: Fact.ID?
    }

    private func tiedParts(of transaction: GUID) throws(WaybillError) -> [TiedPart] {
        try connection.statement(
            """
            SELECT p.source, p.sequence, p.listed_us IS NOT NULL, s.uuid, p.cause_source, p.cause FROM parts p JOIN sources s ON s.id = p.source \
            WHERE p.guid = ? ORDER BY s.uuid, p.sequence
            """
        ).rows(transaction) { row in
            TiedPart(
                source: row.int(0), sequence: row.int(1), isLeader: row.bool(2), id: row.guid(3),
                cause: row.optionalGUID(4).map { Fact.ID(source: $0, sequence: row.int(5)) })
        }
    }

    /// What has to be added to the wall times of a part's source to get those of its client.
    private func offset(
        of part: TiedPart, in transaction: GUID, causedBy cause: Fact.ID, in client: Int64
    ) throws(WaybillError) -> ClockAlignment.Offset? {
        let time = try connection.statement(
            """
            SELECT l.at_us FROM parts p JOIN network_logs l ON l.source = p.source AND l.part = p.sequence \
            WHERE p.guid = ? AND p.source = ? AND l.sequence = ? AND l.method IS NOT NULL
            """
        ).first(transaction, client, cause.sequence) { row in row.int(0) }
        guard let time else { return nil }
        let known = try OffsetExchanges(
            of: client, id: cause.source, opened: times(around: time, in: client), connection)
        guard let exchange = known.exchanges.first(where: { $0.sequence == cause.sequence }),
            let server = exchange.server,
            server.source == part.source, server.part == part.sequence
        else { return nil }
        let estimate =
            known.estimate(for: exchange) ?? exchange.interval.map { OffsetEstimate(interval: $0, sampleCount: 0) }
        guard let estimate else { return nil }
        let (clock, other) = (try WallClock(of: client, connection), try WallClock(of: part.source, connection))
        let wall = clock.offset(at: exchange.opened).subtracting(other.offset(at: server.opened))
        return ClockAlignment.Offset(
            source: part.id, microseconds: estimate.interval.middle.adding(wall),
            uncertaintyMicroseconds: estimate.interval.uncertainty,
            sampleCount: estimate.sampleCount)
    }

    /// As much time around one as it takes to find exchanges that say something; a busy server has thousands a second.
    private func times(around time: Int64, in source: Int64) throws(WaybillError) -> ClosedRange<Int64> {
        let count = 4 * OffsetSamples.limit
        let window = OffsetSamples.windowMicroseconds
        let before = try connection.statement(
            "SELECT at_us FROM network_logs WHERE source = ? AND at_us < ? AND method IS NOT NULL ORDER BY at_us DESC LIMIT 1 OFFSET \(count)"
        ).first(source, time) { row in row.int(0) }
        let after = try connection.statement(
            "SELECT at_us FROM network_logs WHERE source = ? AND at_us > ? AND method IS NOT NULL ORDER BY at_us LIMIT 1 OFFSET \(count)"
        ).first(source, time) { row in row.int(0) }
        return max(before ?? .min, time - window)...min(after ?? .max, time + window)
    }
}
