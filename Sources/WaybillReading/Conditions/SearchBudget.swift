/// How long a list is looked through for one page of it.
///
/// Indexes find what use cases, outcomes and times ask for. Every other condition is asked of one transaction after the
/// other, which takes seconds where there are a million and hardly any passes. A page that takes longer than this ends
/// early, and says how far it got.
package struct SearchBudget: Sendable {
    /// How many rows are looked at before it is asked again.
    let stretch: Int
    /// Whether it has run out.
    let isOver: @Sendable () -> Bool

    init(stretch: Int, isOver: @escaping @Sendable () -> Bool) {
        self.stretch = stretch
        self.isOver = isOver
    }

    /// Lasts for about this long from now; a page looks at a thousand rows at least.
    package static func lasting(_ duration: Duration) -> SearchBudget {
        let deadline = ContinuousClock.now + duration
        return SearchBudget(stretch: 1000) { ContinuousClock.now >= deadline }
    }
}
