#if ClickHouse
import Foundation
import TestSupport
import Testing
import WaybillQueries
import WaybillCore
import WaybillExport

@testable import WaybillClickHouse
@testable import WaybillStore

/// A process that ends between two inserts.
@Suite(.timeLimit(.minutes(15)), .enabled(if: ClickHouseEngine.isThere)) struct HalfWrittenTests {
    /// Breaks when facts count although no book names them, or when they cannot be sent again.
    @Test func factsWithoutBooksCountForNothing() async throws {
        let address = try await ClickHouseEngine.shared.database()
        let received = ReceivedSet(LoginHistory().clientSet(), received: Date(timeIntervalSince1970: 1_800_000_000))
        let copy = try Store(.memory(name: "half-written-\(UUID())"))
        let (results, changes) = try copy.rehearse([received])
        let count = try #require(try results.first?.get().acceptedCount)
        let tables = ClickHouseTables(client: ClickHouseClient(address), isCurrent: true)
        try await tables.insertFacts(of: changes, receivedAt: 0)

        let store = try await ClickHouseStore(address)
        #expect(try await store.transactions(ListRequest()).rows.isEmpty)
        #expect(try await store.add(received).acceptedCount == count)
        #expect(try await store.transactions(ListRequest()).rows.count == 1)
        #expect(try await store.verify().problems.isEmpty)
        #expect(try await store.add(received).knownCount == count)
    }

    /// Breaks when a server that lacks facts gives a partial answer. The test deletes facts behind its back.
    @Test func factsThatAreMissingAreNoAnswer() async throws {
        let address = try await ClickHouseEngine.shared.database()
        let received = ReceivedSet(LoginHistory().clientSet(), received: Date(timeIntervalSince1970: 1_800_000_000))
        let store = try await ClickHouseStore(address)
        _ = try await store.add(received)
        try await store.queue.keeper.run(isAlone: true)
        let id = try #require(try await store.transactions(ListRequest()).rows.first?.id)
        try await ClickHouseClient(address).run(
            "ALTER TABLE facts DELETE WHERE sequence = 2", ["mutations_sync": "2"])
        let error = await #expect(throws: WaybillError.self) {
            try await ClickHouseStore(address).transaction("\(id)")
        }
        #expect(error?.message.contains("lacks facts") == true)
    }

    /// Breaks when a store loses data when it is copied, or is copied twice.
    @Test func aStoreIsCopiedOnce() async throws {
        let (folder, address) = (try TemporaryDirectory(), try await ClickHouseEngine.shared.database())
        let old = try SQLiteStore(making: folder.file("old.sqlite"), clock: SystemClock())
        for set in [LoginHistory().clientSet(), LoginHistory().serverSet()] {
            _ = try await old.add(ReceivedSet(set, received: Date(timeIntervalSince1970: 1_800_000_000)))
        }
        let store = try await ClickHouseStore(address)
        let count = try await store.take(from: old) { _, _ in }
        #expect(count > 0)
        #expect(try await store.take(from: old) { _, _ in } == 0)
        let (before, after) = (try await old.verify(), try await store.verify())
        #expect(after.problems.isEmpty)
        #expect(after.factCount == before.factCount)
        let id = try #require(try await old.transactions(ListRequest()).rows.first?.id)
        let redactor = Redactor()
        var alone = try await ClickHouseStore(address)
        alone.factLimit = 0
        #expect(
            try await alone.transactions(ListRequest()).rows.map(\.id) == old.transactions(ListRequest()).rows.map(\.id)
        )
        #expect(
            try await store.transaction("\(id)").redacted(by: redactor)
                == old.transaction("\(id)").redacted(by: redactor))
    }
}
#endif
