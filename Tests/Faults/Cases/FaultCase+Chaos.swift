#if Collector
import CWaybillSQLite
import Foundation

/// Everything between clients and collector goes wrong at once.
extension FaultCase {
    /// Many clients record and deliver over a network that drops, delays, doubles and truncates, to a collector that is
    /// killed repeatedly. Then network and collector are left alone.
    static let chaos = FaultCase(name: "chaos") { setting in
        var chance = setting.chance
        let harness = try Harness(clientCount: setting.clients)
        let conditions = NetworkConditions(seed: chance.next())
        harness.collector.hooks.conditions = conditions
        let workers = try harness.clients.indices.map { client in
            try harness.worker("--delivers", "--pause", "400000", "--flush-pause", "100", of: client)
        }
        for worker in workers { try worker.wait(for: "ready", seconds: 120) }
        let end = ContinuousClock.now + .seconds(setting.seconds)
        var kills = 0
        while kills == 0 || ContinuousClock.now < end {
            usleep(.random(in: 100_000...2_000_000, using: &chance))
            try harness.collector.killAndRestart()
            kills += 1
        }
        harness.collector.hooks = CollectorLink.Hooks()
        try harness.finish(workers)
        var counts = try harness.count(runs: kills)
        if conditions.counts.lacksAny {
            counts.problems.append("The network was too good: \(conditions.counts.sentence). Give it more seconds.")
        }
        counts.remark = "\(setting.clients) clients, \(kills) kills; \(conditions.counts.sentence)"
        return counts
    }

    /// Checks that the count detects a collector that loses acknowledged facts, and one that has a fact twice.
    static let control = FaultCase(name: "control") { _ in
        let harness = try Harness(clientCount: 2)
        let workers = try harness.clients.indices.map { try harness.worker("--delivers", of: $0) }
        let moment = Moment(after: 5)
        harness.collector.hooks.onAnswer = {
            moment.pass()
            return true
        }
        try moment.wait()
        try harness.collector.killAndRestart { try FileManager.default.removeItem(at: harness.collector.folder) }
        harness.collector.hooks = CollectorLink.Hooks()
        try harness.finish(workers)
        let forgetful = try harness.count()
        try doubleOneEvent(in: harness.collector.folder)
        let doubling = try harness.recount()

        var counts = FaultCounts(runs: 2)
        counts.remark = "told, as they should be: \(forgetful.lost) facts lost, \(doubling.doubled) doubled"
        if forgetful.lost == 0 { counts.problems.append("A collector that had lost facts was not told by the facts.") }
        if !forgetful.problems.contains(where: { $0.contains("received at the collector") }) {
            counts.problems.append("A collector that had lost facts was not told by its ledgers.")
        }
        if doubling.doubled == 0 { counts.problems.append("A fact that was there twice was not told.") }
        return counts
    }

    /// Turns one event into a copy of another one.
    private static func doubleOneEvent(in folder: URL) throws {
        var database: OpaquePointer?
        defer { sqlite3_close(database) }
        let sql = "UPDATE events SET code = (SELECT min(code) FROM events) WHERE code = (SELECT max(code) FROM events)"
        guard sqlite3_open(folder.appending(path: "waybill.sqlite").path(), &database) == SQLITE_OK,
            sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK, sqlite3_changes(database) > 0
        else { throw Trouble("The collector's store cannot be changed: \(String(cString: sqlite3_errmsg(database)))") }
    }
}
#endif
