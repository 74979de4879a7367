#if Collector
import Foundation
import TestSupport
import Testing
import WaybillCollector
import WaybillCore
import WaybillQueries
import WaybillStore

@Suite(.timeLimit(.minutes(5))) struct ErasingTests {
    private let folder: TemporaryDirectory
    private let login = LoginHistory()
    private let installation = GUID()

    init() throws { folder = try TemporaryDirectory() }

    private func clientSet() -> TransactionSet {
        var set = login.clientSet()
        set.sources[0].source.installation = installation
        return set
    }

    private func serving(_ body: (CollectorServer) async throws -> Void) async throws {
        try await CollectorServer.run(try Collector(folder: folder.url)) { server async throws in
            try await body(server)
        }
    }

    @Test func anInstallationIsErasedWithTheServersPartsAndStaysErased() async throws {
        try await serving { server in
            _ = try await server.post(clientSet())
            _ = try await server.post(login.serverSet())
            let answer = try await RawClient.send(
                "DELETE", "/v1/transactions?installation=\(installation)", to: server.port)
            #expect(answer.status == 200)
            #expect(
                try JSONDecoder.waybill().decode(Erasure.self, from: answer.body)
                    == Erasure(transactionCount: 1, factCount: 9))
            try await server.get("/v1/transactions/\(login.transaction)").expectProblem(404, "Not Found")
            #expect(try await server.post(clientSet()).rejections.map(\.reason) == Array(repeating: "erased", count: 6))
        }
    }

    @Test func transactionsAreErasedByIDAndBySupportCode() async throws {
        try await serving { server in
            let others = [LoginHistory(), LoginHistory(), LoginHistory()]
            for history in others { _ = try await server.post(history.clientSet()) }
            let query = "id=\(others[0].transaction)&id=\(others[1].transaction.supportCode)"
            let answer = try await RawClient.send("DELETE", "/v1/transactions?\(query)", to: server.port)
            #expect(answer.text == #"{"fact_count":12,"transaction_count":2}"#)
            #expect(
                try await server.value("/v1/transactions", as: RecordPage<TransactionSummary>.self).rows.map(\.id) == [
                    others[2].transaction
                ])
        }
    }

    /// Breaks when a misspelled request erases something, or everything.
    @Test(arguments: [
        "", "?installation=x", "?id=0000-0000", "?app=app", "?id=x",
        "?installation=01890a5d-ac96-774b-bcce-b302099a8057&id=1",
    ])
    func whatIsNotClearErasesNothing(query: String) async throws {
        try await serving { server in
            _ = try await server.post(clientSet())
            let answer = try await RawClient.send("DELETE", "/v1/transactions\(query)", to: server.port)
            #expect([400, 404].contains(answer.status))
            #expect(try await server.value("/v1/transactions", as: RecordPage<TransactionSummary>.self).rows.count == 1)
        }
    }

    @Test func codesWithSeveralNamesAreTold() async throws {
        try await serving { server in
            var set = login.clientSet()
            set.sources[0].names = [RecordedName(useCase: 0, name: "login")]
            _ = try await server.post(set)
            set = LoginHistory().clientSet()
            set.sources[0].names = [RecordedName(useCase: 0, name: "signIn")]
            _ = try await server.post(set)
            let page: RecordPage<NameConflict> = try await server.value("/v1/names")
            #expect(
                page.rows.map(\.useCase) == [0] && page.rows.first?.names.map(\.name).sorted() == ["login", "signIn"])
            #expect(page.next == nil)
        }
    }

    /// Breaks when a code beyond the first page can't be requested, or is listed twice.
    @Test func codesWithSeveralNamesComeInPages() async throws {
        try await serving { server in
            for name in ["first", "second"] {
                var set = LoginHistory().clientSet()
                set.sources[0].names = (0..<3).flatMap { useCase in
                    [nil, 0, 7].map { RecordedName(useCase: useCase, event: $0, name: name) }
                }
                _ = try await server.post(set)
            }
            var (codes, cursor): ([String], String?) = ([], nil)
            for _ in 0..<9 {
                let path = "/v1/names?limit=2" + (cursor.map { "&cursor=\($0)" } ?? "")
                let answer = try await server.get(path)
                #expect(answer.header("Waybill-Total-Count") == "9")
                let page = try JSONDecoder.waybill().decode(RecordPage<NameConflict>.self, from: answer.body)
                codes += page.rows.map { "\($0.useCase) \($0.event ?? -1)" }
                cursor = page.next
                if cursor == nil { break }
            }
            #expect(codes == ["0 -1", "0 0", "0 7", "1 -1", "1 0", "1 7", "2 -1", "2 0", "2 7"])
            for query in ["cursor=x", "cursor=1.x", "cursor=1.2.3", "cursor=", "limit=0", "text=x"] {
                #expect(try await server.get("/v1/names?" + query).status == 400, "\(query)")
            }
        }
    }

    @Test func anEmptyPageSaysWhyItIsEmpty() async throws {
        try await serving { server in
            let page = try await server.value("/v1/transactions", as: RecordPage<TransactionSummary>.self)
            #expect(page.whyEmpty == "There is no transaction here: the store is empty.")
        }
    }
}
#endif
