#if Collector
import Foundation
import PowerLoss
import TestSupport

/// The power goes.
extension FaultCase {
    /// A device and a collector record and deliver on one recorded disk; what a power cut at any moment can have left
    /// of it is opened.
    ///
    /// In this process, whose death would take less than a power cut does. A run is a cut: a seed has three lives, four
    /// cuts are tried on each, and the next goes on with what the last of them has left.
    static let power = FaultCase(name: "power") { setting in
        #if os(Linux)
        var chance = setting.chance
        var counts = FaultCounts()
        for _ in 0..<setting.share(0.2) {
            let seed = Int.random(in: 0..<1_000_000_000, using: &chance)
            let folder = try TemporaryDirectory()
            var trial = PowerLossTrial(seed: seed, in: folder.url)
            let result = try await trial.run()
            counts =
                counts
                + FaultCounts(
                    runs: result.cutCount, journaled: result.neededCount, delivered: result.deliveredCount,
                    lost: result.lostCount,
                    doubled: result.doubledCount, problems: result.problems.map { "seed \(seed), \($0)" })
        }
        counts.remark = "journaled: what had to survive, synced or five seconds old"
        return counts
        #else
        throw Skipped(reason: "syncs are recorded on Linux only")
        #endif
    }
}
#endif
