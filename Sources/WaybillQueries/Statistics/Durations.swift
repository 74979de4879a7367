/// Many durations in microseconds, mostly in four bytes each, because a question may have ten million.
package struct Durations: Mergeable {
    /// Up to 35 minutes.
    private var short: [Int32] = []
    private var long: [Int64] = []
    private var weighed: [(value: Int64, weight: Int64)] = []

    package init() {}

    package var count: Int {
        short.count + long.count + Weights.count(weighed.reduce(into: 0) { $0.addWeight($1.weight) })
    }

    package mutating func append(_ microseconds: Int64, weight: Int64 = Weights.one) {
        guard weight == Weights.one else {
            if weight > 0 { weighed.append((microseconds, weight)) }
            return
        }
        if let short = Int32(exactly: microseconds) { self.short.append(short) } else { long.append(microseconds) }
    }

    package mutating func merge(_ other: consuming Durations) {
        // Appending to an empty array would copy the values.
        if short.isEmpty { short = other.short } else { short += other.short }
        long += other.long
        weighed += other.weighed
    }

    package func forEach(_ body: (_ value: Int64, _ weight: Int64) -> Void) {
        for value in short { body(Int64(value), Weights.one) }
        for value in long { body(value, Weights.one) }
        for (value, weight) in weighed { body(value, weight) }
    }

    package var minimum: Int64? {
        [short.min().map(Int64.init), long.min(), weighed.lazy.map(\.value).min()].compactMap(\.self).min()
    }
    package var maximum: Int64? {
        [short.max().map(Int64.init), long.max(), weighed.lazy.map(\.value).max()].compactMap(\.self).max()
    }

    var inOrder: WeighedValues<Int64>? {
        guard !weighed.isEmpty else { return nil }
        var all = weighed
        for value in short { all.append((Int64(value), Weights.one)) }
        for value in long { all.append((value, Weights.one)) }
        return WeighedValues(all)
    }

    var sample: QuantileSample {
        if let inOrder { return .weighed(inOrder) }
        return .values((short.map(Int64.init) + long).sorted())
    }

    /// Returns the values that sorting would put at these ascending ranks, from 0. Reorders the values.
    mutating func values(atRanks ranks: [Int]) -> [Int64] {
        long.sort()
        let before = long.prefix { $0 < 0 }.count
        let among = before..<before + short.count
        let sought = ranks.filter(among.contains).map { $0 - before }
        short.withUnsafeMutableBufferPointer { Selection.place(sought[...], in: $0) }
        return ranks.map { rank in
            among.contains(rank) ? Int64(short[rank - before]) : long[rank < before ? rank : rank - short.count]
        }
    }
}

package struct WeighedValues<Value: Comparable> {
    let sorted: [(value: Value, weight: Int64)]
    private let sums: [Int64]
    /// The effective sample size (Kish, "Survey Sampling", 1965, section 11.7).
    let effectiveCount: Int

    init(_ all: [(value: Value, weight: Int64)]) {
        // Sorts by weight, too: sums must not depend on the order of collection.
        sorted = all.sorted { ($0.value, $0.weight) < ($1.value, $1.weight) }
        var sum: Int64 = 0
        sums = sorted.map { element in
            sum.addWeight(element.weight)
            return sum
        }
        let squares = sorted.reduce(0.0) { $0 + Double($1.weight) * Double($1.weight) }
        effectiveCount = squares > 0 ? max(1, Int(Double(sum) * Double(sum) / squares)) : 0
    }

    var total: Int64 { sums.last ?? 0 }

    func value(atPercent percent: Int) -> Value? { value(at: Int64(percent), of: 100) }

    func value(at part: Int64, of whole: Int64) -> Value? {
        guard !sums.isEmpty else { return nil }
        // Two steps avoid an overflow.
        let needed = total / whole * part + (total % whole * part + whole - 1) / whole
        return sums.firstIndex { $0 >= needed }.map { sorted[$0].value }
    }
}
