import Foundation
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting

/// The snippet and the table of Troubleshooting.md.
@Suite(.timeLimit(.minutes(5))) struct TroubleshootingTests {
    @Test func whatHealthSays() async {
        let transactions = TransactionManager.testing()
        transactions.perform(Login.self) { _ in }
        let report = await transactions.flush()
        print(report.delivered, report.pending, report.error?.message ?? "")
        let health = transactions.health
        for problem in health.problems { print("wrong:", problem.message) }
        for hint in health.hints { print("hint:", hint) }
        #expect(report.pending == 2 && health.hints.count == 1)
    }

    /// Breaks when the guide words a hint differently than health: a reader would search for it in vain.
    @Test func theGuideHasEveryHintInItsWords() throws {
        let guide = try Guide.lines("Troubleshooting.md").filter { $0.hasPrefix("| hint") }
        let transactions = TransactionManager.testing()
        var hints = TransactionManager.disabled.health.hints
        transactions.perform(Login.self) { _ in }
        hints += transactions.health.hints
        transactions.delivery = .transport(InMemoryTransport())
        hints += transactions.health.hints
        transactions.recording = .off
        hints += transactions.health.hints.prefix(1)
        transactions.recording = .on
        let login = transactions.begin(Login.self)
        _ = transactions.openExchange(
            ExchangeRequest(url: try #require(URL(string: "https://api.example.com"))), in: login)
        hints += transactions.health.hints.suffix(1)
        let field = "\(TransactionHeader(transaction: GUID(), useCase: Purchase.code))"
        #expect(transactions.join(header: { $0 == "Waybill-Transaction" ? field : nil }) == nil)
        hints += transactions.health.hints.filter { $0.contains("options.server.accepting") }
        hints += try hintsOfMistakes()
        #expect(hints.count == 11)
        for hint in hints {
            #expect(
                guide.contains { $0.split(separator: "*").dropFirst().first.map { hint.contains($0) } == true },
                "\(hint)")
        }
        #expect(guide.count == hints.count)
    }

    private func hintsOfMistakes() throws -> [String] {
        let clock = ManualClock()
        let transactions = TransactionManager.testing(
            clock: clock, correlatedHosts: ["api.example.com"]
        ) { options in
            (options.memoryCapacity, options.diagnostics) = (64, { _ in })
        }
        let login = transactions.begin(Login.self)
        transactions.openExchange(ExchangeRequest(url: try #require(URL(string: "https://api.example.com")))).finish()
        login.finish()
        login.perform { _ in }
        transactions.perform(Login.self) { login in
            login.finish()
            clock.advance(by: .seconds(61))
            #expect(Login.current == nil)
        }
        var attributes: Attributes = [:]
        for number in 1...33 { attributes["a\(number)"] = .integer(Int64(number)) }
        let other = transactions.begin(Login.self, attributes: attributes)
        for _ in 1...100 { other.log(.initiated) }
        return transactions.health.hints.filter { !$0.contains("facts wait") }
    }

    /// Breaks when the guide shows code that was never compiled.
    @Test func theGuideShowsWhatIsTested() throws {
        #expect(try Guide.linesOfSnippets("Troubleshooting.md", notIn: [URL(filePath: #filePath)]) == [])
    }
}
