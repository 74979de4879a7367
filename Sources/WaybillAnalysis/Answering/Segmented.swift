import WaybillCore

/// What is collected over all transactions and, where they are told apart, over those of each segment.
struct Segmented<Collected> {
    private let none: Collected
    private var total: Collected
    private var segments: [Int?: Collected] = [:]
    private let tellsApart: Bool

    /// - Parameter none: What there is before the first transaction.
    init(_ none: Collected, by segmentation: Segmentation?) {
        self.none = none
        total = none
        tellsApart = segmentation != nil
    }

    /// Adds a transaction to all, and to its segment.
    mutating func add(_ transaction: TransactionCursor.Transaction, _ add: (inout Collected) -> Void) {
        add(&total)
        guard tellsApart else { return }
        let none = none
        add(&segments[transaction.segment, default: none])
    }

    /// What becomes of it.
    ///
    /// - Parameter values: Those that the transactions' segments stand for.
    func answer<Segment>(_ values: [String], _ make: (Collected, String?) -> Segment) -> SegmentedAnswer<Segment> {
        let named = segments.map { segment, collected in (value: segment.map { values[$0] }, collected: collected) }
        let ordered = named.sorted { Segmentation.precedes($0.value, $1.value) }
        return SegmentedAnswer(total: make(total, nil), segments: ordered.map { make($0.collected, $0.value) })
    }
}
