#if Collector
import CSQLite
import Foundation

/// Everything between clients and collector goes wrong at once.
extension FaultCase {
    /// Many clients record and deliver over a network that drops, delays, doubles and truncates, to a collector that is killed again and again; then
    /// both are left alone.
    static let chaos = FaultCase(name: "chaos") { setting in
        var chance = setting.chance
        let station = try Station(clientCount: setting.clients)
        let weather = Weather(seed: chance.next())
        station.collector.hooks.weather = weather
        let workers = try station.clients.indices.map { client in
            try station.worker("--delivers", "--pause", "400000", "--flush-pause", "100", of: client)
        }
        for worker in workers { try worker.wait(for: "ready", seconds: 120) }
        let end = ContinuousClock.now + .seconds(setting.seconds)
        var kills = 0
        while kills == 0 || ContinuousClock.now < end {
            usleep(.random(in: 100_000...2_000_000, using: &chance))
            try station.collector.killAndRestart()
            kills += 1
        }
        station.collector.hooks = CollectorLink.Hooks()
        try station.finish(workers)
        var counts = try station.count(runs: kills)
        if weather.counts.lacksAny { counts.problems.append("The network was too good: \(weather.counts.sentence). Give it more seconds.") }
        counts.remark = "\(setting.clients) clients, \(kills) kills; \(weather.counts.sentence)"
        return counts
    }

    /// Whether the counting would tell: of a collector that loses what it has acknowledged, and of one that has a fact twice.
    static let control = FaultCase(name: "control") { _ in
        let station = try Station(clientCount: 2)
        let workers = try station.clients.indices.map { try station.worker("--delivers", of: $0) }
        let moment = Moment(after: 5)
        station.collector.hooks.onAnswer = {
            moment.pass()
            return true
        }
        try moment.wait()
        try station.collector.killAndRestart { try FileManager.default.removeItem(at: station.collector.folder) }
        station.collector.hooks = CollectorLink.Hooks()
        try station.finish(workers)
        let forgetful = try station.count()
        try doubleOneEvent(in: station.collector.folder)
        let doubling = try station.recount()

        var counts = FaultCounts(runs: 2)
        counts.remark = "told, as they should be: \(forgetful.lost) facts lost, \(doubling.doubled) doubled"
        if forgetful.lost == 0 { counts.problems.append("A collector that had lost facts was not told by the facts.") }
        if !forgetful.problems.contains(where: { $0.contains("received at the collector") }) {
            counts.problems.append("A collector that had lost facts was not told by its ledgers.")
        }
        if doubling.doubled == 0 { counts.problems.append("A fact that was there twice was not told.") }
        return counts
    }

    /// Makes one event the copy of another one.
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
