/// How much a lease may claim.
package struct LeaseLimit: Sendable {
    /// Default: 2,000.
    package var factCount: Int
    /// About how large the set may be as JSON; one fact is always taken. Default: 512 KB.
    package var byteCount: Int

    package init(factCount: Int = 2_000, byteCount: Int = 512 * 1024) {
        self.factCount = factCount
        self.byteCount = byteCount
    }
}
