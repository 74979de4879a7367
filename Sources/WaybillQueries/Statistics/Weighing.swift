import WaybillCore
import WaybillStore

/// What an answer counts by, where sampling kept transactions from being delivered, or a question is about a sample of
/// them: each that is there counts for those that are not.
///
/// What was chosen with a rate of 0.1 counts ten times, what was delivered for its end once, since it would have been
/// delivered in any case. Counts, sums and quantiles go by that; they are estimates, the better the more was delivered.
public struct Weighing: Hashable, Sendable, Codable {
    /// Transactions (of a question about the network: exchanges) that are there and count.
    public var delivered: Int
    /// For how many they stand.
    public var estimated: Int
    /// With 95 % probability the true number is no further than this from ``estimated``: 1.96 times the root of what
    /// Horvitz and Thompson estimate the variance to be, the sum of w (w - 1) over all weights w.
    public var margin: Int

    /// Makes what is said of an answer.
    public init(delivered: Int, estimated: Int, margin: Int) {
        (self.delivered, self.estimated, self.margin) = (delivered, estimated, margin)
    }

    /// It in one sentence, with the margin.
    public var sentence: String {
        "Weighed: \(delivered) of about \(estimated) (± \(margin)) count here; a sample stands for the others, and the "
            + "counts are estimates."
    }
}

/// Adds up weights, which are in millionths.
package struct Weights: Mergeable {
    /// Of what stands for itself.
    package static let one = Int64(Fact.Sampling.million)

    private var delivered = 0
    private var sum: Int64 = 0
    private var variance = 0.0

    package init() {}

    /// Of some of the same weight.
    init(_ count: Int, each weight: Int64 = Self.one) {
        (delivered, sum) = (count, Int64(count).multipliedBounded(by: weight))
        variance = Double(count) * Self.variance(weight)
    }

    package mutating func merge(_ other: consuming Weights) {
        delivered += other.delivered
        sum.addWeight(other.sum)
        variance += other.variance
    }

    package mutating func add(_ weight: Int64) {
        delivered += 1
        sum.addWeight(weight)
        // Exact, and so the same in any order, up to many millions.
        variance += Self.variance(weight)
    }

    private static func variance(_ weight: Int64) -> Double {
        Double(weight / 1_000) * Double(weight / 1_000 - one / 1_000)
    }

    /// The sum, rounded.
    package static func count(_ sum: Int64) -> Int { Int(clamping: (sum + one / 2) / one) }

    /// nil where all stand for themselves.
    package var weighing: Weighing? {
        guard sum != Int64(delivered) * Self.one else { return nil }
        let deviation = max(0, variance).squareRoot() / 1_000
        return Weighing(
            delivered: delivered, estimated: Self.count(sum), margin: Int((1.96 * deviation).rounded(.up)))
    }
}

extension Int64 {
    /// The greatest sum of weights: two of them never overflow.
    private static let greatestWeight: Int64 = 1 << 61

    /// Returns the sum of two weights, or of two sums of them. One transaction may say that it stands for a million, and
    /// there may be many millions of it.
    package func addingWeight(_ weight: Int64) -> Int64 { Swift.min(self + weight, Self.greatestWeight) }

    package mutating func addWeight(_ weight: Int64) { self = addingWeight(weight) }

    /// Returns the sum of so many weights.
    fileprivate func multipliedBounded(by weight: Int64) -> Int64 {
        let (product, isTooLarge) = multipliedReportingOverflow(by: weight)
        return isTooLarge ? Self.greatestWeight : Swift.min(product, Self.greatestWeight)
    }
}

extension [TransactionOutcome: Int64] {
    /// Of sums of weights.
    var counts: [TransactionOutcome: Int] { mapValues(Weights.count).filter { $0.value > 0 } }
}

extension Fact.Sampling {
    /// Whether anything in a store was sampled, and came from elsewhere: what was recorded into it is all there.
    static func isNeeded(in connection: Connection) throws(WaybillError) -> Bool {
        // In a store of an older version nothing was.
        guard connection.absentColumns.isEmpty else { return false }
        return try connection.integer(
            """
            SELECT EXISTS(SELECT 1 FROM parts p INDEXED BY parts_sampled JOIN sources s ON s.id = p.source \
            WHERE p.sample_ppm IS NOT NULL AND s.heard_us IS NOT NULL)
            """) != 0
    }
}
