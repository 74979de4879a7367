import Foundation
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting

private struct WrongPassword: Error {}

/// The examples of the guide on tests, as they stand there, and what the trait does when a test fails.
@Suite(.timeLimit(.minutes(5))) struct TestingGuideTests {
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

    /// Runs a test with the trait inside of this one; gives what was attached to it.
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

    @Test func theGuideShowsWhatIsTested() throws {
        let here = URL(filePath: #filePath)
        let guide = try String(
            contentsOf: here.appending(path: "../../../../Sources/WaybillTesting/WaybillTesting.docc/WaybillTesting.md")
                .standardizedFileURL, encoding: .utf8)
        let tested = Set(
            try String(contentsOf: here, encoding: .utf8).split(separator: "\n").map {
                $0.trimmingCharacters(in: .whitespaces)
            })
        let snippets = guide.components(separatedBy: "```").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
        #expect(snippets.count == 3)
        for line in snippets.flatMap({ $0.split(separator: "\n").dropFirst() }) {
            let code = line.trimmingCharacters(in: .whitespaces)
            #expect(tested.contains(code), "\(code)")
        }
    }
}
