#if Collector
import Foundation
import PowerLoss
import TestSupport

/// The power fails.
extension FaultCase {
    /// A device and a collector record and deliver on one recorded disk. Then the stores are opened as a power cut at
    /// any moment could have left them.
    ///
    /// They run in this process, because its death would destroy less than a power cut. A run is a cut: each seed has
    /// three lives with four cuts each, and each life starts on the disk that the previous life's last cut left.
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
