#if Collector
import Foundation

/// A kind of fault that real processes suffer repeatedly. Afterwards, every fact is accounted for.
///
/// ## Usage
///
/// ```swift
/// extension FaultCase {
///     static let killed = FaultCase(name: "kill") { setting in
///         var counts = FaultCounts()
///         // ...
///         return counts
///     }
/// }
/// ```
struct FaultCase: Sendable {
    /// The name in the table and for `--cases`.
    let name: String
    /// Runs the case.
    ///
    /// - Throws: ``Skipped`` if this machine can't run it. Any other error fails the suite.
    let run: @Sendable (FaultSetting) async throws -> FaultCounts

    init(name: String, run: @escaping @Sendable (FaultSetting) async throws -> FaultCounts) {
        self.name = name
        self.run = run
    }
}

/// The size of a case and the seed of its random choices.
struct FaultSetting: Sendable {
    /// How often processes are killed at random instants. Other kinds of cases do a share of it.
    var kills: Int
    /// The number of clients, and the number of seconds, for cases that run for a time.
    var clients = 20
    var seconds = 20
    /// The seed of this case: the same for the same `--seed`, whichever other cases run.
    var seed: UInt64

    /// Returns a share of the kills, at least one.
    func share(_ part: Double) -> Int { max(1, Int(Double(kills) * part)) }

    /// A random number generator, the same for the same seed.
    var chance: Chance { Chance(seed: seed) }
}

/// The reason why a case can't run here. It counts as neither passed nor failed, and the table shows it.
struct Skipped: Error {
    var reason: String
}

/// The results of a case.
struct FaultCounts: Sendable {
    var runs = 0
    /// The facts that `log()` reported as journaled.
    var journaled = 0
    /// The journaled facts that the collector has.
    var delivered = 0
    /// The journaled facts that the collector lacks and that are booked as dropped, with a reason.
    var dropped = 0
    /// The journaled facts that are gone and booked nowhere.
    var lost = 0
    /// The facts that the collector has more than once.
    var doubled = 0
    /// Other problems, e.g. a ledger that does not balance. The suite fails if there are any.
    var problems: [String] = []
    /// Other information for readers of the table.
    var remark: String?

    static func + (left: FaultCounts, right: FaultCounts) -> FaultCounts {
        FaultCounts(
            runs: left.runs + right.runs, journaled: left.journaled + right.journaled,
            delivered: left.delivered + right.delivered,
            dropped: left.dropped + right.dropped, lost: left.lost + right.lost, doubled: left.doubled + right.doubled,
            problems: left.problems + right.problems, remark: right.remark ?? left.remark)
    }
}

/// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
struct Chance: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}

extension UInt64 {
    /// Returns a different seed for each name.
    func mixed(with name: String) -> UInt64 {
        var chance = Chance(seed: name.utf8.reduce(self) { ($0 &* 1_099_511_628_211) ^ UInt64($1) })
        return chance.next()
    }
}
#endif
