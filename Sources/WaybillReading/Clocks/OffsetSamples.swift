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
