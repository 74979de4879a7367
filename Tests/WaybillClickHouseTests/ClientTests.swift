#if ClickHouse
import TestSupport
import Testing
import WaybillCore

@testable import WaybillClickHouse

/// How a client handles a statement that a server refuses.
@Suite(.timeLimit(.minutes(1))) struct ClientTests {
    /// Breaks when an answer fails because a server of 2018 has lost the temporary table of a `GLOBAL IN`.
    @Test func aLostTemporaryTableIsTriedAgain() async throws {
        let count = Locked(0)
        let server = try LoopbackServer { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            guard number == 1 else { return .text("") }
            let lost = "Received from 127.0.0.1:9000. DB::Exception: Table default._data1 doesn't exist."
            return .text("Code: 60, e.displayText() = DB::Exception: \(lost)", status: 500)
        }
        let client = ClickHouseClient(try ClickHouseAddress("clickhouse://127.0.0.1:\(server.port)/db"))
        try await client.run("SELECT 1")
        #expect(server.requests.count == 2)
    }

    /// Breaks when a command waits for a missing table instead of saying what to do.
    @Test func aMissingTableIsTold() async throws {
        let server = try LoopbackServer { _ in
            .text("Code: 60. DB::Exception: Table db.facts doesn't exist.", status: 500)
        }
        let client = ClickHouseClient(try ClickHouseAddress("clickhouse://127.0.0.1:\(server.port)/db"))
        let error = await #expect(throws: WaybillError.self) { try await client.run("SELECT 1") }
        #expect(error?.code == .notFound)
        #expect(server.requests.count == 1)
    }
}
#endif
