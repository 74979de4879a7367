#if ClickHouse
import WaybillCore
import WaybillStore

/// Counts which of the facts that have to be there are there, by a bit for each: a sample says nothing of the others.
struct FactCensus {
    /// Those of one source.
    private struct Marks {
        var expected: SequenceRanges
        /// How many are expected before each range.
        var before: [Int64] = []
        var bits: [UInt64]

        init(_ ranges: SequenceRanges) {
            expected = ranges
            var count: Int64 = 0
            for range in ranges.ranges {
                before.append(count)
                count += range.sequenceCount
            }
            bits = Array(repeating: 0, count: Int(clamping: (count + 63) / 64))
        }

        /// Whether it is one of them, and the first time.
        mutating func mark(_ sequence: Int64) -> Bool {
            let index = expected.firstIndex(endingAtOrAfter: sequence)
            guard index < before.count else { return false }
            let first = expected.ranges[index].lowerBound
            guard first <= sequence else { return false }
            let (place, bit) = (before[index] + sequence - first).quotientAndRemainder(dividingBy: 64)
            defer { bits[Int(place)] |= 1 << UInt64(bit) }
            return bits[Int(place)] & 1 << UInt64(bit) == 0
        }
    }

    private var marks: [Marks] = []
    private var places: [GUID: Int] = [:]
    private var missing: Int64 = 0

    init(_ books: DatabaseBooks) {
        for (id, source) in books.sources {
            places[id] = marks.count
            marks.append(Marks(source.expected))
            missing += source.expected.count
        }
    }

    /// - Throws: ``DatabaseBooks/Incomplete``.
    mutating func count(in tables: ClickHouseTables) async throws {
        try await tables.client.forEachRow("SELECT source, sequence FROM facts", tables.reading) { row in
            let (source, sequence) = (try row.guid(), try row.integer() as Int64)
            if let place = places[source], marks[place].mark(sequence) { missing -= 1 }
        }
        guard missing == 0 else { throw DatabaseBooks.Incomplete() }
    }
}
#endif
