#if Collector
import Foundation
import TestSupport
import Testing
import Waybill
@testable import WaybillCollector
import WaybillCore
@testable import WaybillQueries
import WaybillTesting

/// A manager and a collector over a real socket when answers are lost.
@Suite(.timeLimit(.minutes(5))) struct DeliveryTests {
    private enum Login: Int, UseCase {
        static let code = 0
        case requestSent = 1
    }

    /// Posts to the collector and loses the answers to the first sets.
    private final class LossyTransport: FlushTransport {
        private let inner: URLSessionTransport
        private let lossesLeft: Locked<Int>
        let receipts = Locked<[Receipt]>([])

        init(_ collector: URL, losing losses: Int) {
            inner = URLSessionTransport(collector: collector)
            lossesLeft = Locked(losses)
        }

        func send(_ set: OutgoingSet) async throws -> Receipt {
            let receipt = try await inner.send(set)
            receipts.withLock { $0.append(receipt) }
            let isLost = lossesLeft.withLock { left in
                left -= 1
                return left >= 0
            }
            if isLost { throw WaybillError(.transport, "The answer was lost.") }
            return receipt
        }
    }

    /// Breaks when a lost answer doubles every event of a set, as it did in the first framework.
    @Test func anAnswerLostAfterTheCommitDoublesNothingAndLosesNothing() async throws {
        let folder = try TemporaryDirectory()
        try await CollectorServer.run(try Collector(folder: folder.url)) { server async throws in
            let transport = LossyTransport(try #require(URL(string: "http://127.0.0.1:\(server.port)")), losing: 1)
            let tx = TransactionManager.testing(delivery: .transport(transport))
            tx.perform(Login.self) { $0.log(.requestSent) }
            #expect(
                await tx.flush() == FlushReport(pending: 3, error: WaybillError(.transport, "The answer was lost.")))
            tx.perform(Login.self) { $0.log(.requestSent) }
            #expect(await tx.flush() == FlushReport(delivered: 6))

            let receipts = transport.receipts.withLock { $0 }
            #expect(receipts.map(\.acceptedCount) == [3, 3])
            #expect(receipts.map(\.knownCount) == [0, 3], "what had arrived is known, under another set ID")
            let page: RecordPage<TransactionSummary> = try await server.value("/v1/transactions")
            #expect(page.rows.map(\.eventCount) == [1, 1])
            let sources = try await server.value("/v1/sources", as: RecordPage<SourceRecord>.self).rows
            #expect(sources.map(\.ledger.delivered) == [6])
            #expect(sources.map(\.gaps) == [[]])
        }
    }
}
#endif
