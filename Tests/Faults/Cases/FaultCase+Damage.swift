#if Collector
import Foundation

/// Bits flip and writes tear in the journal that a dead process left.
extension FaultCase {
    /// A case for each region of the journal.
    static let journals = JournalBytes.Region.allCases.map(journal)

    private static func journal(_ region: JournalBytes.Region) -> FaultCase {
        FaultCase(name: "journal \(region.rawValue)") { setting in
            var chance = setting.chance
            var counts = FaultCounts()
            var (setAsideCount, missingCount) = (0, 0)
            let runs = setting.share(0.04)
            // If a worker had drained everything before the kill, no facts are left to damage, and another worker is
            // tried.
            for _ in 0..<runs * 20 where counts.runs < runs {
                let harness = try Harness()
                let worker = try harness.worker("--pause", "500")
                try worker.wait(forMore: Int.random(in: 20...400, using: &chance))
                harness.kill(worker)
                guard var journal = try JournalBytes(in: harness.client, journaled: worker.journaled.count) else {
                    continue
                }
                try journal.damage(region, by: &chance)
                var found = try harness.count(mayDrop: true)
                if journal.wasSetAside {
                    // A program can't read this journal. It is kept for a person.
                    setAsideCount += 1
                    found.dropped += found.lost
                    found.lost = 0
                    found.problems = found.problems.filter { !$0.hasPrefix("lost") }
                }
                missingCount += found.dropped > 0 ? 1 : 0
                counts = counts + found
            }
            if counts.runs < runs {
                counts.problems.append("Of \(runs * 20) journals only \(counts.runs) had something in them to damage.")
            }
            counts.remark = "facts missing after \(missingCount) of \(runs), set aside \(setAsideCount)"
            return counts
        }
    }
}
#endif
