package import TestSupport

/// The power goes: what was synced is on the disk, and of the rest whatever chance has brought there.
///
/// The disk's cache writes in any order. Each piece of a file lies there as it was at some moment between the last sync
/// and the cut.
package struct PowerCut {
    /// The last event on the disk that happened.
    package let moment: Int
    private let reach: Reach
    private var random: RandomNumbers

    /// What of that which was not synced has reached the disk.
    package enum Reach: Sendable { case nothing, some, everything }

    /// A cut that leaves as little as it can, or as much.
    package init(after moment: Int, reach: Reach) {
        self.moment = moment
        self.reach = reach
        random = RandomNumbers(seed: moment)
    }

    /// - Parameter random: The same numbers, the same cut.
    package init(after moment: Int, _ random: RandomNumbers) {
        self.moment = moment
        self.random = random
        // Mostly some: the two ends are where a process dies, and where nothing is written that was not asked for.
        reach = self.random.oneIn(8) ? .nothing : self.random.oneIn(8) ? .everything : .some
    }

    /// The moment of which something is seen again, that was certain at one.
    ///
    /// - Parameter latest: Not later than this; nil: than the cut.
    mutating func instant(notBefore certain: Int, notAfter latest: Int? = nil) -> Int {
        let moment = min(moment, latest ?? moment)
        guard certain < moment else { return moment }
        switch reach {
        case .nothing: return certain
        case .everything: return moment
        case .some:
            switch Int.random(in: 0..<3, using: &random) {
            case 0: return certain
            case 1: return moment
            default: return Int.random(in: certain...moment, using: &random)
            }
        }
    }

    /// Whether a page was being written when the power went, so that each of its sectors is as it happens.
    mutating func isTorn() -> Bool { reach == .some && random.oneIn(5) }
}
