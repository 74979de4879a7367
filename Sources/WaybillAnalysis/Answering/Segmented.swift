/// What is collected of the transactions of each segment, by the numbers that a cursor gives to the segments.
struct Segmented<Collected: Mergeable>: Mergeable {
    private let none: Collected
    /// Where what is collected of a segment stands; of those that have no such value, in front. Below 0: nowhere.
    private var places: [Int] = []
    private var collected: [Collected] = []

    /// - Parameter none: What there is before the first transaction.
    init(_ none: Collected) { self.none = none }

    /// Adds a transaction to its segment.
    mutating func add(_ transaction: TransactionCursor.Transaction, _ add: (inout Collected) -> Void) {
        add(&collected[place(of: (transaction.segment ?? -1) + 1)])
    }

    private mutating func place(of segment: Int) -> Int {
        while places.count <= segment { places.append(-1) }
        if places[segment] < 0 {
            places[segment] = collected.count
            collected.append(none)
        }
        return places[segment]
    }

    mutating func merge(_ other: consuming Segmented) {
        for (segment, place) in other.places.enumerated() where place >= 0 {
            collected[self.place(of: segment)].merge(other.collected[place])
        }
    }

    /// The same by the values that the numbers stand for.
    consuming func named(_ values: [String]) -> NamedSegments<Collected> {
        var named = NamedSegments(none)
        for (segment, place) in places.enumerated() where place >= 0 {
            named.segments[segment == 0 ? nil : values[segment - 1]] = collected[place]
        }
        return named
    }
}

/// What is collected of the transactions of each segment, by what they have in common.
package struct NamedSegments<Collected: Mergeable>: Mergeable {
    private let none: Collected
    /// nil: those that have no such value; all, where they are not told apart.
    var segments: [String?: Collected] = [:]

    init(_ none: Collected) { self.none = none }

    /// Adds to a segment.
    mutating func add(to value: String?, _ add: (inout Collected) -> Void) {
        let none = none
        add(&segments[value, default: none])
    }

    package mutating func merge(_ other: consuming NamedSegments) { segments.merge(other.segments) }

    /// What becomes of it.
    ///
    /// - Parameter make: Makes it of a segment and its value, and may leave the segment in another order.
    consuming func answer<Segment>(
        by segmentation: Segmentation?, _ make: (inout Collected, String?) -> Segment
    ) -> SegmentedAnswer<Segment> {
        var made: [Segment] = []
        var total = none
        for value in segments.keys.sorted(by: Segmentation.precedes) {
            // Taken out, so that it is in memory once.
            guard var collected = segments.removeValue(forKey: value) else { continue }
            if segmentation != nil { made.append(make(&collected, value)) }
            total.merge(collected)
        }
        return SegmentedAnswer(total: make(&total, nil), segments: made)
    }
}
