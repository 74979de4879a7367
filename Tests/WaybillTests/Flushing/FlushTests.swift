import Foundation
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Delivered facts are settled once; the others stay.
@Suite(.timeLimit(.minutes(5))) struct FlushTests {
    let transport = InMemoryTransport()
    let tx: TransactionManager

    init() { tx = TransactionManager.testing(delivery: .transport(transport)) }

    private var sequences: [Int64] {
        transport.transactionSets.flatMap { $0.sources.flatMap { $0.facts.map(\.sequence) } }
    }

    @Test func everythingRecordedIsDeliveredOnce() async {
        tx.perform(Login.self, attributes: ["variant": "B"]) { $0.log(.requestSent) }
        #expect(await tx.flush() == FlushReport(delivered: 3))
        #expect(await tx.flush() == FlushReport())
        #expect(transport.sets.count == 1)
        let share = transport.transactionSets.first?.sources.first
        #expect(share?.facts.map(\.sequence) == [1, 2, 3])
        #expect(share?.names.contains(RecordedName(useCase: 0, event: 1, name: "requestSent")) == true)
        #expect(share?.ledger.recorded == 3)
        #expect(share?.clocks.first?.atMicroseconds == 0)
        #expect(share?.source.installation != nil)
    }

    /// Breaks when an analyst can't tell the staging servers' transactions from the real ones.
    @Test func whatTheOptionsSayOfTheSourceIsDelivered() async {
        let tx = TransactionManager.testing(delivery: .transport(transport)) { options in
            options.app = "shop"
            options.appVersion = "2.1"
            options.sourceAttributes = ["environment": "staging", "token": "s3cret"]
        }
        tx.perform(Login.self) { _ in }
        await tx.flush()
        let source = transport.transactionSets.first?.sources.first?.source
        #expect(source?.app == "shop")
        #expect(source?.appVersion == "2.1")
        #expect(source?.attributes == ["environment": "staging", "token": "[redacted]"])
        #expect(source?.os.isEmpty == false)
    }

    @Test func withoutADeliveryEverythingStaysPending() async {
        let tx = TransactionManager.testing()
        tx.perform(Login.self) { _ in }
        #expect(await tx.flush() == FlushReport(pending: 2))
        tx.delivery = .transport(transport)
        #expect(await tx.flush() == FlushReport(delivered: 2))
    }

    /// The first framework deleted facts that were logged while a POST was in flight.
    @Test func factsRecordedDuringAFlushStayPending() async {
        let login = tx.begin(Login.self)
        transport.answerNext { set in
            login.log(.requestSent)
            return Receipt(set: set.id, acceptedCount: set.factCount)
        }
        #expect(await tx.flush() == FlushReport(delivered: 1, pending: 1))
        #expect(await tx.flush() == FlushReport(delivered: 1))
        #expect(sequences == [1, 2])
    }

    @Test func anExchangeFlushedOpenIsClosedLater() async throws {
        let gate = Gate()
        let arrived = Gate()
        let server = try LoopbackServer { _ in
            arrived.open()
            return .text("late").after(gate)
        }
        let tx = TransactionManager.testing(delivery: .transport(transport))
        let request = URLRequest(url: server.url("/x"))
        let login = tx.begin(Login.self)
        let exchange = Task { try await tx.session.data(for: request, in: login) }
        await arrived.opened()  // the sent facts were recorded before
        await tx.flush()
        gate.open()
        _ = try await exchange.value
        await tx.flush()
        let kinds = transport.transactionSets.map { set in
            set.sources.flatMap {
                $0.facts.map { fact in if case .exchangeClosed = fact.content { "closed" } else { "other" } }
            }
        }
        #expect(kinds == [["other", "other"], ["closed"]])
    }

    @Test func whatCouldNotBeSentIsSentAgainUnderANewSetID() async {
        transport.answerNext { _ in throw WaybillError(.transport, "The line is dead.") }
        tx.perform(Login.self) { _ in }
        #expect(await tx.flush() == FlushReport(pending: 2, error: WaybillError(.transport, "The line is dead.")))
        #expect(tx.health.problems == [WaybillError(.transport, "The line is dead.")])
        #expect(await tx.flush() == FlushReport(delivered: 2))
        #expect(tx.health.isGood)
        #expect(transport.sets.count == 2)
        #expect(transport.transactionSets[0].id != transport.transactionSets[1].id)
        #expect(transport.transactionSets[0].sources[0].facts == transport.transactionSets[1].sources[0].facts)
    }

    @Test func aRejectedFactIsQuarantinedAndBlocksNothing() async throws {
        tx.perform(Login.self) { $0.log(.requestSent) }
        transport.answerNext { set in
            let source = set.decoded.sources[0].source.id
            return Receipt(
                set: set.id, acceptedCount: 2,
                rejections: [Receipt.Rejection(source: source, sequence: 2, index: 1, reason: "too odd")])
        }
        #expect(await tx.flush() == FlushReport(delivered: 2, rejected: 1))
        tx.perform(Login.self) { _ in }
        #expect(await tx.flush() == FlushReport(delivered: 2))
        let ledger = try #require(transport.transactionSets.last).sources[0].ledger
        #expect(ledger.quarantined == 1)
        #expect(ledger.isBalanced)
    }

    @Test func manyFactsGoInSeveralSetsInOrder() async {
        let login = tx.begin(Login.self)
        for _ in 0..<5_000 { login.log(.initiated) }
        #expect(await tx.flush() == FlushReport(delivered: 5_001))
        #expect(transport.sets.count == 3)
        #expect(sequences == Array(1...5_001))
    }

    /// Breaks when a deadline that stands for none crashes the app, or is over at once.
    @Test(arguments: [Duration.seconds(Int64.max), .seconds(Int64.max) * 2])
    func aFlushCanHaveTheLongestDeadline(deadline: Duration) async {
        tx.perform(Login.self) { _ in }
        let report = await tx.flush(deadline: deadline)
        #expect(report.delivered == 2 && report.error == nil)
        #expect(deadline.microseconds == Duration.seconds(Int64.max).microseconds)
    }

    @Test func aFlushWithADeadlineReturnsAlthoughTheTransportHangs() async {
        struct Hanging: FlushTransport {
            func send(_ set: OutgoingSet) async throws -> Receipt {
                await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
                throw CancellationError()
            }
        }
        let tx = TransactionManager.testing(delivery: .transport(Hanging()))
        tx.perform(Login.self) { _ in }
        let report = await tx.flush(deadline: .milliseconds(20))
        #expect(report.delivered == 0)
        #expect(report.pending == 2)
        #expect(report.error?.code == .transport)
    }

    @Test func runDeliversAndFlushesOnceMoreWhenItIsCancelled() async {
        tx.perform(Login.self) { _ in }
        let delivered = Gate()
        transport.answerNext { set in
            delivered.open()
            return Receipt(set: set.id, acceptedCount: set.factCount)
        }
        let running = Task { await tx.deliver(every: .seconds(3_600)) }
        await delivered.opened()
        tx.perform(Login.self) { _ in }
        running.cancel()
        await running.value
        #expect(sequences == [1, 2, 3, 4])
    }

    /// Breaks when delivery waits for an actor that is blocked by a command-line tool's `accept()` or a game's loop.
    @MainActor @Test(.timeLimit(.minutes(2))) func deliveryThatWasStartedNeedsNoMainActor() {
        tx.perform(Login.self) { _ in }
        let delivered = DispatchSemaphore(value: 0)
        transport.answerNext { set in
            delivered.signal()
            return Receipt(set: set.id, acceptedCount: set.factCount)
        }
        tx.startDelivery(every: .seconds(3_600))
        #expect(delivered.wait(timeout: .now() + 60) == .success)
        tx.stopDelivery()
    }

    /// Breaks when a second call doubles the requests to the collector, or leaves turns behind that never end: they
    /// would keep the events from ending.
    @Test(.timeLimit(.minutes(2))) func deliveryThatWasStartedTwiceEndsWithItsManagerAfterALastFlush() async {
        let events: AsyncStream<Delivery.Event>
        do {
            let tx = TransactionManager.testing(delivery: .transport(transport))
            events = tx.deliveryEvents
            tx.perform(Login.self) { _ in }
            for _ in 1...2 { tx.startDelivery(every: .seconds(3_600)) }
            tx.perform(Login.self) { _ in }
        }
        for await _ in events {}
        #expect(sequences == [1, 2, 3, 4])
    }

    @Test(.timeLimit(.minutes(2))) func deliveryThatWasStoppedFlushesOnceMoreAndCanBeStartedAgain() async {
        for round in 1...2 {
            tx.startDelivery(every: .seconds(3_600))
            tx.perform(Login.self) { _ in }
            let events = tx.deliveryEvents
            tx.stopDelivery()
            for await event in events {
                guard case .ended = event, sequences.count == 2 * round else { continue }
                break
            }
        }
        #expect(sequences == [1, 2, 3, 4])
    }

    /// Breaks when new facts don't wake turns that rest because everything was delivered: in the resting manager, or
    /// after a reset of its installation. The next scheduled turn would be an hour away.
    @Test(.timeLimit(.minutes(2))) func whatIsRecordedWhileDeliveryRestsIsDeliveredSoon() async throws {
        let tx = TransactionManager(store: .inMemory, delivery: .transport(transport))
        var delivered = 0
        tx.startDelivery(every: .milliseconds(100))
        for round in 1...4 {
            if round == 3 { try await tx.resetInstallation() }
            let events = tx.deliveryEvents
            tx.perform(Login.self) { _ in }
            var isDelivered = false
            for await event in events {
                if case .settled(_, let count, _) = event { delivered += count }
                isDelivered = isDelivered || delivered == 2 * round
                // This turn finds nothing more. After it, no turn follows until a fact is recorded.
                if isDelivered, case .ended(FlushReport()) = event { break }
            }
            #expect(delivered == 2 * round)
        }
    }

    @Test func callersWithoutAsyncGetTheReportToo() async {
        tx.perform(Login.self) { _ in }
        let report = await withCheckedContinuation { continuation in tx.flush { continuation.resume(returning: $0) } }
        #expect(report == FlushReport(delivered: 2))
        let empty = await withCheckedContinuation { continuation in
            tx.flush(deadline: .seconds(60)) { continuation.resume(returning: $0) }
        }
        #expect(empty == FlushReport())
    }

    /// Breaks when an operator never learns that the app was killed in the middle of a login.
    @Test func theNextLaunchDeliversWhatADeadProcessLeftAndThatItDied() async throws {
        let folder = try TemporaryDirectory()
        let (output, _) = try ChildProcess("TestProcess", ["die", folder.url.path()]).finish()
        let id = try #require(GUID(output.trimmingCharacters(in: .whitespacesAndNewlines)))
        let next = TransactionManager(store: .directory(folder.url), delivery: .transport(transport))
        #expect(await next.flush() == FlushReport(delivered: 2))
        let share = try #require(transport.transactionSets.first?.sources.first)
        #expect(share.hasEnded)
        guard case .opened(let opened) = share.facts[0].content else {
            return #expect(Bool(false), "the opening goes first")
        }
        #expect(opened.transaction == id)
    }
}
