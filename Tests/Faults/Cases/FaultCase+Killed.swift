#if Collector
import Foundation

extension FaultCase {
    /// Workers that record and deliver are killed at random instants, and so is the collector.
    static let killed = killed("kill")

    /// The same while most transactions are held back until they have ended: what was interrupted is delivered, and
    /// nothing is given up but what succeeded.
    static let killedSampling = killed("kill while sampling", "--sampling", "0.3")

    private static func killed(_ name: String, _ options: String...) -> FaultCase {
        FaultCase(name: name) { setting in
            var chance = setting.chance
            var counts = FaultCounts()
            while counts.runs < setting.kills {
                let harness = try Harness()
                let killer = Task { [seed = chance.next()] in
                    var chance = Chance(seed: seed)
                    while !Task.isCancelled {
                        try? await Task.sleep(for: .milliseconds(.random(in: 50...1_500, using: &chance)))
                        try harness.collector.killAndRestart()
                    }
                }
                // Of each store a few, so that what is wrong can be found, and so that recovery finds several journals.
                let kills = min(25, setting.kills - counts.runs)
                for _ in 0..<kills {
                    let worker = try harness.worker(["--delivers"] + options)
                    if Bool.random(using: &chance) { try worker.wait(for: "ready") }
                    usleep(.random(in: 0...600_000, using: &chance))
                    harness.kill(worker)
                }
                killer.cancel()
                try await killer.value
                counts = counts + (try harness.count(runs: kills, mayDrop: !options.isEmpty))
            }
            return counts
        }
    }
}
#endif
