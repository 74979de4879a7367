#if ClickHouse
import Foundation
import TestSupport
import Testing
import WaybillCore

@testable import WaybillClickHouse
@testable import WaybillCollector
@testable import WaybillCollectorTests

/// A collector in front of databases, over HTTP.
@Suite(.timeLimit(.minutes(15)), .enabled(if: ClickHouseEngine.isThere)) struct CollectorTests {
    private let folder: TemporaryDirectory
    private let address: ClickHouseAddress

    init() async throws {
        (folder, address) = (try TemporaryDirectory(), try await ClickHouseEngine.shared.database())
    }

    private func field(_ role: Role, _ project: ProjectName) throws -> [String: String] {
        ["Authorization": try TokenFile(folder: folder.url).add(role: role, project: project).secret.fieldValue]
    }

    /// Breaks when one project sees or loses the data of another project on the same servers, when a project cannot be
    /// added while the collector runs, or when a collector starts although a project has no tables.
    @Test func eachProjectHasADatabaseOfItsOwn() async throws {
        let shop = try #require(ProjectName("web-shop"))
        let (own, its) = (LoginHistory(), LoginHistory())
        let writing = try field(.ingest, .standard)
        let collector = try await Collector(database: address, tokens: folder.url, access: .tokens)
        try await CollectorServer.run(collector) { server in
            let first = Data(own.clientSet().encoded())
            #expect(try await server.post(first, headers: writing).status == 200)
            let set = Data(its.clientSet().encoded())
            let writingToShop = try field(.ingest, shop)
            #expect(try await server.post(set, headers: writingToShop).status == 503, "without tables")
            var other = address
            other.database += "_web_shop"
            try await other.createTables()
            #expect(try await server.post(set, headers: writingToShop).status == 200)
            for (project, history, hidden) in [(ProjectName.standard, own, its), (shop, its, own)] {
                let reading = try field(.read, project)
                let found = try await server.get("/v1/transactions/\(history.transaction)", headers: reading)
                #expect(found.status == 200, "\(project)")
                let none = try await server.get("/v1/transactions/\(hidden.transaction)", headers: reading)
                #expect(none.status == 404, "\(project)")
            }
        }
        // The second token exists now, so the next collector opens both projects when it starts.
        _ = try await Collector(database: address, tokens: folder.url, access: .tokens)
        _ = try field(.read, try #require(ProjectName("nowhere")))
        await #expect(throws: WaybillError.self) {
            try await Collector(database: address, tokens: folder.url, access: .tokens)
        }
    }
}
#endif
