#if Collector
import Foundation
import TestSupport
import Testing
import WaybillCollector
import WaybillCore
import WaybillQueries

@Suite(.timeLimit(.minutes(5))) struct QuestionTests {
    private let folder: TemporaryDirectory
    private let collector: Collector

    init() throws {
        folder = try TemporaryDirectory()
        collector = try Collector(folder: folder.url)
    }

    @Test(arguments: [
        ("", 1), ("?use_case=login", 1), ("?use_case=0", 1), ("?use_case=7", 0), ("?outcome=failed,open", 1),
        ("?outcome=succeeded", 0),
        ("?since=2026-03-01", 1), ("?since=2026-03-01T12:00:00.001Z", 0), ("?since=1h", 0),
        ("?until=1772366400000000", 0),
        ("?until=2026-03-02", 1), ("?text=LoginError", 1), ("?text=api.example", 1), ("?text=no%20such", 0),
        ("?use_case=login&outcome=failed&text=B&limit=1", 1),
    ])
    func everyConditionMustHold(query: String, count: Int) async throws {
        try await CollectorServer.run(collector) { server async throws in
            _ = try await server.post(LoginHistory().clientSet())
            #expect(
                try await server.value("/v1/transactions\(query)", as: RecordPage<TransactionSummary>.self).rows.count
                    == count)
        }
    }

    @Test func pagesFollowEachOtherWithoutRepeats() async throws {
        try await CollectorServer.run(collector) { server async throws in
            let histories = (0..<7).map { _ in LoginHistory() }
            for history in histories { _ = try await server.post(history.clientSet()) }
            var ids: [GUID] = []
            var sizes: [Int] = []
            var cursor: String? = ""
            try await eventually("the last page comes") {
                guard let next = cursor else { return true }
                let page: RecordPage<TransactionSummary> = try await server.value(
                    "/v1/transactions?limit=3" + (next.isEmpty ? "" : "&cursor=\(next)"))
                ids += page.rows.map(\.id)
                sizes.append(page.rows.count)
                cursor = page.next
                return false
            }
            #expect(sizes == [3, 3, 1])
            #expect(Set(ids) == Set(histories.map(\.transaction)))
            #expect(ids.count == 7)
        }
    }

    @Test(arguments: [
        ("use_case=logon", "use_case"), ("outcome=ok", "outcome"), ("since=noon", "since"), ("until=noon", "until"),
        ("limit=0", "limit"),
        ("cursor=x", "cursor"), ("usecase=0", "usecase"),
    ])
    func aParameterThatCannotBeReadIsA400ThatNamesIt(query: String, parameter: String) async throws {
        try await CollectorServer.run(collector) { server async throws in
            let response = try await server.get("/v1/transactions?\(query)")
            response.expectProblem(400, "Bad Request")
            #expect(response.json?["parameter"] as? String == parameter)
        }
    }

    @Test func aTransactionIsFoundByIDAndBySupportCode() async throws {
        try await CollectorServer.run(collector) { server async throws in
            let login = LoginHistory()
            _ = try await server.post(login.clientSet())
            let code = login.transaction.supportCode.description
            for key in [
                "\(login.transaction)", "\(login.transaction)".uppercased(), code, code.lowercased(),
                code.replacing("-", with: "%20"),
            ] {
                let record: TransactionRecord = try await server.value("/v1/transactions/\(key)")
                #expect(record.summary.id == login.transaction)
            }
        }
    }

    @Test(arguments: ["01890a5d-ac96-774b-bcce-b302099a8057", "0000-0000", "x", "%00"])
    func whatIsNotThereIsA404(key: String) async throws {
        try await CollectorServer.run(collector) { server async throws in
            try await server.get("/v1/transactions/\(key)").expectProblem(404, "Not Found")
        }
    }

    @Test func aSharedSupportCodeIsA409ThatListsTheTransactions() async throws {
        try await CollectorServer.run(collector) { server async throws in
            let ids = try ["01890a5d-ac96-774b-bcce-b302099a8057", "01890a5d-ac97-774b-bcce-b302099a8057"].map {
                try #require(GUID($0))
            }
            for id in ids {
                var set = LoginHistory().clientSet(1...1)
                set.sources[0].facts[0].content = .opened(Fact.Opened(transaction: id, useCase: 0))
                _ = try await server.post(set)
            }
            let response = try await server.get("/v1/transactions/\(ids[0].supportCode)")
            response.expectProblem(409, "Conflict")
            #expect(response.json?["transactions"] as? [String] == ids.map(\.description))
        }
    }

    @Test func sourcesTellTheirLedgersAndGaps() async throws {
        try await CollectorServer.run(collector) { server async throws in
            let login = LoginHistory()
            _ = try await server.post(login.clientSet(1...2))
            _ = try await server.post(login.clientSet(5...6))
            let source = try await server.value("/v1/sources", as: RecordPage<SourceRecord>.self).rows.first
            #expect(source?.id == login.client.id)
            #expect(source?.app == "app")
            #expect(source?.ledger == Ledger(recorded: 6, delivered: 4, pending: 2))
            #expect(source?.gaps == [SourceRecord.Gap(first: 3, last: 4)])
        }
    }

    /// Source X recorded 1,000 facts: 998 have arrived, and the device dropped 2 for lack of room.
    @Test func whatADeviceDroppedIsToldWithTheReason() async throws {
        try await CollectorServer.run(collector) { server async throws in
            let login = LoginHistory()
            var set = login.clientSet(1...1)
            set.sources[0].facts += (2...998).map {
                Fact(sequence: $0, part: 1, atMicroseconds: $0, content: .event(Fact.Event(code: 1)))
            }
            set.sources[0].dropped = [DroppedRange(first: 999, last: 1000, reason: .quota)]
            set.sources[0].ledger = Ledger(recorded: 1000, dropped: ["quota": 2], pending: 998)
            #expect(try await server.post(set).acceptedCount == 998)
            let source = try #require(
                try await server.value("/v1/sources", as: RecordPage<SourceRecord>.self).rows.first)
            #expect(source.id == login.client.id && source.gaps.isEmpty)
            #expect(source.ledger == Ledger(recorded: 1000, delivered: 998, dropped: ["quota": 2]))
        }
    }

    /// Breaks when a collector of many devices answers with megabytes, or leaves some devices out.
    @Test func sourcesComePageByPageTheFirstThatWasHeardInFront() async throws {
        try await CollectorServer.run(collector) { server async throws in
            var heard: [GUID] = []
            for _ in 0..<5 {
                let login = LoginHistory()
                _ = try await server.post(login.clientSet())
                heard.append(login.client.id)
            }
            var (told, pages): ([GUID], [Int]) = ([], [])
            var path: String? = "/v1/sources?limit=2"
            try await eventually("the last page comes") {
                guard let next = path else { return true }
                let page = try await server.value(next, as: RecordPage<SourceRecord>.self)
                told += page.rows.map(\.id)
                pages.append(page.rows.count)
                path = page.next.map { "/v1/sources?limit=2&cursor=\($0)" }
                return false
            }
            #expect(told == heard && pages == [2, 2, 1])
            #expect(try await server.value("/v1/sources?limit=5", as: RecordPage<SourceRecord>.self).next == nil)
            for path in [
                "/v1/sources?limit=0", "/v1/sources?limit=501", "/v1/sources?cursor=x", "/v1/sources?cursor=-1",
                "/v1/sources?sort=a",
                "/v1/sources?colour=a",
            ] {
                try await server.get(path).expectProblem(400, "Bad Request")
            }
        }
    }
}
#endif
