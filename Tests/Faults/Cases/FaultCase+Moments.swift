#if Collector
import Foundation
import WaybillCore
import WaybillStore

/// Kills at moments that chance seldom hits.
extension FaultCase {
    /// Workers are killed while they hold the store's lock, which means while they drain.
    static let drain = FaultCase(name: "drain") { setting in
        var chance = setting.chance
        let harness = try Harness()
        let kills = setting.share(0.2)
        for _ in 0..<kills {
            let worker = try harness.worker("--pause", "500")
            try worker.wait(for: "ready")
            try worker.wait(forMore: 1)
            usleep(.random(in: 0...300_000, using: &chance))
            try WriterLock(in: harness.client).waitUntilHeld()
            harness.kill(worker)
        }
        return try harness.count(runs: kills)
    }

    /// Workers are killed while one of their sets is in transit.
    static let flush = FaultCase(name: "flush") { setting in
        var chance = setting.chance
        let harness = try Harness()
        let kills = setting.share(0.2)
        for _ in 0..<kills {
            let worker = try harness.worker("--delivers")
            let moment = Moment(after: .random(in: 0..<5, using: &chance))
            harness.collector.hooks.onSet = { moment.pass() }
            try moment.wait()
            usleep(.random(in: 0...5_000, using: &chance))
            harness.kill(worker)
        }
        harness.collector.hooks = CollectorLink.Hooks()
        return try harness.count(runs: kills)
    }

    /// The collector has committed, but its answer never arrives: the client or the collector is killed, or the
    /// connection is cut.
    static let answer = FaultCase(name: "answer") { setting in
        var chance = setting.chance
        let harness = try Harness()
        let kills = setting.share(0.12)
        for run in 0..<kills {
            let worker = try harness.worker("--delivers")
            let moment = Moment(after: .random(in: 0..<5, using: &chance))
            harness.collector.hooks.onAnswer = { !moment.pass() }
            try moment.wait()
            switch run % 3 {
            case 0: break
            case 1: try harness.collector.killAndRestart()
            default: usleep(.random(in: 0...200_000, using: &chance))
            }
            harness.collector.hooks = CollectorLink.Hooks()
            // After the connection was cut, the worker must recover without help.
            if run % 3 == 2 { try harness.finish(worker) } else { harness.kill(worker) }
        }
        return try harness.count(runs: kills)
    }
}

/// The moment when something happens again after it has happened a given number of times.
final class Moment: Sendable {
    private let left: Locked<Int>
    private let hasCome = DispatchSemaphore(value: 0)

    init(after count: Int) { left = Locked(count) }

    /// Counts an occurrence, and returns whether it is this moment or a later one.
    @discardableResult
    func pass() -> Bool {
        let left = left.withLock { left in
            left -= 1
            return left
        }
        if left == -1 { hasCome.signal() }
        return left < 0
    }

    func wait(seconds: Double = 60) throws {
        guard hasCome.wait(timeout: .now() + seconds) == .success else {
            throw Trouble("Nothing was delivered for \(seconds) s.")
        }
    }
}
#endif
