#if Collector && ClickHouse
public import Foundation
public import WaybillClickHouse
public import WaybillCore

extension Collector {
    /// Opens a collector that keeps all its data in a database. Several collectors can share the database.
    ///
    /// The collector has only the project `waybill`, and answers OTLP spans and sets of version 0.0.1 with 501.
    /// It ignores `storeByteCount`. Sessions of the inspector belong to one collector.
    ///
    /// - Parameters:
    ///   - database: The database. Create its tables with ``WaybillClickHouse/ClickHouseAddress/createTables()``.
    ///   - folder: The folder of the file `tokens`, which must be the same for all collectors.
    ///   - access: The clients that may use the collector. All of them must belong to the project `waybill`.
    ///   - limits: The limits on requests and stored data.
    /// - Throws: An error if the database is unreachable or lacks the tables, or if the tokens can't be read or belong
    ///   to other projects.
    public init(
        database: ClickHouseAddress, tokens folder: URL, access: Access, limits: CollectorLimits = CollectorLimits()
    ) async throws(WaybillError) {
        let clock = SystemClock()
        let counters = Counters(clock: clock)
        var store = try await ClickHouseStore(
            database, factsPerTransaction: limits.factsPerTransaction, clock: clock
        ) { counters.count($0) }
        store.readLimit = limits.readDuration
        store.redactor = limits.redactor
        let project = try Project(.standard, store, counters, in: folder, byteCount: nil, limits: limits)
        try self.init(tokens: folder, access: access, limits: limits, clock: clock) { name throws(WaybillError) in
            guard name == .standard else {
                throw WaybillError(
                    .setting,
                    "A database holds the project \(ProjectName.standard) alone, and a client belongs to \(name).")
            }
            return project
        }
    }
}
#endif
