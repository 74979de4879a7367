#if Collector
import Foundation
import WaybillQueries
import WaybillStore

extension FaultCase {
    /// Bits flip in the database of a dead process. The promise is that no process crashes, and that detected damage is
    /// reported: a flipped byte inside a value is another value, which SQLite can't see.
    static let database = FaultCase(name: "database") { setting in
        var chance = setting.chance
        var counts = FaultCounts()
        var (told, found) = (0, 0)
        counts.runs = setting.share(0.06)
        for _ in 0..<counts.runs {
            let harness = try Harness()
            let first = try harness.worker("--pause", "500")
            try first.wait(forMore: 400)
            usleep(300_000)  // longer than a batch waits: the database has most of them
            harness.kill(first)
            for _ in 0..<8 {
                let name = Bool.random(using: &chance) ? "waybill.sqlite" : "waybill.sqlite-wal"
                try flipBit(in: harness.client.appending(path: name), by: &chance)
            }
            let second = try harness.worker("--delivers", "--pause", "20000")
            try second.waitForHealth()
            usleep(300_000)
            guard second.isRunning else {
                counts.problems.append("A worker crashed on a damaged database.")
                continue
            }
            told += second.isIll ? 1 : 0
            harness.kill(second)
            harness.collector.stop()
            found += (try? StoreReader(.folder(harness.client)).verify().isSound) == true ? 0 : 1
        }
        counts.remark =
            "no crash; of \(counts.runs), health told of \(told), verify found \(found); the rest is in values, which SQLite cannot see"
        return counts
    }

    private static func flipBit(in file: URL, by chance: inout Chance) throws {
        let handle = try FileHandle(forUpdating: file)
        defer { try? handle.close() }
        let size = try handle.seekToEnd()
        guard size > 0 else { return }
        let position = UInt64.random(in: 0..<size, using: &chance)
        try handle.seek(toOffset: position)
        guard var byte = try handle.read(upToCount: 1), !byte.isEmpty else { return }
        byte[byte.startIndex] ^= 1 << UInt8.random(in: 0..<8, using: &chance)
        try handle.seek(toOffset: position)
        try handle.write(contentsOf: byte)
    }
}
#endif
