/// Many durations in microseconds, most of them in four bytes each: a question about ten million events may hold as
/// many.
package struct Durations: Mergeable {
    /// Up to some 35 minutes.
    private var short: [Int32] = []
    /// The others, before and after all of those.
    private var long: [Int64] = []
    /// Those that do not stand for themselves alone, with their weights.
    private var weighed: [(value: Int64, weight: Int64)] = []

    package init() {}

    /// How many, or how many they stand for.
    package var count: Int {
        short.count + long.count + Weights.count(weighed.reduce(into: 0) { $0.addWeight($1.weight) })
    }

    /// - Parameter weight: In millionths; what stands for none is left out.
    package mutating func append(_ microseconds: Int64, weight: Int64 = Weights.one) {
        guard weight == Weights.one else {
            if weight > 0 { weighed.append((microseconds, weight)) }
            return
        }
        if let short = Int32(exactly: microseconds) { self.short.append(short) } else { long.append(microseconds) }
    }

    package mutating func merge(_ other: consuming Durations) {
        // Else they would be in memory twice for a while.
        if short.isEmpty { short = other.short } else { short += other.short }
        long += other.long
        weighed += other.weighed
    }

    package func forEach(_ body: (_ value: Int64, _ weight: Int64) -> Void) {
        for value in short { body(Int64(value), Weights.one) }
        for value in long { body(value, Weights.one) }
        for (value, weight) in weighed { body(value, weight) }
    }

    /// nil where there is none.
    package var minimum: Int64? {
        [short.min().map(Int64.init), long.min(), weighed.lazy.map(\.value).min()].compactMap(\.self).min()
    }
    /// nil where there is none.
    package var maximum: Int64? {
        [short.max().map(Int64.init), long.max(), weighed.lazy.map(\.value).max()].compactMap(\.self).max()
    }

    /// All in order with their weights; nil where each stands for itself.
    var inOrder: WeighedValues? {
        guard !weighed.isEmpty else { return nil }
        var all = weighed
        for value in short { all.append((Int64(value), Weights.one)) }
        for value in long { all.append((value, Weights.one)) }
        return WeighedValues(all)
    }

    /// All of them, in order.
    var sample: QuantileSample {
        if let inOrder { return .weighed(inOrder) }
        return .values((short.map(Int64.init) + long).sorted())
    }

    /// The values that sorting would put at these ranks; leaves them in another order.
    ///
    /// - Parameter ranks: In order, from 0.
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

/// Values with what they stand for, in order.
package struct WeighedValues {
    private let values: [Int64]
    /// The weights of each and of all before it, added up.
    private let sums: [Int64]
    /// The number of values that would say as much if each stood for itself (Kish, "Survey Sampling", 1965, section
    /// 11.7): the square of the sum of weights by the sum of their squares.
    let effectiveCount: Int

    init(_ all: [(value: Int64, weight: Int64)]) {
        // By weight, too, so that what is added up comes to the same in whatever order they were collected.
        let sorted = all.sorted { ($0.value, $0.weight) < ($1.value, $1.weight) }
        values = sorted.map(\.value)
        var sum: Int64 = 0
        sums = sorted.map { element in
            sum.addWeight(element.weight)
            return sum
        }
        let squares = sorted.reduce(0.0) { $0 + Double($1.weight) * Double($1.weight) }
        effectiveCount = squares > 0 ? max(1, Int(Double(sum) * Double(sum) / squares)) : 0
    }

    /// The least value that, with those below it, stands for so many hundredths of all.
    func value(atPercent percent: Int) -> Int64? { value(at: Int64(percent), of: 100) }

    /// The same for a share of all.
    func value(at part: Int64, of whole: Int64) -> Int64? {
        guard let total = sums.last else { return nil }
        // In two steps, so that no product is too large.
        let needed = total / whole * part + (total % whole * part + whole - 1) / whole
        return sums.firstIndex { $0 >= needed }.map { values[$0] }
    }
}
