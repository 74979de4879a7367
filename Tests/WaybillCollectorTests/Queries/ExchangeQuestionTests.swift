#if Collector
import Foundation
import TestSupport
import Testing
import WaybillCollector
import WaybillCore
import WaybillQueries

@Suite(.timeLimit(.minutes(5))) struct ExchangeQuestionTests {
    private let folder: TemporaryDirectory
    private let collector: Collector
    private let login = LoginHistory()

    init() throws {
        folder = try TemporaryDirectory()
        collector = try Collector(folder: folder.url)
    }

    @Test(arguments: [
        ("", 1), ("?use_case=login", 1), ("?use_case=7", 0), ("?outcome=failed", 1), ("?outcome=succeeded", 0),
        ("?method=post,get", 1),
        ("?method=GET", 0), ("?status=401", 1), ("?status=4xx", 1), ("?status=400-499", 1), ("?status=5XX", 0),
        ("?state=completed", 1),
        ("?state=failed,mocked", 0), ("?since=2026-03-01T12:00:00Z", 1), ("?since=1h", 0), ("?until=2026-03-01", 0),
        ("?filter=host:example.com%20path:/login%20-status:5xx", 1), ("?filter=useCase:login%20event:requestSent", 1),
        ("?filter=took%3E1h", 0),
        ("?filter=method:post&status=5xx", 0),
        ("?text=api.example.com/login", 1), ("?text=no%20such", 0),
        ("?use_case=login&method=POST&status=401&limit=1", 1),
    ])
    func everyConditionMustHold(query: String, count: Int) async throws {
        try await CollectorServer.run(collector) { server async throws in
            _ = try await server.post(login.clientSet())
            let page: RecordPage<ExchangeRecord> = try await server.value("/v1/exchanges\(query)")
            #expect(page.rows.count == count)
            #expect((page.whyEmpty == nil) == (count > 0))
        }
    }

    @Test func pagesFollowEachOtherWithoutRepeats() async throws {
        try await CollectorServer.run(collector) { server async throws in
            for _ in 0..<7 { _ = try await server.post(LoginHistory().clientSet()) }
            var ids: Set<FactID> = []
            var sizes: [Int] = []
            var cursor: String? = ""
            try await eventually("the last page comes") {
                guard let next = cursor else { return true }
                let page: RecordPage<ExchangeRecord> = try await server.value(
                    "/v1/exchanges?limit=3" + (next.isEmpty ? "" : "&cursor=\(next)"))
                ids.formUnion(page.rows.map(\.id))
                sizes.append(page.rows.count)
                cursor = page.next
                return false
            }
            #expect(sizes == [3, 3, 1] && ids.count == 7)
        }
    }

    @Test(arguments: [
        ("status=ok", "status"), ("status=5-4", "status"), ("status=", "status"), ("state=done", "state"),
        ("outcome=ok", "outcome"),
        ("limit=0", "limit"), ("cursor=x", "cursor"), ("host=x", "host"),
    ])
    func aParameterThatCannotBeReadIsA400ThatNamesIt(query: String, parameter: String) async throws {
        try await CollectorServer.run(collector) { server async throws in
            let response = try await server.get("/v1/exchanges?\(query)")
            response.expectProblem(400, "Bad Request")
            #expect(response.json?["parameter"] as? String == parameter)
        }
    }

    @Test(arguments: [("x%20state:faild", 8), ("useCase:logon", 8), ("exchange:failed", 0)])
    func aMistakeInAFilterIsA400ThatTellsItsPlace(filter: String, offset: Int) async throws {
        try await CollectorServer.run(collector) { server async throws in
            _ = try await server.post(login.clientSet())
            let response = try await server.get("/v1/exchanges?filter=\(filter)")
            #expect(response.status == 400)
            #expect(response.json?["parameter"] as? String == "filter")
            #expect(response.json?["offset"] as? Int == offset)
        }
    }

    @Test func anExchangeIsFoundByItsIDItsCodeAndTheBeginningOfThat() async throws {
        try await CollectorServer.run(collector) { server async throws in
            _ = try await server.post(login.clientSet())
            let code = login.client.id.supportCode.description
            for key in [
                "\(login.client.id):3", "\(code):3", "\(code.lowercased()):3", "\(code.prefix(3)):3", "\(code)%3A3",
            ] {
                let record: ExchangeRecord = try await server.value("/v1/exchanges/\(key)")
                #expect(record.id == FactID(source: login.client.id, sequence: 3))
                #expect(
                    record.transaction == login.transaction && record.useCaseName == "login"
                        && record.exchange.status == 401)
            }
        }
    }

    @Test(arguments: [
        "01890a5d-ac96-774b-bcce-b302099a8057:3", "0000-0000:3", "x", ":3", "K7QD:", "K7QD:0", "K7QD:-1", "K7QD:3x",
    ])
    func whatIsNotThereIsA404(key: String) async throws {
        try await CollectorServer.run(collector) { server async throws in
            _ = try await server.post(login.clientSet())
            try await server.get("/v1/exchanges/\(key)").expectProblem(404, "Not Found")
        }
    }

    /// At least two of the 33 sources share a first letter, because codes use 32 letters.
    @Test func aCodeThatSeveralHaveIsA409ThatNamesThem() async throws {
        try await CollectorServer.run(collector) { server async throws in
            let logins = (0..<33).map { _ in LoginHistory() }
            for login in logins { _ = try await server.post(login.clientSet()) }
            let letters = Dictionary(grouping: logins) { $0.client.id.supportCode.description.prefix(1) }
            let shared = try #require(letters.first { $0.value.count > 1 })
            let response = try await server.get("/v1/exchanges/\(shared.key):3")
            response.expectProblem(409, "Conflict")
            let detail = try #require(response.json?["detail"] as? String)
            for login in shared.value { #expect(detail.contains("\(login.client.id):3")) }
        }
    }
}
#endif
