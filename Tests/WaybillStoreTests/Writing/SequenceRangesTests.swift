import TestSupport
import Testing
import WaybillTesting

@testable import WaybillStore

@Suite(.timeLimit(.minutes(5))) struct SequenceRangesTests {
    /// Breaks when a range differs from a plain set of numbers, or when two touching ranges are not merged.
    @Test(arguments: 0..<100)
    func rangesAreWhatASetOfNumbersIs(seed: Int) {
        var random = RandomNumbers(seed: seed)
        func some() -> (SequenceRanges, Set<Int64>) {
            var ranges = SequenceRanges()
            var numbers: Set<Int64> = []
            for _ in 0..<Int.random(in: 0...8, using: &random) {
                let first = Int64.random(in: 1...40, using: &random)
                let range = first...(first + Int64.random(in: 0...6, using: &random))
                ranges.insert(range)
                numbers.formUnion(range)
            }
            return (ranges, numbers)
        }
        let (left, leftNumbers) = some()
        let (right, rightNumbers) = some()
        func agree(_ ranges: SequenceRanges, _ numbers: Set<Int64>) -> Bool {
            let isApart = zip(ranges.ranges, ranges.ranges.dropFirst()).allSatisfy { $0.upperBound + 1 < $1.lowerBound }
            return isApart && ranges.ranges.flatMap(Array.init) == numbers.sorted()
                && ranges.count == Int64(numbers.count)
                && (0...60).allSatisfy { ranges.contains($0) == numbers.contains($0) }
        }
        #expect(agree(left, leftNumbers))
        let shuffled = (Array(leftNumbers) + rightNumbers).shuffled(using: &random)
        #expect(agree(SequenceRanges(each: shuffled), leftNumbers.union(rightNumbers)))
        #expect(agree(left.union(right), leftNumbers.union(rightNumbers)))
        #expect(agree(left.subtracting(right), leftNumbers.subtracting(rightNumbers)))
        for index in -1...leftNumbers.count {
            let expected = leftNumbers.sorted().indices.contains(index) ? leftNumbers.sorted()[index] : nil
            #expect(left.element(at: Int64(index)) == expected)
        }
    }

    /// Breaks when a file with impossible sequence numbers ends the process that reads it.
    @Test func theEndsOfNumbersAreNoTrap() {
        var ranges = SequenceRanges([
            Int64.min...Int64.max, 5...Int64.max, Int64.max...Int64.max, Int64.min...Int64.min,
        ])
        ranges.insert(7...9)
        #expect(ranges.ranges.count == 1 && ranges.contains(8))
        let rest = ranges.subtracting(SequenceRanges([5...Int64.max]))
        #expect(rest.contains(4) && !rest.contains(5))
        #expect(ranges.count > 1 << 60)
    }
}
