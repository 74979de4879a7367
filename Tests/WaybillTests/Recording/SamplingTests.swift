import Foundation
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting

@testable import WaybillStore

/// The sampling rates of an app, and the data that it then delivers.
@Suite(.timeLimit(.minutes(5))) struct SamplingTests {
    private func manager(
        _ transport: InMemoryTransport = InMemoryTransport(), useCases: Set<Int>? = nil,
        _ sampling: (inout Sampling) -> Void
    ) -> TransactionManager {
        var options = TransactionManager.Options()
        (options.server.accepting, options.diagnostics) = (.init(codes: useCases), { _ in })
        sampling(&options.sampling)
        return .testing(delivery: .transport(transport), correlatedHosts: ["api.example.com"]) { $0 = options }
    }

    /// Breaks when an app that samples everything away doesn't deliver a failure, or delivers successes.
    @Test func whatFailsIsDeliveredAndWhatSucceedsStaysHere() async throws {
        let transport = InMemoryTransport()
        let transactions = manager(transport) { $0.setRate(0, for: Login.self) }
        let open = transactions.begin(Login.self)
        transactions.begin(Login.self).finish()
        let failed = transactions.begin(Login.self)
        failed.log(.requestSent)
        failed.finish(.failed, code: 503)
        let purchase = transactions.begin(Purchase.self)
        purchase.finish()
        let report = await transactions.flush()
        #expect(report == FlushReport(delivered: 5, held: 1))
        #expect(report.isComplete)
        let opened = transport.transactionSets.flatMap(\.sources).flatMap(\.facts).compactMap { fact in
            if case .opened(let opened) = fact.content { opened } else { nil }
        }
        #expect(opened.map(\.transaction) == [failed.id, purchase.id])
        #expect(opened.map(\.sampling) == [Fact.Sampling(perMillion: 0, isChosen: false), nil])
        #expect(try transactions.allRecords().count == 4)
        open.finish()
    }

    /// Breaks when a flush is complete though the collector still waits for facts: those of an ended source that has
    /// more dropped ranges than one set reports.
    @Test func aFlushIsCompleteWhenTheCollectorKnowsOfAllThatWasSampledAway() async throws {
        let folder = try TemporaryDirectory()
        let transport = InMemoryTransport()
        func launch() -> TransactionManager {
            TransactionManager(
                store: .directory(folder.url), delivery: .transport(transport)
            ) { options in
                options.diagnostics = { _ in }
                options.sampling.setRate(0, for: Login.self)
            }
        }
        do {
            let earlier = launch()
            let purchase = earlier.begin(Purchase.self)
            for _ in 0..<1_500 {
                earlier.begin(Login.self).finish()
                purchase.log(.paid)
            }
            purchase.finish()
            try await earlier.sync()
        }
        let report = await launch().flush()
        #expect(report.isComplete && report.delivered == 1_502)
        let share = try #require(transport.transactionSets.first?.sources.first)
        let shares = transport.transactionSets.flatMap(\.sources).filter { $0.source.id == share.source.id }
        let reported = shares.reduce(SequenceRanges()) {
            $0.union($1.facts.sequences).union(SequenceRanges($1.dropped.lazy.map { $0.first...$0.last }))
        }
        #expect(share.ledger.recorded == 4_502)
        #expect(reported == SequenceRanges([1...4_502]), "\(transport.sets.count) sets")
    }

    /// Breaks when one side keeps a transaction and the other drops it.
    @Test func clientAndServerChooseTheSameTransactions() async throws {
        let (up, down) = (InMemoryTransport(), InMemoryTransport())
        let client = manager(up) { $0.setRate(0.5, for: Login.self) }
        let server = manager(down) { $0.setRate(0.5) }
        for _ in 0..<100 {
            let login = client.begin(Login.self)
            let headers = login.headers(for: try #require(URL(string: "https://api.example.com/")))
            server.join(Login.self) { headers[$0] }.finish()
            login.finish()
        }
        await client.flush()
        await server.flush()
        let sent = [up, down].map { transport in
            transport.transactionSets.flatMap(\.sources).flatMap(\.facts).compactMap { fact in
                if case .opened(let opened) = fact.content { opened.transaction } else { nil }
            }
        }
        #expect(sent[0] == sent[1])
        #expect((1..<100).contains(sent[0].count))
    }

    /// Breaks when a checkout is delivered without its payment, or a payment without its checkout.
    @Test func aChildIsChosenWithItsRoot() async throws {
        let transport = InMemoryTransport()
        let transactions = manager(transport) { $0.setRate(0.5) }
        for _ in 0..<100 {
            transactions.perform(Login.self) { _ in
                transactions.perform(Purchase.self) { _ in transactions.perform(Login.self) { _ in } }
            }
        }
        await transactions.flush()
        let opened = transport.transactionSets.flatMap(\.sources).flatMap(\.facts).compactMap { fact in
            if case .opened(let opened) = fact.content { opened } else { nil }
        }
        #expect((3..<300).contains(opened.count) && opened.count.isMultiple(of: 3))
        #expect(opened.count { $0.parent == nil } * 3 == opened.count)
    }

    private func receipt(_ rates: SamplingRate...) -> @Sendable (OutgoingSet) -> Receipt {
        { Receipt(set: $0.id, acceptedCount: $0.factCount, samplingRates: rates) }
    }

    /// Returns the sampling in the openings of a login and a purchase, after a set got the given answer.
    private func said(
        _ transactions: TransactionManager, _ transport: InMemoryTransport,
        after answer: (@Sendable (OutgoingSet) -> Receipt)? = nil
    ) async throws -> [Fact.Sampling?] {
        if let answer {
            transport.answerNext(answer)
            transactions.begin(Login.self).finish(.failed)
            await transactions.flush()
        }
        let begun = [transactions.begin(Login.self).id, transactions.begin(Purchase.self).id]
        await transactions.flush()
        let opened = transport.transactionSets.flatMap(\.sources).flatMap(\.facts).compactMap { fact in
            if case .opened(let opened) = fact.content { opened } else { nil }
        }
        return begun.map { id in opened.first { $0.transaction == id }?.sampling }
    }

    /// Breaks when a collector's rate is ignored, overrides a more specific rate, changes the limit for slow
    /// transactions, or applies for longer than stated.
    @Test func aCollectorsRatesHoldFromItsReceiptToTheNext() async throws {
        let transport = InMemoryTransport()
        let transactions = manager(transport) {
            $0.acceptsRatesFromCollector = true
            $0.setRate(1, for: Login.self, slowerThan: .seconds(5))
        }
        func rates(_ said: [Fact.Sampling?]) -> [Int?] { said.map { $0?.perMillion } }
        #expect(rates(try await said(transactions, transport)) == [nil, nil])
        // Transactions that are not chosen are delivered anyway, because they are released unfinished.
        let first = try await said(
            transactions, transport, after: receipt(SamplingRate(useCase: 0, perMillion: 250_000)))
        #expect(rates(first) == [250_000, nil])
        #expect(first[0]?.slowMicroseconds == 5_000_000)
        let second = try await said(transactions, transport, after: receipt(SamplingRate(useCase: nil, perMillion: 0)))
        #expect(rates(second) == [nil, 0], "the app has a rate of its own for logins")
        #expect(rates(try await said(transactions, transport, after: receipt())) == [nil, nil])
    }

    /// Breaks when a collector changes rates without the app's permission.
    @Test func withoutTheAppsConsentACollectorHasNoSay() async throws {
        let transport = InMemoryTransport()
        let transactions = manager(transport) { _ in }
        let said = try await said(
            transactions, transport,
            after: receipt(SamplingRate(useCase: nil, perMillion: 0), SamplingRate(useCase: nil, perMillion: -1)))
        #expect(said == [nil, nil])
        #expect(transactions.health.problems == [])
    }

    /// Breaks when an impossible rate is applied, is reported again for each receipt, or invalidates the possible ones.
    @Test func whatACollectorCannotMeanIsToldOnceAndNotTaken() async throws {
        let transport = InMemoryTransport()
        let transactions = manager(transport) { $0.acceptsRatesFromCollector = true }
        let wrong = [
            SamplingRate(useCase: 0, perMillion: 1_000_001), SamplingRate(useCase: 0, perMillion: -1),
            SamplingRate(useCase: 1, perMillion: 500_000),
        ]
        let answer: @Sendable (OutgoingSet) -> Receipt = {
            Receipt(set: $0.id, acceptedCount: $0.factCount, samplingRates: wrong)
        }
        #expect(try await said(transactions, transport, after: answer).map { $0?.perMillion } == [nil, 500_000])
        transport.answerNext(answer)
        transactions.begin(Login.self).finish()
        await transactions.flush()
        #expect(
            transactions.health.problems.map(\.message) == [
                "A sampling rate that the collector handed out for use case 0 is not between 0 and 1; it is not taken."
            ])
        let many = (0...256).map { SamplingRate(useCase: $0, perMillion: 0) }
        transport.answerNext { Receipt(set: $0.id, acceptedCount: $0.factCount, samplingRates: many) }
        transactions.begin(Login.self).finish()
        await transactions.flush()
        #expect(transactions.health.problems.map(\.message).first?.contains("more than 256 sampling rates") == true)
        #expect(try await said(transactions, transport) == [nil, nil])
        #expect(transactions.health.problems == [], "the last receipt says nothing")
    }

    /// Breaks when an impossible rate drops everything, or is replaced without a report.
    @Test(arguments: [-0.1, 1.1, .nan, .infinity]) func impossibleRatesAreReplacedAndTold(rate: Double) {
        let transactions = manager { $0.setRate(rate, for: Login.self) }
        #expect(transactions.health.problems.map(\.code) == [.setting])
        transactions.begin(Login.self).finish()
        #expect(transactions.health.problems.first?.message.contains("not between 0 and 1") == true)
    }
}
