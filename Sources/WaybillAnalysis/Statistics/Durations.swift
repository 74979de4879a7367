/// Many durations in microseconds, most of them in four bytes each: a question about ten million events may hold as
/// many.
package struct Durations {
    /// Up to some 35 minutes.
    private var short: [Int32] = []
    /// The others, before and after all of those.
    private var long: [Int] = []

    package init() {}

    package var count: Int { short.count + long.count }

    package mutating func append(_ microseconds: Int) {
        if let short = Int32(exactly: microseconds) { self.short.append(short) } else { long.append(microseconds) }
    }

    /// Takes over those of another.
    package mutating func append(_ other: inout Durations) {
        short += other.short
        long += other.long
        other = Durations()
    }

    package func forEach(_ body: (Int) -> Void) {
        for value in short { body(Int(value)) }
        for value in long { body(value) }
    }

    /// nil where there is none.
    package var minimum: Int? { [short.min().map(Int.init), long.min()].compactMap(\.self).min() }
    /// nil where there is none.
    package var maximum: Int? { [short.max().map(Int.init), long.max()].compactMap(\.self).max() }

    /// The values that sorting would put at these ranks; leaves them in another order.
    ///
    /// - Parameter ranks: In order, from 0.
    mutating func values(atRanks ranks: [Int]) -> [Int] {
        long.sort()
        let before = long.prefix { $0 < 0 }.count
        let among = before..<before + short.count
        let sought = ranks.filter(among.contains).map { $0 - before }
        short.withUnsafeMutableBufferPointer { Selection.place(sought[...], in: $0) }
        return ranks.map { rank in
            among.contains(rank) ? Int(short[rank - before]) : long[rank < before ? rank : rank - short.count]
        }
    }
}
