import Testing
import WaybillCore
import WaybillTesting

@testable import Waybill

@Suite(.timeLimit(.minutes(5))) struct DeliveryEventTests {
    private let transport = InMemoryTransport()
    private let error = WaybillError(.refused, "No.")

    @Test func everythingThatHappensIsToldInOrder() async {
        let tx = TransactionManager.testing(delivery: .transport(transport))
        let events = tx.deliveryEvents
        tx.perform(Login.self) { $0.log(.requestSent) }
        transport.answerNext { [error] _ in throw Delivery.Failure.sendLess(error) }
        transport.answerNext { set in Receipt(set: set.id, acceptedCount: set.factCount) }
        transport.answerNext { [error] _ in throw Delivery.Failure.retry(error, after: .seconds(5)) }
        await tx.flush()
        tx.delivery = .transport(transport)
        transport.answerNext { set in Receipt(set: set.id, acceptedCount: set.factCount, retryAfter: .seconds(3)) }
        await tx.flush()
        tx.perform(Login.self) { _ in }
        tx.delivery = .transport(transport)
        transport.answerNext { [error] _ in throw Delivery.Failure.waitForNewDelivery(error) }
        await tx.flush()

        let sets = transport.transactionSets.map(\.id)
        let expected: [Delivery.Event] = [
            .limited(factCount: 1), .settled(set: sets[1], delivered: 1, quarantined: 0),
            .failed(error, retryAfter: .seconds(5)),
            .ended(FlushReport(delivered: 1, pending: 2, error: error)),
            .settled(set: sets[3], delivered: 2, quarantined: 0), .paused(.seconds(3)),
            .ended(FlushReport(delivered: 2)),
            .stopped(error), .ended(FlushReport(pending: 2, error: error)),
        ]
        var told: [Delivery.Event] = []
        for await event in events.prefix(expected.count) { told.append(event) }
        #expect(told == expected)
    }

    @Test func eachReaderGetsAllAndTheStreamEndsWithTheManager() async {
        var streams: [AsyncStream<Delivery.Event>] = []
        do {
            let tx = TransactionManager.testing(delivery: .transport(transport))
            streams = [tx.deliveryEvents, tx.deliveryEvents]
            await tx.flush()
        }
        for stream in streams {
            #expect(await stream.reduce(into: []) { $0.append($1) } == [.ended(FlushReport())])
        }
    }

    /// Breaks when a reader that sleeps costs the app its memory.
    @Test func whoDoesNotKeepUpMissesTheOldest() async {
        let events = DeliveryEvents()
        let stream = events.stream()
        for count in 1...150 { events.tell(.limited(factCount: count)) }
        var iterator = stream.makeAsyncIterator()
        #expect(await iterator.next() == .limited(factCount: 51))
    }

    // MARK: canFlush

    /// Breaks when an app that is to deliver only over Wi-Fi costs its user money.
    @Test func whereTheAppSaysNoNothingIsSentWhoeverAsks() async {
        let isAllowed = Locked(false)
        let tx = TransactionManager.testing(delivery: .transport(transport)) { options in
            options.diagnostics = { _ in }
            options.canFlush = { isAllowed.withLock { $0 } }
        }
        let events = tx.deliveryEvents
        tx.perform(Login.self) { _ in }
        #expect(await tx.flush() == FlushReport(pending: 2))
        await tx.flushIfDue()
        #expect(transport.sets.isEmpty)
        #expect(tx.health.isGood, "nothing is wrong")
        var iterator = events.makeAsyncIterator()
        #expect(await iterator.next() == .heldBack)
        isAllowed.withLock { $0 = true }
        #expect(await tx.flush() == FlushReport(delivered: 2))
    }

    @Test func theAppIsAskedBeforeEachSet() async {
        let count = Locked(0)
        let tx = TransactionManager.testing(delivery: .transport(transport)) { options in
            options.diagnostics = { _ in }
            options.canFlush = {
                count.withLock { count in
                    count += 1
                    return count == 1
                }
            }
        }
        let login = tx.begin(Login.self)
        for _ in 0..<3_000 { login.log(.initiated) }
        #expect(await tx.flush() == FlushReport(delivered: 2_000, pending: 1_001))
    }
}
