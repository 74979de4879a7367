import TestSupport
import Testing
import WaybillCore
import WaybillQueries
import WaybillTesting

@testable import Waybill

/// Two places, and one delivery.
@Suite(.timeLimit(.minutes(5))) struct TeeTransportTests {
    private let first = InMemoryTransport()
    private let second = InMemoryTransport()
    private let tx: TransactionManager

    init() { tx = TransactionManager.testing(delivery: .transport(TeeTransport(first, second))) }

    private func fail(_ transport: InMemoryTransport, times: Int = 1) {
        for _ in 0..<times { transport.answerNext { _ in throw WaybillError(.transport, "Down.") } }
    }

    private static func reject(_ sequences: [Int64], known: Int = 0, in set: TransactionSet) -> Receipt {
        let source = set.sources[0].source.id
        let rejections = sequences.map { Rejection(source: source, sequence: $0, index: Int($0) - 1, reason: "No.") }
        return Receipt(
            set: set.id, acceptedCount: set.factCount - known - rejections.count, knownCount: known,
            rejections: rejections,
            retryAfter: .seconds(sequences.count))
    }

    @Test func bothPlacesGetEverything() async {
        tx.perform(Login.self) { _ in }
        #expect(await tx.flush() == FlushReport(delivered: 2))
        #expect(first.sets == second.sets)
        #expect(first.sets.map(\.factCount) == [2])
    }

    @Test(arguments: [true, false]) func nothingIsSettledWhileOneIsDown(isFirst: Bool) async {
        tx.perform(Login.self) { _ in }
        fail(isFirst ? first : second)
        #expect(await tx.flush() == FlushReport(pending: 2, error: WaybillError(.transport, "Down.")))
        #expect(await tx.flush() == FlushReport(delivered: 2))
        #expect(first.sets.last == second.sets.last)
    }

    /// Broken, an archive that is down for a day has the collector take the same facts a thousand times.
    @Test(arguments: [true, false]) func thePlaceThatIsUpIsSentNothingTwiceWhileTheOtherIsDown(isFirst: Bool) async {
        let (down, up) = isFirst ? (first, second) : (second, first)
        fail(down, times: 10)
        tx.perform(Login.self) { _ in }
        for _ in 0..<10 { #expect(await tx.flush().pending == 2) }
        #expect(down.sets.count == 10)
        #expect(up.sets.count == (isFirst ? 0 : 1))
        #expect(await tx.flush() == FlushReport(delivered: 2))
        #expect(up.sets.count == (isFirst ? 1 : 2))
    }

    @Test func afterOnePlaceTheOtherMayFail() async {
        fail(second)
        tx.perform(Login.self) { _ in }
        #expect(await tx.flush().pending == 2)
        fail(first, times: 5)
        for _ in 0..<5 { #expect(await tx.flush().pending == 2) }
        #expect(second.sets.count == 2, "once for each of the failures of the first that came as news")
        #expect(await tx.flush() == FlushReport(delivered: 2))
    }

    /// Broken, what only one place has is taken for delivered.
    @Test func whatEitherPlaceRejectsGoesIntoQuarantine() async throws {
        tx.perform(Login.self) { $0.log(.requestSent) }
        first.answerNext { Self.reject([1, 2], in: $0) }
        second.answerNext { Self.reject([2, 3], known: 1, in: $0) }
        #expect(await tx.flush() == FlushReport(rejected: 3))
        #expect(try await tx.quarantined().map(\.id.sequence) == [1, 2, 3])
    }

    @Test func theLongerSilenceIsKept() async throws {
        let set = OutgoingSet(try #require(await oneSet()))
        first.answerNext { Self.reject([], known: 2, in: $0) }
        second.answerNext { Self.reject([2], in: $0) }
        let receipt = try await TeeTransport(first, second).send(set)
        #expect(receipt.retryAfter == .seconds(1))
        #expect(receipt.factCount == set.factCount)
        #expect(receipt.knownCount == 1 && receipt.acceptedCount == 0)
    }

    private func oneSet() async -> TransactionSet? {
        tx.perform(Login.self) { _ in }
        await tx.flush()
        return first.sets.first
    }
}

extension OutgoingSet {
    fileprivate init(_ set: TransactionSet) { self.init(id: set.id, body: set.encoded(), factCount: set.factCount) }
}
