#if Collector
import Foundation
import Hummingbird
import TestSupport
import Testing
import WaybillCollector

/// The snippets of the guides on the collector and its pages, as they stand there.
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
}
#endif
