#if Collector
import Foundation
import Hummingbird
import TestSupport
import Testing
import WaybillCollector

#if ClickHouse
import WaybillClickHouse
import WaybillCore
#endif

/// The snippets of the guides on the collector and its pages, verbatim.
@Suite(.timeLimit(.minutes(5))) struct CollectorGuidesTests {
    @Test func aServerOfYourOwnHasTheRoutesAndThePages() async throws {
        let temporary = try TemporaryDirectory()
        let folder = temporary.url
        let router = Router()
        let collector = try Collector(folder: folder, access: .tokens)
        collector.addRoutes(to: router)
        collector.inspector.addRoutes(to: router)
        try await CollectorServer.run(router) { server async throws in
            #expect(try await server.get("/v1/health").status == 200)
            #expect(try await server.get("/v1/transactions").status == 401, "It asks for a token.")
            #expect(try await server.get("/login").status == 200, "The pages do, too.")
        }
    }

    #if ClickHouse
    /// Breaks when a collector starts without its database, and refuses each set later.
    @Test func aCollectorWhoseDatabaseIsNotThereDoesNotStart() async throws {
        let temporary = try TemporaryDirectory()
        let (folder, access) = (temporary.url, Access.tokens)
        let port = try #require(try refusedURL().port)
        let address = try ClickHouseAddress("clickhouse://127.0.0.1:\(port)/waybill")
        await #expect(throws: WaybillError.self) {
            try await address.createTables()
        }
        await #expect(throws: WaybillError.self) {
            let collector = try await Collector(database: address, tokens: folder, access: access)
            _ = collector.limits
        }
    }
    #endif
}
#endif
