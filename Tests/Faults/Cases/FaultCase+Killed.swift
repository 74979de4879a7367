#if Collector
import Foundation

extension FaultCase {
    /// Workers that record and deliver are killed at random instants, and so is the collector.
    static let killed = killed("kill")

    /// The same while most transactions are held back until they end. Interrupted ones are delivered, and only
    /// successful ones are given up.
    static let killedSampling = killed("kill while sampling", "--sampling", "0.3")

    /// The same in the first 50 ms of recording: most workers have no store yet, only a journal.
    static let killedEarly = killed("kill in the first 50 ms", within: 50_000, "--pause", "200")

    /// - Parameter microseconds: The longest time that a worker records. `nil` for up to 600 ms; half of the workers
    ///   use a part of that to start.
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
                // A few kills for each store: problems can be traced, and recovery finds several journals.
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
