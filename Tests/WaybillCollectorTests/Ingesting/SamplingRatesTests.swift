#if Collector
import Foundation
import TestSupport
import Testing
import Waybill
@testable import WaybillCollector
import WaybillCore
@testable import WaybillQueries
import WaybillTesting

/// Sampling rates that a collector sends over a real socket, to apps that accept them and apps that do not.
@Suite(.timeLimit(.minutes(5))) struct SamplingRatesTests {
    private enum Login: Int, UseCase {
        static let code = 7
        case requestSent = 1
    }

    private enum Purchase: Int, UseCase {
        static let code = 8
        case paid = 1
    }

    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func limits(_ rates: [String: Double]) -> CollectorLimits {
        var limits = CollectorLimits()
        limits.samplingRates = rates
        return limits
    }

    private func app(_ server: CollectorServer, accepting: Bool = true) throws -> TransactionManager {
        var options = TransactionManager.Options()
        options.diagnostics = { _ in }
        options.sampling.acceptsRatesFromCollector = accepting
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)"))
        return .testing(delivery: .transport(URLSessionTransport(collector: url))) { $0 = options }
    }

    /// Breaks when a collector's rates do not reach the app, apply to transactions begun earlier, drop failed
    /// transactions, or reach an app that did not ask.
    @Test func anAppDeliversAsItsCollectorAsks() async throws {
        let collector = try Collector(folder: folder.url, limits: limits([Login.name: 0, "8": 1, "*": 0.5]))
        try await CollectorServer.run(collector) { server async throws in
            let (willing, other) = (try app(server), try app(server, accepting: false))
            for tx in [willing, other] {
                tx.perform(Login.self) { $0.log(.requestSent) }
                #expect(await tx.flush() == FlushReport(delivered: 3))
                let (succeeds, fails) = (tx.begin(Login.self), tx.begin(Login.self))
                succeeds.finish()
                fails.finish(.failed)
                tx.begin(Purchase.self).finish()
                #expect(await tx.flush() == FlushReport(delivered: tx === willing ? 4 : 6))
                #expect(tx.health.problems == [])
            }
            let page: RecordPage<TransactionSummary> = try await server.value("/v1/transactions")
            #expect(page.rows.count == 3 + 4)
            #expect(page.rows.count { $0.useCase == Login.code && $0.outcome == .succeeded } == 1 + 2)
            // The app's own store still has all of them.
            #expect(try willing.allRecords().count == 4)
        }
    }

    /// Breaks when a name that the store already knows has no effect, or when somebody who gives that name to another
    /// use case has that use case dropped.
    @Test func aNameStandsForTheCodesThatHaveIt() async throws {
        func post(_ names: [RecordedName], to server: CollectorServer) async throws -> [SamplingRate] {
            let source = SourceIdentity(id: GUID())
            let opened = Fact.Opened(transaction: GUID(), useCase: 1, timeoutMicroseconds: 1_000)
            let share = TransactionSet.Share(
                source: source, clocks: [ClockAnchor(atMicroseconds: 0, offsetMicroseconds: 0)], names: names,
                ledger: Ledger(recorded: 1, pending: 1),
                facts: [Fact(sequence: 1, part: 0, atMicroseconds: 0, content: .opened(opened))])
            return try await server.post(TransactionSet(id: GUID(), sources: [share])).samplingRates
        }
        let named = try Collector(folder: folder.url, limits: limits(["login": 0.25]))
        try await CollectorServer.run(named) { server async throws in
            #expect(try await post([RecordedName(useCase: 3, event: 1, name: "login")], to: server) == [])
            #expect(
                try await post([RecordedName(useCase: 3, name: "login")], to: server) == [
                    SamplingRate(useCase: 3, perMillion: 250_000)
                ])
        }
        let all = try Collector(folder: folder.url, limits: limits(["login": 0.25, "9": 0.5, "*": 1]))
        try await CollectorServer.run(all) { server async throws in
            #expect(
                try await post([], to: server) == [
                    SamplingRate(useCase: nil, perMillion: 1_000_000), SamplingRate(useCase: 3, perMillion: 250_000),
                    SamplingRate(useCase: 9, perMillion: 500_000),
                ])
            // Anybody with the token can give another use case this name, which must not have that use case dropped.
            let both = try await post([RecordedName(useCase: 4, name: "login")], to: server)
            #expect(both.map(\.useCase) == [nil, 3, 4, 9])
            #expect(both.map(\.perMillion) == [1_000_000, 1_000_000, 1_000_000, 500_000])
            let many = (10..<300).map { RecordedName(useCase: $0, name: "login") }
            #expect(try await post(many, to: server).count == 6)
        }
        let alone = try Collector(folder: folder.url, limits: limits(["login": 0.25]))
        try await CollectorServer.run(alone) { server async throws in #expect(try await post([], to: server) == []) }
    }

    @Test(arguments: [["login": 1.1], ["login": -0.5], ["*": .nan]]) func impossibleRatesAreToldAtTheStart(
        rates: [String: Double]
    ) {
        let error = #expect(throws: WaybillError.self) { try Collector(folder: folder.url, limits: limits(rates)) }
        #expect(error?.code == .setting && error?.message.contains("is not between 0 and 1") == true)
    }
}
#endif
