package import Foundation
import TestSupport
import WaybillCore
import WaybillStore
import WaybillTesting

/// Lives of a device and a collector that end with a power cut. Each starts on the disk that the previous one left.
/// After each cut, the trial looks for everything that must have survived.
package struct PowerLossTrial {
    /// The findings over all cuts.
    package struct Result: Sendable {
        package var cutCount = 0
        /// Facts that had to survive, by their age or because they were synced.
        package var neededCount = 0
        /// The needed facts that are at the collector in the end.
        package var deliveredCount = 0
        /// The needed or acknowledged facts that are gone from either side.
        package var lostCount = 0
        /// Facts that the collector accepted as new although it had them.
        package var doubledCount = 0
        /// Facts of the last five seconds that devices booked as damaged, whether or not the collector has them.
        package var droppedCount = 0
        /// Other problems, as sentences.
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

    /// - Parameter folder: An empty folder. Its contents can be inspected after the trial.
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
                // Its writer may still be finishing its work in this folder.
                if check.result.problems.isEmpty { try? FileManager.default.removeItem(at: ruin) }
            }
        }
        return result
    }
}
