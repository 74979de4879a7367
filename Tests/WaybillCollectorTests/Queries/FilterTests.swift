#if Collector
import Foundation
import TestSupport
import Testing
import WaybillCollector
import WaybillCore
import WaybillQueries

/// The textual filter on the routes that support it, and the changes since a position.
@Suite(.timeLimit(.minutes(5))) struct FilterTests {
    private let folder: TemporaryDirectory
    private let collector: Collector
    private let login = LoginHistory()

    init() throws {
        folder = try TemporaryDirectory()
        collector = try Collector(folder: folder.url)
    }

    private func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }

    @Test(arguments: [
        ("useCase:login outcome:failed", 1), ("event:requestSent -event:serverRejected", 0),
        ("error:LoginError status:4xx", 1),
        ("took<15ms", 0),
        ("os:\"ios 18\" attribute:variant=B", 1), ("outcome:succeeded", 0), ("api.example sort:longest", 1),
    ])
    func aListAndAnExportTakeAFilter(filter: String, count: Int) async throws {
        try await CollectorServer.run(collector) { server async throws in
            _ = try await server.post(login.clientSet())
            _ = try await server.post(login.serverSet())
            let page = try await server.value(
                "/v1/transactions?filter=\(escaped(filter))", as: RecordPage<TransactionSummary>.self)
            #expect(page.rows.count == count)
            #expect((page.whyEmpty == nil) == (count > 0))
            let export = try await server.get("/v1/export?filter=\(escaped(filter))")
            #expect(export.status == 200)
            #expect(export.text.split(separator: "\n").count == 9 * count)
        }
    }

    @Test func parametersHoldBesidesAFilter() async throws {
        try await CollectorServer.run(collector) { server async throws in
            _ = try await server.post(login.clientSet())
            for (query, count) in [
                ("filter=useCase%3Alogin&outcome=failed", 1), ("filter=outcome%3Afailed&use_case=7", 0),
            ] {
                #expect(
                    try await server.value("/v1/transactions?\(query)", as: RecordPage<TransactionSummary>.self).rows
                        .count == count)
            }
        }
    }

    @Test(arguments: [("outcome:faild", 8), ("a event:requestsend", 8), ("x \"y", 2)])
    func aMistakeIsA400ThatTellsItsPlace(filter: String, offset: Int) async throws {
        try await CollectorServer.run(collector) { server async throws in
            _ = try await server.post(login.clientSet())
            for route in ["transactions", "export"] {
                let response = try await server.get("/v1/\(route)?filter=\(escaped(filter))")
                #expect(response.status == 400)
                #expect(response.json?["parameter"] as? String == "filter")
                #expect(response.json?["offset"] as? Int == offset)
            }
        }
    }

    @Test func whatAnExportGoesOnWithTakesNoFilter() async throws {
        try await CollectorServer.run(collector) { server async throws in
            for query in ["filter=x&since=1h", "filter=x&after=0"] {
                try await server.get("/v1/export?\(query)").expectProblem(400, "Bad Request")
            }
        }
    }

    /// Breaks when a change is missing, reported twice, or reported although nothing new of the transaction arrived.
    @Test func whatHasChangedSinceIsToldOnce() async throws {
        try await CollectorServer.run(collector) { server async throws in
            func changes(_ after: String, _ filter: String = "") async throws -> (ids: [GUID], position: String) {
                let page = try await server.value(
                    "/v1/transactions?after=\(after)&filter=\(escaped(filter))", as: RecordPage<TransactionSummary>.self
                )
                return (page.rows.map(\.id), try #require(page.position))
            }
            let other = LoginHistory()
            _ = try await server.post(other.clientSet())
            let start = try await changes("now")
            #expect(start.ids.isEmpty)
            _ = try await server.post(login.clientSet(1...3))
            let begun = try await changes(start.position)
            #expect(begun.ids == [login.transaction])
            #expect(try await changes(start.position, "outcome:failed").ids.isEmpty)
            #expect(try await changes(begun.position).ids.isEmpty)
            _ = try await server.post(login.clientSet(1...6))
            #expect(try await changes(begun.position, "outcome:failed").ids == [login.transaction])
            _ = try await server.post(login.serverSet())
            let all = try await changes(begun.position)
            #expect(all.ids == [login.transaction])
            #expect(try await changes(all.position).ids.isEmpty)
            for wrong in ["x", "99"] {
                try await server.get("/v1/transactions?after=\(wrong)").expectProblem(400, "Bad Request")
            }
        }
    }
}
#endif
