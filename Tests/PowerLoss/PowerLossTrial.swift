package import Foundation
import TestSupport
import WaybillCore
import WaybillStore
import WaybillTesting

/// Lives that end with a power cut, each in what the one before has left on the disk; after each cut, what must be
/// there is looked for.
package struct PowerLossTrial {
    /// What was found, over all cuts.
    package struct Result: Sendable {
        package var cutCount = 0
        /// Facts that had to survive, by their age or because they were synced.
        package var neededCount = 0
        /// Of these, those at the collector in the end.
        package var deliveredCount = 0
        /// Of these, and of those that were acknowledged, what is gone from either side.
        package var lostCount = 0
        /// Taken by the collector as new though it had them.
        package var doubledCount = 0
        /// Booked by devices as damaged: of the last five seconds, whether the collector has them or not.
        package var droppedCount = 0
        /// What else is wrong; sentences.
        package var problems: [String] = []

        package init() {}

        package static func += (left: inout Result, right: Result) {
            left.cutCount += right.cutCount
            left.neededCount += right.neededCount
            left.deliveredCount += right.deliveredCount
            left.lostCount += right.lostCount
            left.doubledCount += right.doubledCount
            left.droppedCount += right.droppedCount
            left.problems += right.problems
        }
    }

    private var random: RandomNumbers
    private let folder: URL

    /// - Parameter folder: Empty; what is left in it afterwards may be looked at.
    package init(seed: Int, in folder: URL) {
        random = RandomNumbers(seed: seed)
        self.folder = folder
    }

    package mutating func run(lives: Int = 3, cutsPerLife: Int = 4) async throws -> Result {
        var result = Result()
        let time = ManualTime()
        var facts = RecordedFacts()
        var home = folder.appending(path: "life-1")
        try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
        for life in 1...lives {
            let site = try Site(home, facts, time, RandomNumbers(seed: Int(truncatingIfNeeded: random.next())))
            let start = site.disk.look()
            for _ in 0..<Int.random(in: 5...60, using: &random) { try await site.step() }
            result.problems += site.surprises
            let end = site.disk.look()
            for cut in 1...cutsPerLife {
                let moment = Int.random(in: start...end, using: &random)
                let cutRandom = RandomNumbers(seed: Int(truncatingIfNeeded: random.next()))
                let ruin = folder.appending(path: "life-\(life)-cut-\(cut)")
                try site.disk.rebuild(after: PowerCut(after: moment, cutRandom), in: ruin)
                let next = folder.appending(path: "life-\(life + 1)")
                let isLast = cut == cutsPerLife
                if isLast { try FileManager.default.copyItem(at: ruin, to: next) }
                let check = try RecoveryCheck(
                    ruin, site.facts, after: moment, uptime: site.disk.latestUptime(after: moment), time)
                result += check.result
                if isLast {
                    facts = site.facts
                    facts.restart(device: check.deviceFacts, collector: check.collectorFacts)
                    home = next
                }
                // Its writer may still be at its last work in it.
                if check.result.problems.isEmpty { try? FileManager.default.removeItem(at: ruin) }
            }
        }
        return result
    }
}
