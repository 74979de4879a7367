#if Collector
import Foundation

/// One way in which things go wrong, done to real processes again and again; afterwards every fact is accounted for.
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
    /// What the table and `--cases` call it.
    let name: String
    /// Does it.
    ///
    /// - Throws: ``Skipped`` where this machine cannot do it; any other error fails the suite.
    let run: @Sendable (FaultSetting) async throws -> FaultCounts

    init(name: String, run: @escaping @Sendable (FaultSetting) async throws -> FaultCounts) {
        self.name = name
        self.run = run
    }
}

/// How much of a case is asked for, and what chance it goes by.
struct FaultSetting: Sendable {
    /// How often processes are killed at random instants; cases of another kind do a share of it.
    var kills: Int
    /// How many clients there are, and for how many seconds, where a case goes by time.
    var clients = 20
    var seconds = 20
    /// This case's own: the same for the same `--seed`, whichever other cases are run.
    var seed: UInt64

    /// A share of the kills, at least one.
    func share(_ part: Double) -> Int { max(1, Int(Double(kills) * part)) }

    /// Chance, the same for the same seed.
    var chance: Chance { Chance(seed: seed) }
}

/// Why a case could not be done here; it counts as neither passed nor failed, and the table says so.
struct Skipped: Error {
    var reason: String
}

/// What came of a case.
struct FaultCounts: Sendable {
    var runs = 0
    /// Facts that `log()` called journaled.
    var journaled = 0
    /// Of these, what the collector has.
    var delivered = 0
    /// Of these, what it has not, and what is booked as dropped, with a reason.
    var dropped = 0
    /// Of these, what is gone and booked nowhere.
    var lost = 0
    /// What the collector has more than once.
    var doubled = 0
    /// What else is wrong, e.g. a ledger that does not balance; the suite fails for it.
    var problems: [String] = []
    /// What else a reader of the table should know.
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
    /// A seed of its own for each name.
    func mixed(with name: String) -> UInt64 {
        var chance = Chance(seed: name.utf8.reduce(self) { ($0 &* 1_099_511_628_211) ^ UInt64($1) })
        return chance.next()
    }
}
#endif
