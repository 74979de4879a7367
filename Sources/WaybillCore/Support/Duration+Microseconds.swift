extension Duration {
    /// Whole microseconds, no further from 0 than what a fact can hold.
    package var microseconds: Int {
        let (seconds, attoseconds) = components
        let largestSeconds = Int64(Limits.largestInteger / 1_000_000 - 1)
        return Int(max(-largestSeconds, min(seconds, largestSeconds))) * 1_000_000
            + Int(attoseconds / 1_000_000_000_000)
    }
}
