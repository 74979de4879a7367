import Foundation
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

private struct WrongPassword: Error {}

/// The examples of the guide on tests and rules, as they appear there, and the trait's work when a test fails.
@Suite(.timeLimit(.minutes(5))) struct TestGuideTests {
    @Test(.waybill) func whatAFailedLoginRecords() throws {
        let transactions = TransactionManager.ofTest
        let clock = ManualClock.ofTest
        try? transactions.perform(Login.self, attributes: ["variant": "B"]) { login in
            login.log(.requestSent)
            clock.advance(by: .milliseconds(250))
            transactions.perform(Purchase.self) { $0.log(.started) }
            throw WrongPassword()
        }

        let login = try #require(try transactions.last(Login.self))
        #expect(login.summary.outcome == .failed)
        #expect(login.summary.error?.domain.hasSuffix("WrongPassword") == true)
        #expect(login.summary.duration == .milliseconds(250))
        #expect(login.summary.attributes["variant"] == "B")
        let purchase = try #require(try transactions.last(Purchase.self))
        #expect(purchase.summary.parent == login.summary.id)
    }

    @Test func withoutTheTrait() async throws {
        let clock = ManualClock()
        let transactions = TransactionManager.testing(clock: clock, correlatedHosts: ["api.example.com"])
        #expect(try await transactions.exchanges().rows.isEmpty)
    }

    @Test(.waybill(correlatedHosts: ["api.example.com"])) func theTraitTakesSettings() throws {
        let url = try #require(URL(string: "https://api.example.com/login"))
        let login = TransactionManager.ofTest.begin(Login.self)
        #expect(login.headers(for: url).count == 1)
        let exchanges = try TransactionManager.ofTest.exchanges
        #expect(exchanges.isEmpty)
    }

    @Suite(.timeLimit(.minutes(5)), .waybill) struct OnASuite {
        @Test(arguments: 1...3) func eachTestHasAManagerOfItsOwn(_ number: Int) async throws {
            TransactionManager.ofTest.perform(Login.self) { $0.log(.initiated) }
            #expect(try TransactionManager.ofTest.last(Login.self)?.events.map(\.event) == [.initiated], "\(number)")
            let inherited = try await Task { try TransactionManager.ofTest.last(Login.self)?.events.map(\.event) }.value
            #expect(inherited == [.initiated])
        }
    }

    @Test func withoutTheTraitThereIsNoManager() {
        withKnownIssue { #expect(TransactionManager.ofTest === TransactionManager.disabled) }
        withKnownIssue { _ = ManualClock.ofTest }
    }

    /// Runs a test with the trait inside this one; returns its attachments.
    private func attached(_ function: @escaping @Sendable () async throws -> Void) async throws -> [String: String] {
        let files = Locked<[String: String]>([:])
        let trait = WaybillTrait(attach: { file, name in
            files.withLock { $0[name] = String(decoding: file, as: UTF8.self) }
        })
        let test = try #require(Test.current)
        await withKnownIssue(isIntermittent: true) {
            try await trait.provideScope(for: test, testCase: Test.Case.current, performing: function)
        }
        return files.withLock { $0 }
    }

    @Test func aFailedTestHasTheReportAndTheRequests() async throws {
        let url = try #require(URL(string: "https://api.example.com/login"))
        let files = try await attached {
            TransactionManager.ofTest.perform(Login.self) { login in
                TransactionManager.ofTest.openExchange(ExchangeRequest(url: url)).finish()
            }
            Issue.record("This test fails.")
        }
        #expect(files.keys.sorted() == ["waybill.har", "waybill.html"])
        #expect(files["waybill.html"]?.contains(Login.name) == true)
        #expect(files["waybill.har"]?.contains("https://api.example.com/login") == true)
    }

    @Test func aTestThatThrowsHasTheReport() async throws {
        let files = try await attached {
            TransactionManager.ofTest.perform(Login.self) { _ in }
            throw WrongPassword()
        }
        #expect(files.keys.sorted() == ["waybill.html"], "it sent no request")
    }

    @Test func aTestThatPassesHasNothing() async throws {
        #expect(try await attached { TransactionManager.ofTest.perform(Login.self) { _ in } }.isEmpty)
    }

    @Test func oneRule() async throws {
        let transactions = TransactionManager.testing()
        transactions.rules.add(
            NetworkRule(
                "login is down", matching: RequestPattern(method: "POST", path: .glob("/v*/login")),
                .mock(.text(#"{"error":"maintenance"}"#, status: 503, delay: .milliseconds(250)))))
        transactions.rules.isEnabled = TransactionManager.isDebugBuild

        transactions.rules.isEnabled = true
        var request = URLRequest(url: try refusedURL("/v2/login"))
        request.httpMethod = "POST"
        let (data, response) = try await transactions.session.data(for: request)
        #expect(response.status == 503)
        #expect(data == Data(#"{"error":"maintenance"}"#.utf8))
        #expect(transactions.rules.hits == ["login is down": 1])
        print(transactions.rules.hits)
        transactions.rules.setEnabled(false, named: "login is down")
        transactions.rules.remove(named: "login is down")
        #expect(transactions.rules.all.isEmpty)
    }

    @Test func firstThisThenThatAndDelays() async throws {
        let transactions = TransactionManager.testing()
        transactions.rules.add(
            NetworkRule("a bad network", .throttle(.init(latency: .milliseconds(100), maximumLatency: .seconds(2)))))
        transactions.rules.add([
            NetworkRule(
                "down", matching: RequestPattern(path: "/orders"), .mock(.init(status: 503)), times: 2),
            NetworkRule("up", matching: RequestPattern(path: "/orders"), .mock(.text("[]"))),
        ])
        transactions.rules.isEnabled = true
        var statuses: [Int?] = []
        for _ in 0..<3 {
            statuses.append(try await transactions.session.data(for: URLRequest(url: refusedURL("/orders"))).1.status)
        }
        #expect(statuses == [503, 503, 200])
    }

    @Test func rulesFromJSON() throws {
        let guide = try Guide.lines("Test.md").joined(separator: "\n")
        let blocks = guide.components(separatedBy: "```json\n").dropFirst()
        let json = try #require(blocks.first?.components(separatedBy: "```").first)
        let (transactions, folder) = (TransactionManager.testing(), try TemporaryDirectory())
        let (rules, file) = (transactions.rules, folder.file("rules.json"))
        try Data(json.utf8).write(to: file)
        try transactions.rules.add(json: Data(contentsOf: file))
        #expect(
            rules.all.map(\.name) == ["login is down", "no advertisements", "slow", "down twice", "films break off"])
        #expect(rules.all.map(\.isEnabled) == [true, true, false, true, true])
    }

    @Test func whatTheGuideSaysOfAMistake() {
        let rules = TransactionManager.testing().rules
        let error = #expect(throws: WaybillError.self) {
            try rules.add(json: Data(#"{"rules":[{"name":"a","match":{"methd":"GET"},"mock":{}}]}"#.utf8))
        }
        #expect(
            error?.message == "/rules/0/match/methd: unknown name; use one of method, url, host, path, headers, body")
    }

    /// Breaks when the guide shows code that was never compiled.
    @Test func theGuideShowsWhatIsTested() throws {
        let here = URL(filePath: #filePath)
        // These lines compile the output of `waybill reproduce` and complete it.
        let others = ["WaybillCommandTests/Verbs/ReproduceTests.swift", "IntegrationTests/test_reproduce.py"].map {
            name in
            here.appending(path: "../../../\(name)").standardizedFileURL
        }
        #expect(try Guide.linesOfSnippets("Test.md", notIn: [here] + others) == [])
    }
}
