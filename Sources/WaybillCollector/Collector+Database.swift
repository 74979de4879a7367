#if Collector && ClickHouse
public import Foundation
public import WaybillClickHouse
public import WaybillCore

extension Collector {
    /// Opens a collector in front of a database, in which it keeps all that it keeps: start as many as are needed.
    ///
    /// There is the standard project alone. Spans by OTLP and sets of version 0.0.1 are refused with 501. Of the limits,
    /// `storeByteCount` says nothing; a session of the inspector belongs to one collector.
    ///
    /// - Parameters:
    ///   - database: The database, with its tables: see ``WaybillClickHouse/ClickHouseAddress/createTables()``.
    ///   - folder: Holds the file `tokens`, the same for all of them.
    ///   - access: Who may use it.
    ///   - limits: How much is taken.
    /// - Throws: Where the database cannot be reached or lacks the tables, the tokens cannot be read, or are for other
    ///   projects.
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
                    "A database holds the project \(ProjectName.standard) alone, and there is a token for \(name).")
            }
            return project
        }
    }
}
#endif
