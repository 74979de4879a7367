#if Collector && ClickHouse
public import Foundation
public import WaybillClickHouse
public import WaybillCore

extension Collector {
    /// Opens a collector that keeps all its data in databases. Several collectors can share them.
    ///
    /// Each project has its own database: `waybill` the one of the address, and any other one whose name ends in the
    /// project's, with `_` for each `-`. In front of `clickhouse://host:8123/waybill`, the project `web-shop` is in
    /// `waybill_web_shop`. The collector ignores `storeByteCount`. Sessions of the inspector belong to one
    /// collector.
    ///
    /// - Parameters:
    ///   - database: The database of the project `waybill`. Create the tables of each project's database with
    ///     ``WaybillClickHouse/ClickHouseAddress/createTables()``.
    ///   - folder: The folder of the file `tokens`, which must be the same for all collectors.
    ///   - access: The clients that may use the collector.
    ///   - limits: The limits on requests and stored data.
    /// - Throws: An error if the database, or that of a project with tokens, is unreachable or lacks the tables, or if the
    ///   tokens can't be read.
    public init(
        database: ClickHouseAddress, tokens folder: URL, access: Access, limits: CollectorLimits = CollectorLimits()
    ) async throws(WaybillError) {
        let clock = SystemClock()
        var opened: [ProjectName: Project] = [:]
        // The address must be right from the start, also without any token.
        let names = try AccessControl(access, in: folder, limits: limits, clock: clock).projects().union([.standard])
        for name in names {
            opened[name] = try await Project(name, in: database, tokens: folder, limits: limits, clock: clock)
        }
        let projects = opened
        try self.init(tokens: folder, access: access, limits: limits, clock: clock) { name throws(WaybillError) in
            if let project = projects[name] { return project }
            return try waiting { () async throws(WaybillError) in
                try await Project(name, in: database, tokens: folder, limits: limits, clock: clock)
            }
        }
    }
}

extension Project {
    fileprivate convenience init(
        _ name: ProjectName, in database: ClickHouseAddress, tokens folder: URL, limits: CollectorLimits,
        clock: any TransactionClock
    ) async throws(WaybillError) {
        var address = database
        if name != .standard { address.database += "_\(name.description.replacing("-", with: "_"))" }
        let counters = Counters(clock: clock)
        var store = try await ClickHouseStore(
            address, factsPerTransaction: limits.factsPerTransaction, clock: clock
        ) { counters.count($0) }
        store.readLimit = limits.readDuration
        store.makesRows = true
        store.redactor = limits.redactor
        try self.init(name, store, counters, in: folder, byteCount: nil, limits: limits)
    }
}
#endif
