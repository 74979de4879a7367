#if Collector
import Foundation

/// Several processes, or a wall clock that jumps.
extension FaultCase {
    /// Two processes record into one store and deliver from it, and are killed.
    static let two = processes(2)
    /// Four processes do the same.
    static let four = processes(4)

    private static func processes(_ count: Int) -> FaultCase {
        FaultCase(name: "\(count) processes") { setting in
            var chance = setting.chance
            let harness = try Harness()
            let kills = setting.share(0.2)
            var running = try (0..<count).map { _ in try harness.worker("--delivers") }
            for _ in 0..<kills {
                usleep(.random(in: 0...400_000, using: &chance))
                let index = Int.random(in: 0..<count, using: &chance)
                harness.kill(running[index])
                running[index] = try harness.worker("--delivers")
            }
            try harness.finish(running)
            return try harness.count(runs: kills)
        }
    }

    /// The wall clock jumps back a day, then forward a year, then to where it was, while facts are recorded and
    /// delivered.
    static let clock = FaultCase(name: "clock") { setting in
        var chance = setting.chance
        let harness = try Harness()
        let runs = setting.share(0.1)
        for run in 0..<runs {
            let worker = try harness.worker("--delivers", "--jumps=-86400,31536000,-31449600")
            try worker.wait(for: "ready")
            usleep(.random(in: 0...600_000, using: &chance))
            if run % 2 == 0 { harness.kill(worker) } else { try harness.finish(worker) }
        }
        return try harness.count(runs: runs)
    }
}
#endif
