#if Collector
import Foundation
import Hummingbird
import TestSupport
import Testing
import WaybillCollector
import WaybillCore
@testable import WaybillStore

@Suite(.timeLimit(.minutes(5))) struct RouteTests {
    private let folder: TemporaryDirectory
    private let login = LoginHistory()

    init() throws { folder = try TemporaryDirectory() }

    @Test func anUnknownRouteIsA404() async throws {
        try await CollectorServer.run(try Collector(folder: folder.url)) { server async throws in
            for path in ["/v2", "/v1", "/v1/set", "/v2/sets", "/v1/transactions/x/y"] {
                try await server.get(path).expectProblem(404, "Not Found")
            }
        }
    }

    @Test func aWrongMethodIsA405ThatSaysWhichAreRight() async throws {
        try await CollectorServer.run(try Collector(folder: folder.url)) { server async throws in
            let response = try await server.get("/v1/sets")
            response.expectProblem(405, "Method Not Allowed")
            #expect(response.header("Allow") == "POST")
            let other = try await RawClient.send("PUT", "/v1/transactions", to: server.port)
            other.expectProblem(405, "Method Not Allowed")
            #expect(other.header("Allow") == "GET, HEAD, DELETE")
        }
    }

    @Test func headIsGetWithoutABody() async throws {
        try await CollectorServer.run(try Collector(folder: folder.url)) { server async throws in
            let client = try RawClient(port: server.port)
            try await client.send(RawClient.head("HEAD", "/v1/health", headers: ["Connection": "close"]))
            let response = try await client.response(hasBody: false)
            #expect(response.status == 200)
            #expect(response.header("Content-Length") == "15")
            #expect(response.body.isEmpty)
            #expect(try await client.untilClosed().isEmpty)
        }
    }

    @Test func aStoreThatFailsIsA503AndAcknowledgesNothing() async throws {
        let place = ResolvedLocation.folder(folder.url)
        let collector = try Collector(folder: folder.url)
        try await CollectorServer.run(collector) { server async throws in
            let other = try Connection(place.uri(), .readWrite, at: "test")
            // Renaming parses all views, and these call functions.
            try other.execute("PRAGMA trusted_schema = ON; ALTER TABLE events RENAME TO elsewhere")
            let response = try await server.post(Data(login.clientSet().encoded()))
            response.expectProblem(503, "Service Unavailable")
            #expect(response.header("Retry-After") == "5")
            #expect(!response.text.contains("events"), "The store's own words stay in the log.")
            try other.execute("ALTER TABLE elsewhere RENAME TO events")
            #expect(
                try await server.post(login.clientSet()).acceptedCount == 6, "Nothing of the first attempt was kept.")
        }
    }

    @Test func theRoutesServeBesideOthersBelowAnyPath() async throws {
        let router = Router()
        router.get("hello") { _, _ in "hello" }
        try Collector(folder: folder.url).addRoutes(to: router.group("waybill"))
        try await CollectorServer.run(router) { server async throws in
            #expect(try await server.get("/hello").text == "hello")
            #expect(try await server.get("/waybill/v1/health").status == 200)
            try await server.get("/waybill/v1/transactions/x").expectProblem(404, "Not Found")
            #expect(try await server.get("/v1/health").status == 404)
        }
    }
}
#endif
