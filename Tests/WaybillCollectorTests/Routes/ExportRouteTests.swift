#if Collector
import Foundation
import TestSupport
import Testing
import WaybillCollector
import WaybillCore
import WaybillExport

@Suite(.timeLimit(.minutes(5))) struct ExportRouteTests {
    private let folder: TemporaryDirectory
    private let login = LoginHistory()

    init() throws { folder = try TemporaryDirectory() }

    @Test func aRunGoesOnBehindTheCursorOfTheOneBefore() async throws {
        try await CollectorServer.run(try Collector(folder: folder.url)) { server async throws in
            let empty = try await server.get("/v1/export")
            #expect(empty.status == 200 && empty.body.isEmpty)
            #expect(empty.header(ExportQuery.cursorField)?.hasPrefix("0~") == true)
            _ = try await server.post(login.clientSet())
            let first = try await server.get("/v1/export?after=0")
            #expect(first.header("Content-Type") == "application/x-ndjson")
            #expect(first.text.split(separator: "\n").count == 6)
            let cursor = try #require(first.header(ExportQuery.cursorField))
            _ = try await server.post(login.clientSet())
            _ = try await server.post(login.serverSet())
            let second = try await server.get("/v1/export?after=\(cursor)")
            #expect(second.text.split(separator: "\n").count == 3)
            #expect(second.text.contains(#""app":"server""#))
        }
    }

    @Test func csvHasItsHeaderAlsoWithoutRows() async throws {
        try await CollectorServer.run(try Collector(folder: folder.url)) { server async throws in
            let empty = try await server.get("/v1/export?format=csv&since=1h")
            #expect(
                empty.text.hasPrefix("transaction_id,use_case,")
                    && empty.text.hasSuffix(",timeout_us,ended,members\r\n"))
            _ = try await server.post(login.clientSet())
            #expect(
                try await server.get("/v1/export?format=csv&since=1h").text.hasPrefix(
                    empty.text + login.transaction.description))
            #expect(try await server.get("/v1/export?format=csv&since=2100-01-01").text == empty.text)
        }
    }

    @Test func whoAcceptsGzipGetsIt() async throws {
        try await CollectorServer.run(try Collector(folder: folder.url)) { server async throws in
            _ = try await server.post(login.clientSet())
            for coding in ["gzip", "br;q=1, GZIP;q=0.5"] {
                let response = try await server.get("/v1/export", headers: ["Accept-Encoding": coding])
                #expect(response.header("Content-Encoding") == "gzip")
                #expect(response.body.prefix(2) == Data([0x1F, 0x8B]))
            }
            for coding in ["identity", "gzip;q=0", "deflate"] {
                let response = try await server.get("/v1/export", headers: ["Accept-Encoding": coding])
                #expect(response.header("Content-Encoding") == nil)
                #expect(response.text.hasPrefix("{"))
            }
        }
    }

    @Test(arguments: ["format=xml", "after=x", "after=99", "since=noon", "since=1h&after=0", "use_case=login"])
    func aParameterThatCannotBeReadIsA400(query: String) async throws {
        try await CollectorServer.run(try Collector(folder: folder.url)) { server async throws in
            let response = try await server.get("/v1/export?\(query)")
            response.expectProblem(400, "Bad Request")
            #expect(!response.text.contains(folder.url.path))
        }
    }
}
#endif
