#if Collector
import Foundation

extension FaultCase {
    /// Workers that record and deliver are killed at random instants, and so is the collector.
    static let killed = killed("kill")

    /// The same while most transactions are held back until they have ended: what was interrupted is delivered, and
    /// nothing is given up but what succeeded.
    static let killedSampling = killed("kill while sampling", "--sampling", "0.3")

    /// The same in the first 50 ms of recording: most have no store yet, and what they journaled is all there is.
    static let killedEarly = killed("kill in the first 50 ms", within: 50_000, "--pause", "200")

    /// - Parameter microseconds: How long a worker records at most; `nil`: up to 600 ms, of which half of the workers use
    ///   a part to start.
    private static func killed(_ name: String, within microseconds: UInt32? = nil, _ options: String...) -> FaultCase {
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
                    if microseconds != nil || Bool.random(using: &chance) { try worker.wait(for: "ready") }
                    usleep(.random(in: 0...(microseconds ?? 600_000), using: &chance))
                    harness.kill(worker)
                }
                killer.cancel()
                try await killer.value
                counts = counts + (try harness.count(runs: kills, mayDrop: options.contains("--sampling")))
            }
            return counts
        }
    }
}
#endif
