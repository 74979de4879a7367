#if Collector
/// What the bearer of a token may do within the token's project.
package enum Role: String, Sendable, Hashable, CaseIterable {
    /// Send sets and spans, and nothing else: what an app carries, where its users can find it.
    case ingest
    /// Look at everything, and change nothing.
    case read
    /// Everything, erasing included.
    case admin

    /// Whether it may do what `role` is asked for.
    func includes(_ role: Role) -> Bool { self == role || self == .admin }
}
#endif
