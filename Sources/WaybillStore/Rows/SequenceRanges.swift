import WaybillCore

/// A set of sequences as sorted ranges with gaps between them.
package struct SequenceRanges: Equatable, Sendable {
    package private(set) var ranges: [ClosedRange<Int64>] = []

    /// Beyond every sequence, but safe from overflow.
    private static let places = (Int64.min / 4)...(Int64.max / 4)

    package init() {}

    /// Sorts first, because inserting in the middle moves all later ranges.
    package init(_ ranges: some Sequence<ClosedRange<Int64>>) {
        for range in ranges.ordered(by: { $0.lowerBound < $1.lowerBound }) { insert(range) }
    }

    package init(each sequences: some Sequence<Int64>) {
        var others: [Int64] = []
        for sequence in sequences {
            if sequence >= ranges.last?.lowerBound ?? .min {
                insert(sequence...sequence)
            } else {
                others.append(sequence)
            }
        }
        if !others.isEmpty { self = union(SequenceRanges(each: others.sorted())) }
    }

    package var isEmpty: Bool { ranges.isEmpty }
    package var last: Int64? { ranges.last?.upperBound }
    package var count: Int64 { ranges.reduce(0) { $0 + $1.sequenceCount } }

    package func contains(_ sequence: Int64) -> Bool {
        let index = firstIndex(endingAtOrAfter: sequence)
        return index < ranges.count && ranges[index].lowerBound <= sequence
    }

    package func meets(_ range: ClosedRange<Int64>) -> Bool {
        let index = firstIndex(endingAtOrAfter: range.lowerBound)
        return index < ranges.count && ranges[index].lowerBound <= range.upperBound
    }

    package mutating func insert(_ range: ClosedRange<Int64>) {
        // A foreign file may contain any number; this avoids overflow at the neighbors.
        let range = range.clamped(to: Self.places)
        if let last = ranges.last, last.lowerBound <= range.lowerBound {
            if range.lowerBound > last.upperBound + 1 { return ranges.append(range) }
            ranges[ranges.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
            return
        }
        let start = firstIndex(endingAtOrAfter: range.lowerBound - 1)
        var end = start
        var merged = range
        while end < ranges.count, ranges[end].lowerBound <= range.upperBound + 1 {
            merged = min(merged.lowerBound, ranges[end].lowerBound)...max(merged.upperBound, ranges[end].upperBound)
            end += 1
        }
        ranges.replaceSubrange(start..<end, with: [merged])
    }

    package func subtracting(_ other: SequenceRanges) -> SequenceRanges {
        var result = SequenceRanges()
        for range in ranges {
            var next = range.lowerBound
            var index = other.firstIndex(endingAtOrAfter: next)
            while index < other.ranges.count, other.ranges[index].lowerBound <= range.upperBound {
                let hole = other.ranges[index]
                if hole.lowerBound > next { result.insert(next...(hole.lowerBound - 1)) }
                next = hole.upperBound + 1
                index += 1
            }
            if next <= range.upperBound { result.insert(next...range.upperBound) }
        }
        return result
    }

    package func intersection(_ other: SequenceRanges) -> SequenceRanges { subtracting(subtracting(other)) }

    package func union(_ other: SequenceRanges) -> SequenceRanges {
        if other.ranges.count < 2 {
            var result = self
            for range in other.ranges { result.insert(range) }
            return result
        }
        return SequenceRanges(ranges + other.ranges)
    }

    package func element(at index: Int64) -> Int64? {
        guard index >= 0 else { return nil }
        var left = index
        for range in ranges {
            if left < range.sequenceCount { return range.lowerBound + left }
            left -= range.sequenceCount
        }
        return nil
    }

    /// Returns the index of the first range that does not end before `sequence`, by bisection.
    package func firstIndex(endingAtOrAfter sequence: Int64) -> Int {
        var low = 0
        var high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < sequence { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension ClosedRange<Int64> {
    /// An `Int64`, because `count` overflows a 32-bit `Int`.
    package var sequenceCount: Int64 { upperBound - lowerBound + 1 }
}

extension [Fact] {
    /// The facts' sequences, read by index, because iteration copies each fact.
    package var sequences: SequenceRanges { SequenceRanges(each: indices.lazy.map { self[$0].sequence }) }
}
