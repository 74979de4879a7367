import Foundation
import Testing
import WaybillCore
import WaybillQueries

@testable import WaybillExport

/// Child transactions in the waterfall. Breaks when a checkout doesn't show that its payment took the time.
@Suite(.timeLimit(.minutes(5))) struct NestedPictureTests {
    private let begun: Int64 = 1_760_000_000_000_000
    private var record: TransactionRecord

    init() {
        var run = Run(begun: begun, name: "checkout")
        run.exchange("GET", "/cart", 200, from: 100, to: 300)
        run.exchange("GET", "/receipt", 200, from: 700, to: 800)
        run.close("failed", at: 1_000)
        record = run.record
    }

    private func child(
        _ name: String, of parent: GUID, at time: Int64, took: Int64?, _ outcome: TransactionOutcome = .succeeded,
        in part: FactID? = nil
    ) -> TransactionSummary {
        TransactionSummary(
            id: GUID(), useCase: 1, useCaseName: name, outcome: outcome, begunMicroseconds: begun + time,
            durationMicroseconds: took, error: nil, attributes: [:], sourceCount: 1, eventCount: 0, exchangeCount: 0,
            isWaitingForBeginner: false, parent: parent, parentPart: part)
    }

    @Test mutating func childrenStandWhereTheyWereBegun() {
        let payment = child("payment", of: record.summary.id, at: 400, took: 200, .failed, in: record.parts[0].id)
        let retry = child("retry", of: payment.id, at: 500, took: 50)
        let sync = child("sync", of: record.summary.id, at: 900, took: nil, .open)
        record.family = .init(above: [], below: [payment, retry, sync])
        let waterfall = Waterfall(ShownRecord(record))
        #expect(waterfall.bars.map(\.label) == ["shop", "GET /cart", "payment", "retry", "GET /receipt", "sync"])
        #expect(waterfall.bars.map(\.depth) == [0, 1, 1, 2, 1, 1])
        #expect(waterfall.bars.map(\.kind) == [.part, .exchange, .child, .child, .exchange, .child])
        #expect(waterfall.bars[2].hasFailed && waterfall.bars[5].isOpen)
        let html = TransactionSection(record, timeZone: .gmt, address: { "?at=\($0)" }).content.text
        #expect(html.contains("<a href=\"\(payment.id)\">payment</a>"))
    }

    /// Breaks when an hour-long child leaves one pixel for the checkout that began it.
    @Test mutating func whatGoesOnLongAfterDoesNotPressTheRestIntoACorner() {
        record.family = .init(
            above: [], below: [child("sync", of: record.summary.id, at: 900, took: 3_600_000_000)])
        let waterfall = Waterfall(ShownRecord(record))
        #expect(waterfall.span == begun...begun + 2_000)
    }

    /// A third-party collector may send any parent links.
    @Test mutating func aCircleIsDrawnOnce() {
        var one = child("one", of: record.summary.id, at: 1, took: 1)
        let two = child("two", of: one.id, at: 2, took: 1)
        one.parent = record.summary.id
        var again = one
        again.parent = two.id
        var itself = child("itself", of: record.summary.id, at: 3, took: 1)
        itself.id = record.summary.id
        record.family = .init(above: [], below: [one, two, again, itself])
        #expect(
            Waterfall(ShownRecord(record)).bars.filter { $0.kind == .child }.count
                == 2)
    }

    @Test mutating func aChildSaysWhatItIsBelow() {
        let stranger = GUID()
        record.summary.parent = stranger
        let unknown = TransactionSection(record, timeZone: .gmt).content.text
        #expect(unknown.contains("Below <code>\(stranger)</code>, which is not known here"))
        var top = child("order", of: GUID(), at: 0, took: 1)
        top.parent = nil
        record.summary.parent = top.id
        record.family = .init(above: [top], below: [], isCut: true)
        let known = TransactionSection(record, timeZone: .gmt, address: { "?at=\($0)" }).content.text
        let link = "<a href=\"\(top.id)\">order</a> <code>\(top.id.supportCode)</code> succeeded"
        #expect(known.contains("<p>Below › \(link)"))
        #expect(known.contains("More transactions are above or below it than are shown."))
    }
}
