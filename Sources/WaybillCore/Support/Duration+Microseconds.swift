extension Duration {
    /// Whole microseconds, no further from 0 than what a fact can hold.
    package var microseconds: Int64 {
        let (seconds, attoseconds) = components
        let largestSeconds = Limits.largestInteger / 1_000_000 - 1
        return max(-largestSeconds, min(seconds, largestSeconds)) * 1_000_000
            + attoseconds / 1_000_000_000_000
    }
}
