package import TestSupport

/// A power cut: synced data is on the disk, and chance decides how much of the rest is.
///
/// The disk's cache writes in any order. Each piece of a file is found as it was at some moment between the last sync
/// and the cut.
package struct PowerCut {
    /// The last event on the disk before the cut.
    package let moment: Int
    private let reach: Reach
    private var random: RandomNumbers

    /// How much of the unsynced data has reached the disk.
    package enum Reach: Sendable { case nothing, some, everything }

    /// Makes a cut that leaves as little as possible, or as much as possible.
    package init(after moment: Int, reach: Reach) {
        self.moment = moment
        self.reach = reach
        random = RandomNumbers(seed: moment)
    }

    /// - Parameter random: Decides what the cut leaves. The same numbers make the same cut.
    package init(after moment: Int, _ random: RandomNumbers) {
        self.moment = moment
        self.random = random
        // Mostly `some`: `everything` is like the death of a process, and `nothing` is a disk that writes only when it
        // is asked to.
        reach = self.random.oneIn(8) ? .nothing : self.random.oneIn(8) ? .everything : .some
    }

    /// Returns the moment whose state is found after the cut, for something that was certainly on the disk at
    /// `certain`.
    ///
    /// - Parameter latest: The latest possible moment; `nil` for the cut's.
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

    /// Whether a page was being written during the cut. Its sectors may then be from different moments.
    mutating func isTorn() -> Bool { reach == .some && random.oneIn(5) }
}
