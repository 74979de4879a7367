package import WaybillCore
package import WaybillStore

extension StoreReader {
    /// Returns the clock offsets of the transaction's sources, which add up along a chain of servers.
    package func clockAlignment(of id: GUID) throws(WaybillError) -> ClockAlignment? {
        let parts = try tiedParts(of: id)
        guard let leader = parts.first(where: \.isLeader) else { return nil }
        var alignment = ClockAlignment(reference: leader.id, offsets: [])
        var rows = [leader.id: leader.source]
        var waiting = parts.filter { $0.id != leader.id }
        // A part is not aligned if its chain of causes does not lead to the leading part.
        while let index = waiting.firstIndex(where: { part in part.cause.map { rows[$0.source] != nil } ?? false }) {
            let part = waiting.remove(at: index)
            guard rows[part.id] == nil, let cause = part.cause, let client = rows[cause.source],
                var offset = try offset(of: part, in: id, causedBy: cause, in: client)
            else { continue }
            if let base = alignment[cause.source] {
                offset.microseconds = offset.microseconds.adding(base.microseconds)
                offset.uncertaintyMicroseconds = offset.uncertaintyMicroseconds.adding(base.uncertaintyMicroseconds)
                offset.sampleCount = min(offset.sampleCount, base.sampleCount)
            }
            alignment.offsets.append(offset)
            rows[part.id] = part.source
        }
        return alignment
    }

    private struct TiedPart {
        var source: Int64
        var sequence: Int64
        var isLeader: Bool
        var id: GUID
        var cause: FactID?
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
                cause: row.optionalGUID(4).map { FactID(source: $0, sequence: row.int(5)) })
        }
    }

    /// The microseconds to add to the wall times of a part's source to get its client's wall times.
    private func offset(
        of part: TiedPart, in transaction: GUID, causedBy cause: FactID, in client: Int64
    ) throws(WaybillError) -> ClockAlignment.Offset? {
        let time = try connection.statement(
            """
            SELECT l.at_us FROM parts p JOIN exchanges l ON l.source = p.source AND l.part = p.sequence \
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

    /// A range that holds enough exchanges; a busy server has thousands a second.
    private func times(around time: Int64, in source: Int64) throws(WaybillError) -> ClosedRange<Int64> {
        let count = 4 * OffsetSamples.limit
        let window = OffsetSamples.windowMicroseconds
        let before = try connection.statement(
            "SELECT at_us FROM exchanges WHERE source = ? AND at_us < ? AND method IS NOT NULL ORDER BY at_us DESC LIMIT 1 OFFSET \(count)"
        ).first(source, time) { row in row.int(0) }
        let after = try connection.statement(
            "SELECT at_us FROM exchanges WHERE source = ? AND at_us > ? AND method IS NOT NULL ORDER BY at_us LIMIT 1 OFFSET \(count)"
        ).first(source, time) { row in row.int(0) }
        return max(before ?? .min, time - window)...min(after ?? .max, time + window)
    }
}

/// The possible differences between two clocks: all values from `low` to `high`, in microseconds.
package struct OffsetInterval: Equatable {
    var low: Int64
    var high: Int64

    package var middle: Int64 { low + (high - low) / 2 }

    package var uncertainty: Int64 { high - middle }

    func intersection(_ other: OffsetInterval) -> OffsetInterval? {
        let both = OffsetInterval(low: max(low, other.low), high: min(high, other.high))
        return both.low <= both.high ? both : nil
    }

    /// RFC 5905 (section 7.3, PHI) allows 15 ppm for an NTP clock. Two crystals can drift apart by 100 ppm.
    func after(microseconds: Int64) -> OffsetInterval {
        let drift = microseconds / 10_000 + 1
        return OffsetInterval(low: low - drift, high: high + drift)
    }
}

package struct OffsetEstimate: Equatable {
    package var interval: OffsetInterval
    var sampleCount: Int
}

/// Each exchange bounds the offset of two clocks: a request arrives after it was sent, and a response after it was
/// answered (RFC 5905, section 8).
package struct OffsetSamples {
    struct Sample {
        var at: Int64
        var sequence: Int64
        /// The microseconds to add to the server's clock to get the client's.
        var interval: OffsetInterval
    }

    let samples: [Sample]

    /// After ten minutes, drift adds 60 ms of uncertainty, about as much as the network.
    package static let windowMicroseconds: Int64 = 600_000_000
    static let limit = 64
    /// One or two exchanges may have been slow in the same direction as the one in question.
    static let leastCount = 3

    init(_ samples: [Sample]) { self.samples = samples.sorted { ($0.at, $0.sequence) < ($1.at, $1.sequence) } }

    /// Stops at the first contradiction: the machine was suspended in between, or its clock restarted.
    func estimate(at time: Int64, besides sequence: Int64) -> OffsetEstimate? {
        var later = samples[...].partitioningIndex { ($0.at, $0.sequence) >= (time, sequence) }
        var earlier = later - 1
        if later < samples.count, samples[later].at == time, samples[later].sequence == sequence { later += 1 }

        var estimate: OffsetEstimate?
        while (estimate?.sampleCount ?? 0) < Self.limit {
            let before = earlier >= 0 ? time - samples[earlier].at : .max
            let after = later < samples.count ? samples[later].at - time : .max
            guard min(before, after) <= Self.windowMicroseconds else { break }
            let sample = before <= after ? samples[earlier] : samples[later]
            if before <= after { earlier -= 1 } else { later += 1 }
            let interval = sample.interval.after(microseconds: min(before, after))
            guard let known = estimate else {
                estimate = OffsetEstimate(interval: interval, sampleCount: 1)
                continue
            }
            guard let both = known.interval.intersection(interval) else { break }
            estimate = OffsetEstimate(interval: both, sampleCount: known.sampleCount + 1)
        }
        return estimate.flatMap { $0.sampleCount >= Self.leastCount ? $0 : nil }
    }
}
