#if Collector
import Foundation
import TestSupport
import Testing
@testable import WaybillCollector
import WaybillCore
@testable import WaybillInspector
import WaybillQueries

/// One transaction by either clock, and a comparison of two.
@Suite(.timeLimit(.minutes(5))) struct ClockPageTests {
    private let folder: TemporaryDirectory
    private let login = LoginHistory()

    init() throws { folder = try TemporaryDirectory() }

    /// Runs a collector with a login whose server's clock is five minutes ahead.
    private func run(_ body: (CollectorServer) async throws -> Void) async throws {
        try await CollectorServer.run(try Collector(folder: folder.url)) { server in
            _ = try await server.post(login.clientSet())
            var set = login.serverSet()
            set.sources[0].clocks = [
                ClockAnchor(atMicroseconds: 0, offsetMicroseconds: LoginHistory.begun + 300_000_000)
            ]
            _ = try await server.post(set)
            try await body(server)
        }
    }

    /// Makes a login of the same client, `seconds` after the other. Without an outcome it is open.
    private func other(after seconds: Int, useCase: Int = 0, _ outcome: TransactionOutcome?) -> (GUID, TransactionSet) {
        let id = GUID()
        let source = SourceIdentity(
            id: GUID(), app: "app", appVersion: "1.3", device: "iPhone17,1", os: "iOS", osVersion: "18.1")
        var facts = [
            Fact(
                sequence: 1, part: 1, atMicroseconds: 0,
                content: .opened(Fact.Opened(transaction: id, useCase: useCase))),
            Fact(sequence: 2, part: 1, atMicroseconds: 300, content: .event(Fact.Event(code: 1))),
        ]
        if let outcome {
            facts.append(
                Fact(sequence: 3, part: 1, atMicroseconds: 9000, content: .closed(Fact.Closed(outcome: outcome))))
        }
        let clock = ClockAnchor(atMicroseconds: 0, offsetMicroseconds: LoginHistory.begun + Int64(seconds) * 1_000_000)
        let names = [RecordedName(useCase: 0, name: "login"), RecordedName(useCase: 1, name: "purchase")]
        let share = TransactionSet.Share(
            source: source, clocks: [clock], names: names,
            ledger: Ledger(recorded: Int64(facts.count), pending: Int64(facts.count)),
            facts: facts)
        return (id, TransactionSet(id: GUID(), sources: [share]))
    }

    @Test func aTransactionIsShownByEitherClocks() async throws {
        try await run { server in
            let path = "/transactions/\(login.transaction)"
            let page = try await server.get(path).text
            #expect(page.contains("Times are aligned to the clock of app."))
            #expect(page.contains("<a class=chip href=\"?\" aria-current=true>aligned</a>"))
            #expect(page.contains("clock +300.000 s ± 2.00 ms, by its own exchange alone"))
            #expect(page.contains("Its beginning ± 2.00 ms"))
            #expect(try await server.get("\(path)?clocks=aligned").text.contains("Times are aligned"))
            let raw = try await server.get("\(path)?clocks=raw").text
            #expect(raw.contains("Times are raw") && !raw.contains("Its beginning"))
            #expect(raw.contains("<a class=chip href=\"?clocks=raw\" aria-current=true>raw</a>"))
            let wrong = try await server.get("\(path)?clocks=late")
            #expect(wrong.status == 400)
            #expect(wrong.text.contains("“late” is neither aligned nor raw."))
        }
    }

    @Test func aSingleSourceHasNoChoiceOfClocks() async throws {
        try await run { server in
            let (id, set) = other(after: 60, .succeeded)
            _ = try await server.post(set)
            let page = try await server.get("/transactions/\(id)?clocks=raw").text
            #expect(!page.contains("aria-label=Clocks") && !page.contains("Times are raw"))
        }
    }

    @Test func theAnswerOfTheCollectorCarriesRawTimesAndWhatToAdd() async throws {
        try await run { server in
            let answer = try await server.get("/v1/transactions/\(login.transaction)")
            let record = try JSONDecoder.waybill().decode(TransactionRecord.self, from: answer.body)
            let offset = try #require(record.clocks?[login.server.id])
            #expect(abs(offset.microseconds + 300_000_000) <= offset.uncertaintyMicroseconds)
            #expect(answer.text.contains("\"offset_us\":") && answer.text.contains("\"uncertainty_us\":"))
            let server = try #require(record.parts.first { $0.id.source == login.server.id })
            #expect(server.openedMicroseconds == LoginHistory.begun + 300_003_000)
            #expect(record.aligned.parts.allSatisfy { $0.openedMicroseconds < LoginHistory.begun + 15_000 })
        }
    }

    @Test func twoOfOneUseCaseAreCompared() async throws {
        try await run { server in
            let (id, set) = other(after: 60, .succeeded)
            _ = try await server.post(set)
            let page = try await server.get("/beside?a=\(login.transaction.supportCode)&b=\(id)")
            #expect(page.status == 200)
            #expect(page.text.contains("<h1>Two runs of login</h1>"))
            #expect(page.text.matches(of: #/<figure>/#).count == 2)
            #expect(page.text.contains("succeeded instead of failed · without LoginError 3 · 6.00 ms earlier"))
            #expect(page.text.contains("only in the first") && !page.text.contains("only in the second"))
            #expect(page.text.contains("variant=B"), "An attribute that one has not is told.")
            let turned = try await server.get("/beside?a=\(id)&b=\(login.transaction)&clocks=raw").text
            #expect(turned.contains("only in the second") && turned.contains("Times are raw"))
            #expect(
                turned.contains("clocks=aligned")
                    || turned.contains("href=\"beside?a=\(id)&amp;b=\(login.transaction)\""))
        }
    }

    @Test func theSecondIsFoundByWhereItStands() async throws {
        try await run { server in
            let (later, laterSet) = other(after: 60, .succeeded)
            let (_, purchase) = other(after: 30, useCase: 1, .succeeded)
            let (latest, latestSet) = other(after: 90, nil)
            for set in [laterSet, purchase, latestSet] { _ = try await server.post(set) }
            let address = "/beside?a=\(login.transaction)&b="
            for (word, id) in [("after", later), ("succeeded", later)] {
                let answer = try await server.get(address + word)
                #expect(answer.status == 303)
                #expect(answer.header("Location") == "beside?a=\(login.transaction)&b=\(id)", "\(word)")
            }
            let before = try await server.get("/beside?a=\(latest)&b=before&clocks=raw")
            #expect(before.header("Location") == "beside?a=\(latest)&b=\(later)&clocks=raw")
            let none = try await server.get(address + "before")
            #expect(none.status == 200, "A page links here.")
            #expect(none.text.contains("No login began before this one."))
            let alone = try await server.get("/beside?a=\(later)&b=succeeded")
            #expect(alone.text.contains("No other login has succeeded."))
        }
    }

    @Test func whatCannotBeComparedIsSaid() async throws {
        try await run { server in
            let (id, set) = other(after: 60, useCase: 1, .succeeded)
            _ = try await server.post(set)
            let foreign = try await server.get("/beside?a=\(login.transaction)&b=\(id)").text
            #expect(foreign.contains("These are of different use cases, login and purchase"))
            #expect(
                try await server.get("/beside?a=\(id)&b=\(id)").text.contains("This is the same transaction twice."))
            let unknown = try await server.get("/beside?a=\(id)&b=0000-0000")
            #expect(unknown.status == 404)
            #expect(unknown.text.contains("There is no transaction with the support code 0000-0000 here."))
            #expect(unknown.text.contains("<input name=b"), "Another can be given at once.")
            #expect(try await server.get("/beside?a=0000-0000&b=\(id)").status == 404)
            #expect(try await server.get("/beside").status == 400)
            #expect(try await server.get("/beside?a=\(id)&b=\(id)&clocks=x").status == 400)
            let empty = try await server.get("/beside?a=\(id)&b=")
            #expect(empty.text.contains("Name the second one by its support code or its ID."))
        }
    }

    @Test func theAddressSurvivesTheLogin() {
        #expect(LoginDestination("beside?a=K7QD-3M2X&b=before").path == "beside?a=K7QD-3M2X&b=before")
        #expect(LoginDestination("//evil.example/beside?a=1").path == "transactions")
    }

    /// Breaks when a link to the login leads to a page outside the inspector: browsers treat `%2e%2e` as `..`.
    @Test(arguments: [
        "transactions/%2e%2e/%2e%2e", "transactions/..", "transactions/%2E./x", "transactions/a%2fb",
        "transactions/%5c",
        "transactions/%ff", "transactions/.hidden",
    ]) func noAddressLeadsOutOfThePages(address: String) {
        #expect(LoginDestination(address).path == "transactions")
    }

    @Test(arguments: ["transactions/K7QD-3M2X", "network/a%3A1", "transactions?text=%2e%2e/", "transactions/a.b"])
    func addressesOfPagesStay(address: String) { #expect(LoginDestination(address).path == address) }
}
#endif
