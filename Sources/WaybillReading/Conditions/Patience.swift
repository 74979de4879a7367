/// How long a list is looked through for one page of it.
///
/// Indexes find what use cases, outcomes and times ask for. Every other condition is asked of one transaction after the
/// other, which takes seconds where there are a million and hardly any passes. A page that takes longer than this ends
/// early, and says how far it got.
package struct Patience: Sendable {
    /// How many rows are looked at before it is asked again.
    let stretch: Int
    /// Whether it has run out.
    let isOver: @Sendable () -> Bool

    init(stretch: Int, isOver: @escaping @Sendable () -> Bool) {
        self.stretch = stretch
        self.isOver = isOver
    }

    /// Lasts for about this long from now; a page looks at a thousand rows at least.
    package static func lasting(_ duration: Duration) -> Patience {
        let deadline = ContinuousClock.now + duration
        return Patience(stretch: 1000) { ContinuousClock.now >= deadline }
    }
}

/// How far a page has got that is neither full nor at the end of its list.
package enum SearchProgress: Sendable, Hashable {
    /// Looked at so many, back to the one that has this place in the list; ``RecordPage/next`` goes on there.
    case lookedAt(Int, through: Place)
    /// Those whose ID or support code the text is; ``RecordPage/next`` begins to look for others that mention it.
    case foundByID

    /// What a list is in the order of.
    package enum Place: Sendable, Hashable {
        /// Microseconds since 1970.
        case time(Int)
        /// Microseconds; nil: none.
        case duration(Int?)
    }
}
