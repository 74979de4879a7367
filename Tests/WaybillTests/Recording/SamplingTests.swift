import Foundation
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillTesting

@testable import WaybillStore

/// What an app says about sampling, and what then leaves it.
@Suite(.timeLimit(.minutes(5))) struct SamplingTests {
    private func manager(
        _ transport: InMemoryTransport = InMemoryTransport(), useCases: Set<Int>? = nil,
        _ sampling: (inout Sampling) -> Void
    ) -> TransactionManager {
        var options = TransactionManager.Options()
        (options.useCases, options.diagnostics) = (useCases, { _ in })
        sampling(&options.sampling)
        return .testing(delivery: .transport(transport), correlatedHosts: ["api.example.com"], options: options)
    }

    /// Breaks when an app that samples everything away does not hear of a failure, or sends what went well.
    @Test func whatFailsIsDeliveredAndWhatSucceedsStaysHere() async throws {
        let transport = InMemoryTransport()
        let transactions = manager(transport) { $0.rate(0, for: Login.self) }
        let open = transactions.begin(Login.self)
        transactions.begin(Login.self).finish()
        let failed = transactions.begin(Login.self)
        failed.log(.requestSent)
        failed.finish(.failed, error: 503)
        let purchase = transactions.begin(Purchase.self)
        purchase.finish()
        let report = await transactions.flush()
        #expect(report == FlushReport(delivered: 5, held: 1))
        #expect(report.isComplete)
        let opened = transport.sets.flatMap(\.sources).flatMap(\.facts).compactMap { fact in
            if case .opened(let opened) = fact.content { opened } else { nil }
        }
        #expect(opened.map(\.transaction) == [failed.id, purchase.id])
        #expect(opened.map(\.sampling) == [Fact.Sampling(perMillion: 0, isChosen: false), nil])
        #expect(try transactions.allRecords().count == 4)
        open.finish()
    }

    /// Breaks when a transaction is kept by one side and dropped by the other.
    @Test func clientAndServerChooseTheSameTransactions() async throws {
        let (up, down) = (InMemoryTransport(), InMemoryTransport())
        let client = manager(up) { $0.rate(0.5, for: Login.self) }
        let server = manager(down) { $0.rate(0.5) }
        for _ in 0..<100 {
            let login = client.begin(Login.self)
            let headers = login.headers(for: try #require(URL(string: "https://api.example.com/")))
            server.join(Login.self) { headers[$0] }.finish()
            login.finish()
        }
        await client.flush()
        await server.flush()
        let sent = [up, down].map { transport in
            transport.sets.flatMap(\.sources).flatMap(\.facts).compactMap { fact in
                if case .opened(let opened) = fact.content { opened.transaction } else { nil }
            }
        }
        #expect(sent[0] == sent[1])
        #expect((1..<100).contains(sent[0].count))
    }

    /// Breaks when a checkout is delivered without the payment in it, or the other way round.
    @Test func aChildIsChosenWithItsRoot() async throws {
        let transport = InMemoryTransport()
        let transactions = manager(transport) { $0.rate(0.5) }
        for _ in 0..<100 {
            transactions.perform(Login.self) { _ in
                transactions.perform(Purchase.self) { _ in transactions.perform(Login.self) { _ in } }
            }
        }
        await transactions.flush()
        let opened = transport.sets.flatMap(\.sources).flatMap(\.facts).compactMap { fact in
            if case .opened(let opened) = fact.content { opened } else { nil }
        }
        #expect((3..<300).contains(opened.count) && opened.count.isMultiple(of: 3))
        #expect(opened.count { $0.parent == nil } * 3 == opened.count)
    }

    /// Breaks when an impossible rate drops everything, or is replaced in silence.
    @Test(arguments: [-0.1, 1.1, .nan, .infinity]) func impossibleRatesAreReplacedAndTold(rate: Double) {
        let transactions = manager { $0.rate(rate, for: Login.self) }
        #expect(transactions.health.problems.map(\.code) == [.setting])
        transactions.begin(Login.self).finish()
        #expect(transactions.health.problems.first?.message.contains("not between 0 and 1") == true)
    }
}
