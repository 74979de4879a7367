import WaybillCore
import WaybillStore

/// The weights of an answer from sampled transactions: each delivered one also counts for those that are missing.
///
/// A transaction chosen with a rate of 0.1 counts ten times. One delivered because of its outcome counts once. Counts,
/// sums and percentiles are estimates.
public struct Weighing: Hashable, Sendable, Codable {
    /// The number of transactions, or of exchanges in a question about the network, that count.
    public var delivered: Int
    /// The estimated number of all of them.
    public var estimated: Int
    /// The margin of error of ``estimated`` at the 95 % level: 1.96 times the square root of the Horvitz–Thompson
    /// variance, the sum of w (w - 1) over all weights w.
    public var margin: Int

    /// Creates a weighing.
    public init(delivered: Int, estimated: Int, margin: Int) {
        (self.delivered, self.estimated, self.margin) = (delivered, estimated, margin)
    }

    /// One sentence with all three numbers.
    public var sentence: String {
        "Weighed: \(delivered) of about \(estimated) (± \(margin)) count here; a sample stands for the others, and the "
            + "counts are estimates."
    }
}

/// Sums of weights in millionths.
package struct Weights: Mergeable {
    package static let one = Int64(Fact.Sampling.million)

    private var delivered = 0
    private(set) var sum: Int64 = 0
    /// Of thousandths. It is exact for many millions, and therefore independent of the order.
    private var squares = 0.0

    package init() {}

    init(_ count: Int, each weight: Int64 = Self.one) {
        (delivered, sum) = (count, Int64(count).multipliedBounded(by: weight))
        squares = Double(count) * Self.square(weight)
    }

    package mutating func merge(_ other: consuming Weights) {
        delivered += other.delivered
        sum.addWeight(other.sum)
        squares += other.squares
    }

    package mutating func add(_ weight: Int64) {
        delivered += 1
        sum.addWeight(weight)
        squares += Self.square(weight)
    }

    private static func square(_ weight: Int64) -> Double { Double(weight / 1_000) * Double(weight / 1_000) }

    package static func count(_ sum: Int64) -> Int { Int(clamping: (sum + one / 2) / one) }

    package var weighing: Weighing? {
        guard sum != Int64(delivered) * Self.one else { return nil }
        let deviation = max(0, squares - Double(sum)).squareRoot() / 1_000
        return Weighing(
            delivered: delivered, estimated: Self.count(sum), margin: Int((1.96 * deviation).rounded(.up)))
    }

    /// Uses the effective sample size: weighted transactions count less, to keep the interval honest.
    func rate(of part: Int64, z: Double? = nil) -> Estimate<Double> {
        let whole = Double(sum) / 1_000
        return Estimate(
            rateOf: min(1, Double(part) / 1_000 / max(1, whole)), by: squares > 0 ? whole * whole / squares : 0, z: z)
    }
}

extension Int64 {
    /// The largest sum of weights. Two of them don't overflow.
    private static let greatestWeight: Int64 = 1 << 61

    /// Returns a bounded sum: a transaction may claim a weight of a million, and there may be many millions of them.
    package func addingWeight(_ weight: Int64) -> Int64 { Swift.min(self + weight, Self.greatestWeight) }

    package mutating func addWeight(_ weight: Int64) { self = addingWeight(weight) }

    fileprivate func multipliedBounded(by weight: Int64) -> Int64 {
        let (product, isTooLarge) = multipliedReportingOverflow(by: weight)
        return isTooLarge ? Self.greatestWeight : Swift.min(product, Self.greatestWeight)
    }
}

extension Dictionary where Value == Int64 {
    var counts: [Key: Int] { mapValues(Weights.count).filter { $0.value > 0 } }
}

extension Fact.Sampling {
    /// Whether a store has sampled transactions from other sources.
    static func isNeeded(in connection: Connection) throws(WaybillError) -> Bool {
        try connection.integer(
            """
            SELECT EXISTS(SELECT 1 FROM parts p INDEXED BY parts_sampled JOIN sources s ON s.id = p.source \
            WHERE p.sample_ppm IS NOT NULL AND s.heard_us IS NOT NULL)
            """) != 0
    }
}
