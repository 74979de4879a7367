import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillQueries
import WaybillStore
import WaybillTesting

@testable import Waybill

/// Rejected facts are kept, and an app can list them, send them again or export them.
@Suite(.timeLimit(.minutes(5))) struct QuarantineTests {
    private let transport = InMemoryTransport()
    private let tx: TransactionManager

    init() { tx = TransactionManager.testing(delivery: .transport(transport)) }

    /// Records six facts. The collector rejects two of them.
    private func quarantineTwo() async {
        tx.perform(Login.self) { $0.log(.requestSent, attributes: ["variant": "B"]) }
        tx.perform(Login.self) { $0.log(.requestSent) }
        transport.answerNext { set in
            let source = set.decoded.sources[0].source.id
            let rejections = ([2, 4] as [Int64]).map {
                Receipt.Rejection(source: source, sequence: $0, index: Int($0) - 1, reason: "Odd \($0).")
            }
            return Receipt(set: set.id, acceptedCount: set.factCount - 2, rejections: rejections)
        }
        #expect(await tx.flush() == FlushReport(delivered: 4, rejected: 2))
    }

    /// Breaks when a cloned process keeps a source whose sequences are taken: all its facts are rejected.
    @Test func aClonedProcessContinuesUnderANewSource() async throws {
        let old = try #require(tx.sources.readableSource?.id)
        let open = tx.begin(Login.self)
        transport.answerNext { set in
            Receipt(
                set: set.id, acceptedCount: 0,
                rejections: [
                    Receipt.Rejection(source: old, sequence: 1, index: 0, reason: Receipt.Rejection.sequenceIsTaken)
                ])
        }
        #expect(await tx.flush() == FlushReport(rejected: 1))
        #expect(try await tx.quarantined().map(\.id) == [FactID(source: old, sequence: 1)])
        let new = try #require(tx.sources.readableSource?.id)
        #expect(new != old)

        tx.perform(Login.self) { $0.log(.requestSent) }
        open.log(.requestSent)
        open.finish(.succeeded)
        #expect(await tx.flush().delivered == 5, "An open transaction continues in the source that began it.")
        #expect(tx.sources.readableSource?.id == new, "Once is enough.")
    }

    private func ledger() async throws -> Ledger {
        let source = try #require(tx.sources.readableSource)
        return try await source.writer.run { _, store in try #require(try store.ledgers()[source.id]) }
    }

    @Test func whatWasRejectedIsListedWithItsReason() async throws {
        await quarantineTwo()
        let list = try await tx.quarantined()
        #expect(list.map(\.id.sequence) == [2, 4])
        #expect(list.map(\.reason) == ["Odd 2.", "Odd 4."])
        #expect(list[0].rejectedAtMicroseconds == ManualClock().wallMicroseconds())
        #expect(list[0].fact?.content == .event(Fact.Event(code: 1, attributes: ["variant": "B"])))
        guard case .opened = list[1].fact?.content else {
            return #expect(Bool(false), "the second one began a transaction")
        }
        #expect(try await tx.quarantined(limit: 1).map(\.id.sequence) == [2])
    }

    @Test func whereNothingWasRejectedTheListIsEmpty() async throws {
        #expect(try await tx.quarantined().isEmpty)
        #expect(try await tx.resendQuarantined() == 0)
        #expect(try await TransactionManager.disabled.quarantined().isEmpty)
    }

    /// Breaks when facts never arrive after an operator has fixed the collector, or are counted twice.
    @Test func whatWasRejectedIsSentAgainOnRequestAndOnlyThat() async throws {
        await quarantineTwo()
        #expect(try await tx.resendQuarantined() == 2)
        #expect(try await ledger() == Ledger(recorded: 6, delivered: 4, pending: 2))
        #expect(try await tx.quarantined().isEmpty)
        #expect(await tx.flush() == FlushReport(delivered: 2))
        #expect(transport.transactionSets.last?.sources.first?.facts.map(\.sequence) == [2, 4])
        #expect(try await ledger() == Ledger(recorded: 6, delivered: 6))
        #expect(await tx.flush() == FlushReport())
    }

    @Test func someOfItCanBeSentAgainAndBeRejectedAgain() async throws {
        await quarantineTwo()
        let id = try #require(try await tx.quarantined().last?.id)
        #expect(
            try await tx.resendQuarantined([
                id, FactID(source: id.source, sequence: 1), FactID(source: GUID(), sequence: 2),
            ]) == 1)
        #expect(try await ledger() == Ledger(recorded: 6, delivered: 4, quarantined: 1, pending: 1))
        transport.answerNext { set in
            Receipt(
                set: set.id, acceptedCount: 0,
                rejections: [Receipt.Rejection(source: id.source, sequence: 4, index: 0, reason: "Still odd.")])
        }
        #expect(await tx.flush() == FlushReport(rejected: 1))
        #expect(try await tx.quarantined().map(\.reason) == ["Odd 2.", "Still odd."])
        #expect(try await ledger() == Ledger(recorded: 6, delivered: 4, quarantined: 2))
    }

    /// Breaks when an erased fact comes back as damaged, or is sent anyway.
    @Test func whatWasErasedStaysInQuarantineAndIsNotSentAgain() async throws {
        await quarantineTwo()
        try await tx.erase(.all)
        #expect(try await tx.resendQuarantined() == 0)
        #expect(try await tx.quarantined().allSatisfy { $0.fact == nil })
        #expect(try await ledger().isBalanced)
        #expect(await tx.flush().delivered == 0)
    }

    @Test func whatWasRejectedIsExportedAsSetsThatCanBeImported() async throws {
        let folder = try TemporaryDirectory()
        #expect(try await tx.exportQuarantined(to: folder.url) == 0)
        await quarantineTwo()
        #expect(try await tx.exportQuarantined(to: folder.url) == 2)
        let name = try #require(try folder.names().first)
        #expect(name.hasSuffix(".waybill-set.v1.json"))
        let set = try TransactionSet.decode(Array(Data(contentsOf: folder.file(name))))
        #expect(set.sources.map { $0.facts.map(\.sequence) } == [[2, 4]])
        #expect(set.sources.first?.source.id == tx.sources.readableSource?.id)
        let sent = try #require(transport.transactionSets.first?.sources.first)
        #expect(set.sources.first?.sourceProof == sent.sourceProof && sent.sourceProof != nil, "or nobody takes it")
        #expect(set.sources.first?.installationProof == sent.installationProof)
        #expect(try await tx.quarantined().count == 2, "they stay")
    }
}
