import Foundation
import Testing
import Waybill
import WaybillCore
import WaybillExport
import WaybillQueries
import WaybillTesting

/// Events that are recorded late, were measured elsewhere, or belong to another transaction. Breaks when they have the
/// time of their recording, or a link leads nowhere.
@Suite(.timeLimit(.minutes(5))) struct PastTests {
    let clock = ManualClock()
    let tx: TransactionManager

    init() { tx = TransactionManager.testing(clock: clock) }

    private func ago(_ seconds: Double) -> Date { clock.date.addingTimeInterval(-seconds) }

    @Test func anEventOfThePastStandsAtItsTime() async throws {
        let login = tx.begin(Login.self)
        clock.advance(by: .seconds(10))
        login.log(.responseReceived)
        #expect(login.log(.requestSent, at: ago(4), attributes: ["attempt": 1]) == .inMemory)
        login.log(.initiated, at: ago(60))
        login.log(named: "cache miss", at: ago(2))
        login.log(.serverStarted, at: ago(-100))
        login.finish()
        let record = try #require(tx.transactions(Login.self).first)
        let begun = record.summary.begunMicroseconds
        let events = record.timeline.filter { $0.kind == .event }
        #expect(
            events.map(\.label) == ["initiated", "requestSent", "cache miss", "responseReceived", "serverStarted"])
        #expect(
            events.map { ($0.timeMicroseconds - begun) / 1_000_000 } == [-50, 6, 8, 10, 10],
            "also before the source started; the future is now")
        #expect(events[1].attributes == ["attempt": 1])
        #expect(tx.health.isGood)

        let filter = try await tx.filter(parsing: "useCase:login")
        let took = try await tx.answer(
            DurationQuestion(filter: filter, from: .event("requestSent"), to: .event("responseReceived")))
        #expect(took.total.statistics.p50 == .seconds(4) && took.total.reversed == 0)
        let transitions = try await tx.answer(TransitionsQuestion(filter: filter))
        #expect(transitions.transitions.allSatisfy { $0.statistics.minimum ?? .zero >= .zero })
    }

    @Test func aDurationMeasuredElsewhereIsKeptWithItsEvent() throws {
        let login = tx.begin(Login.self)
        clock.advance(by: .seconds(10))
        login.record(.requestSent, from: ago(5), to: ago(3), attributes: ["bytes": 7])
        login.record(named: "decode", from: ago(1), to: ago(2), error: Refused())
        let record = try #require(tx.transactions(Login.self).first)
        let events = record.timeline.filter { $0.kind == .event }
        #expect(events.map(\.label) == ["requestSent", "decode"])
        #expect(events.map { $0.attributes["duration_us"] } == [2_000_000, 0])
        #expect(events[0].timeMicroseconds - record.summary.begunMicroseconds == 7_000_000)
        #expect(events[1].error != nil)
    }

    @Test func aTransactionMeasuredElsewhereHasItsTimesAndOutcome() async throws {
        clock.advance(by: .seconds(3))
        let upload = tx.record(Purchase.self, from: ago(30), to: ago(10), attributes: ["bytes": 5])
        upload.log(.paid, at: ago(20))
        tx.record(Purchase.self, from: ago(2), to: ago(1), error: Refused())
        tx.record(Purchase.self, from: ago(2), to: ago(1), outcome: .cancelled)
        tx.record(Purchase.self, from: ago(1), to: ago(2), error: CancellationError())
        let records = try tx.transactions(Purchase.self)
        #expect(records.map(\.summary.outcome) == [.succeeded, .failed, .cancelled, .cancelled])
        #expect(records.map(\.summary.durationMicroseconds) == [20_000_000, 1_000_000, 1_000_000, 0])
        let first = try #require(records.first)
        #expect(first.summary.begunMicroseconds == ago(30).microseconds)
        #expect(first.timeline.map(\.label) == ["begun", "paid", "succeeded"])
        #expect(first.summary.attributes == ["bytes": 5])

        // Through a set, as to a collector.
        let transport = InMemoryTransport()
        tx.delivery = .transport(transport)
        let report = await tx.flush()
        #expect(report.delivered == 9 && report.rejected == 0)
        #expect(TransactionManager.disabled.record(Purchase.self, from: ago(2), to: ago(1)).log(.paid) == .off)
    }

    @Test func aLinkLeadsToTheOtherTransaction() throws {
        let first = tx.begin(Login.self)
        first.finish(error: Refused())
        let second = tx.begin(Login.self)
        second.link(to: first.id, as: "retry of")
        second.link(to: first.id, as: "retry of")
        let elsewhere = GUID()
        second.link(to: elsewhere)
        second.finish()
        let records = try tx.transactions(Login.self).map(\.record)
        #expect(records[0].links.isEmpty)
        #expect(records[1].links.map(\.transaction) == [first.id, elsewhere])
        #expect(records[1].links.map(\.relation) == ["retry of", nil])
        let page = TransactionSection(records[1], timeZone: .gmt, address: { "?at=\($0)" }).content.text
        #expect(page.contains("retry of <a href=\"\(first.id)\"><code>\(first.id.supportCode)</code></a>"))
        let report = String(decoding: TransactionReport(records: records).html, as: UTF8.self)
        #expect(report.contains("<a href=\"#t-\(first.id)\">") && report.contains("id=\"t-\(first.id)\""))
        #expect(report.contains("<code>\(elsewhere)</code>"), "it is not in the report")
    }
}
