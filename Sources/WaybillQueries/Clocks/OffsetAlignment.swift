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

    /// What has to be added to the wall times of a part's source to get those of its client.
    private func offset(
        of part: TiedPart, in transaction: GUID, causedBy cause: FactID, in client: Int64
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

/// What may have to be added to one clock to get another: all values from `low` to `high`, in microseconds.
package struct OffsetInterval: Equatable {
    var low: Int64
    var high: Int64

    /// The best guess: as far from either end.
    package var middle: Int64 { low + (high - low) / 2 }

    /// How far the guess may be off.
    package var uncertainty: Int64 { high - middle }

    /// What both allow; nil where they contradict each other.
    func intersection(_ other: OffsetInterval) -> OffsetInterval? {
        let both = OffsetInterval(low: max(low, other.low), high: min(high, other.high))
        return both.low <= both.high ? both : nil
    }

    /// What is left of it so much earlier or later, since clocks drift apart.
    ///
    /// RFC 5905 lets the uncertainty of a clock that NTP disciplines grow by 15 millionths (section 7.3, PHI). Crystals
    /// alone are good for 50, and here are two of them.
    func after(microseconds: Int64) -> OffsetInterval {
        let drift = microseconds / 10_000 + 1
        return OffsetInterval(low: low - drift, high: high + drift)
    }
}

/// What exchanges say of two clocks.
package struct OffsetEstimate: Equatable {
    package var interval: OffsetInterval
    /// How many say it.
    var sampleCount: Int
}

/// The exchanges between two sources that say how far their clocks are apart.
///
/// It is the clocks that facts carry which are compared, and not what they tell of wall time: those are never set, so
/// that they drift and do not jump. Each exchange bounds the offset: its request cannot have come before it was sent,
/// its response not before it was answered (RFC 5905, section 8). What all of them allow is narrower than what the
/// quickest one does, as soon as one has the quickest request and another the quickest response; and an exchange that
/// was slow, because it had to connect first, say, is one that bounds little. So none has to be preferred.
package struct OffsetSamples {
    struct Sample {
        /// When the request was sent, by the client's clock.
        var at: Int64
        /// Of the client's fact.
        var sequence: Int64
        /// What has to be added to the server's clock to get the client's.
        var interval: OffsetInterval
    }

    /// In order of (time, sequence).
    let samples: [Sample]

    /// How far away in time an exchange may be. After ten minutes drift alone makes it uncertain by 60 ms, which is
    /// what a network takes.
    package static let windowMicroseconds: Int64 = 600_000_000
    /// So many are looked at, the nearest in time: beyond, they add cost, and little else.
    static let limit = 64
    /// With fewer nothing is said: one or two exchanges may as well have been slow in the same direction as the one in
    /// question.
    static let leastCount = 3

    init(_ samples: [Sample]) { self.samples = samples.sorted { ($0.at, $0.sequence) < ($1.at, $1.sequence) } }

    /// What the exchanges around one say, without itself.
    ///
    /// The nearest first, until one contradicts those before: then the machine was suspended between the two, or its
    /// clock restarted, and what lies beyond is of no use.
    ///
    /// - Returns: nil where there are too few.
    func estimate(at time: Int64, besides sequence: Int64) -> OffsetEstimate? {
        var (later, end) = (0, samples.count)
        while later < end {
            let middle = (later + end) / 2
            if (samples[middle].at, samples[middle].sequence) < (time, sequence) {
                later = middle + 1
            } else {
                end = middle
            }
        }
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
