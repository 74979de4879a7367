#if ClickHouse
import Foundation
import Testing
import WaybillCore

@testable import WaybillClickHouse

/// The tables.
@Suite(.timeLimit(.minutes(2))) struct ClickHouseSchemaTests {
    private static let file = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Schemas/clickhouse.sql")

    /// Breaks when the published schema differs from the schema that is created.
    @Test func thePublishedSchemaIsTheOneThatIsMade() throws {
        let made = ClickHouseSchema.published()
        if ProcessInfo.processInfo.environment["RENEW_SCHEMA"] != nil {
            try made.write(to: Self.file, atomically: true, encoding: .utf8)
        }
        #expect(
            try String(contentsOf: Self.file, encoding: .utf8) == made,
            "Schemas/clickhouse.sql is out of date. Renew it: RENEW_SCHEMA=1 swift test --filter ClickHouseSchemaTests")
    }

    /// Breaks when a dry run creates something, a second run creates something again, or a store opens without tables.
    @Test(.enabled(if: ClickHouseEngine.isThere)) func tablesAreMadeOnce() async throws {
        let address = try await ClickHouseEngine.shared.address()
        let planned = try await ClickHouseStore.migrate(address, isTried: true)
        await #expect(throws: WaybillError.self) { try await ClickHouseStore(address) }
        #expect(try await ClickHouseStore.migrate(address) == planned)
        #expect(!planned.isEmpty)
        #expect(try await ClickHouseStore.migrate(address) == [])
        _ = try await ClickHouseStore(address)
    }

    /// Breaks when this version writes to a store of a later version.
    @Test(.enabled(if: ClickHouseEngine.isThere)) func aLaterVersionIsRefused() async throws {
        let address = try await ClickHouseEngine.shared.database()
        try await ClickHouseClient(address).run("INSERT INTO schema_versions(version) VALUES (99)")
        let error = await #expect(throws: WaybillError.self) { try await ClickHouseStore(address) }
        #expect(error?.message.contains("99") == true)
    }
}
#endif
