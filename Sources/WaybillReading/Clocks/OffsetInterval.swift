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
