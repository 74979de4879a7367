#if Collector
import Foundation
import WaybillAnalysis
import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillReading
#if ClickHouse
import WaybillClickHouse
#endif

/// A database that was named on the command line.
struct Database {
    #if ClickHouse
    let address: ClickHouseAddress

    init(_ text: String) throws(WaybillError) { address = try ClickHouseAddress(text) }

    func opened() async throws(WaybillError) -> ClickHouseStore {
        var store = try await ClickHouseStore(address, clock: CommandClock.current)
        store.redactor = .command
        return store
    }

    /// Writes facts as a store in one file.
    func copy(_ facts: ExportedFacts, to file: URL) async throws -> ExportSummary {
        try await opened().copy(facts, to: file)
    }

    /// Copies a store in SQLite; gives how many facts were written.
    func take(from store: SQLiteStore, progress: @escaping @Sendable (Int64, Int64) -> Void) async throws -> Int64 {
        try await opened().take(from: store, progress: progress)
    }

    /// A collector in front of it.
    ///
    /// - Parameter folder: Of the tokens.
    func collector(tokens folder: URL, access: Access, limits: CollectorLimits) async throws(WaybillError) -> Collector
    {
        try await Collector(database: address, tokens: folder, access: access, limits: limits)
    }

    /// Makes the tables that there are not; gives the statements.
    func migrate(isTried: Bool) async throws(WaybillError) -> [String] {
        try await ClickHouseStore.migrate(address, isTried: isTried)
    }
    #else
    init(_ text: String) throws(WaybillError) {
        throw WaybillError(
            .setting, "This waybill was built without ClickHouse: build it with the traits Collector and ClickHouse.")
    }

    func opened() async throws(WaybillError) -> SQLiteStore { throw Self.missing }

    func copy(_ facts: ExportedFacts, to file: URL) async throws -> ExportSummary { throw Self.missing }

    func collector(tokens folder: URL, access: Access, limits: CollectorLimits) async throws(WaybillError) -> Collector
    {
        throw Self.missing
    }

    func take(from store: SQLiteStore, progress: @escaping @Sendable (Int64, Int64) -> Void) async throws -> Int64 {
        throw Self.missing
    }

    func migrate(isTried: Bool) async throws(WaybillError) -> [String] { throw Self.missing }

    private static let missing = WaybillError(.setting, "This waybill was built without ClickHouse.")
    #endif
}
#endif
