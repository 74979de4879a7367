import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting

/// A queue that keeps its messages.
private final class MessageQueue: Sendable {
    let largestMessage: Int
    let isClosed = Locked(false)
    let messages = Locked<[[UInt8]]>([])

    init(largestMessage: Int = 1 << 20) { self.largestMessage = largestMessage }

    func add(_ message: [UInt8], type: String) async throws {
        guard !isClosed.withLock({ $0 }), type == TransactionSet.mediaType else { throw CancellationError() }
        messages.withLock { $0.append(message) }
    }
}

/// The transport of `FlushTransport`'s documentation, word for word.
private struct QueueTransport: FlushTransport {
    let queue: MessageQueue

    func send(_ set: OutgoingSet) async throws -> Receipt {
        guard set.body.count <= queue.largestMessage else {
            throw Delivery.Failure.sendLess(WaybillError(.refused, "The queue takes no such large messages."))
        }
        try await queue.add(set.body, type: set.mediaType)
        return Receipt(set: set.id, acceptedCount: set.factCount)
    }
}

@Suite(.timeLimit(.minutes(5))) struct FlushTransportTests {
    @Test func theTransportOfTheDocumentationConforms() async {
        let queue = MessageQueue()
        let conformance = TransportConformance(
            QueueTransport(queue: queue), arrived: { queue.messages.withLock { $0 } },
            breakDown: { queue.isClosed.withLock { $0 = true } })
        #expect(await conformance.findings() == [])
    }

    @Test func aQueueOfSmallMessagesGetsSmallSets() async {
        let queue = MessageQueue(largestMessage: 4_000)
        let tx = TransactionManager.testing(delivery: .transport(QueueTransport(queue: queue)))
        tx.perform(Login.self) { login in for _ in 0..<98 { login.log(.requestSent) } }
        #expect(await tx.flush() == FlushReport(delivered: 100))
        #expect(queue.messages.withLock { $0.count } > 1)
    }

    @Test func aSetIsOfVersionOneUnlessSaidOtherwise() {
        let set = OutgoingSet(id: GUID(), body: Array("{}".utf8), factCount: 3)
        #expect(set.mediaType == "application/vnd.waybill.transaction-set.v1+json")
    }
}
