import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillStore
import WaybillTesting

@testable import Waybill

/// Pauses after failures: who keeps them, which clock they use, and when they end.
@Suite(.timeLimit(.minutes(5))) struct PauseTests {
    private let folder: TemporaryDirectory
    private let transport = InMemoryTransport()

    init() throws { folder = try TemporaryDirectory() }

    /// Launches the app.
    private func launch(_ clock: ManualClock) -> TransactionManager {
        TransactionManager(store: .directory(folder.url), delivery: .transport(transport)) { options in
            options.clock = clock
            options.diagnostics = { _ in }
        }
    }

    private func failNext(retryAfter time: Duration? = nil) {
        transport.answerNext { _ in
            throw Delivery.Failure.retry(WaybillError(.transport, "Down."), after: time)
        }
    }

    // MARK: While the process lives

    /// Breaks when a blocked host costs battery: every turn of the loop makes a set and a request.
    @Test func whileAPauseLastsNothingIsLeasedOrSent() async throws {
        let clock = ManualClock()
        let tx = TransactionManager.testing(clock: clock, delivery: .transport(transport))
        tx.perform(Login.self) { _ in }
        failNext(retryAfter: .seconds(1_000))
        await tx.flush()
        let events = tx.deliveryEvents
        for _ in 0..<999 {
            clock.advance(by: .seconds(1))
            await tx.flushIfDue()
        }
        #expect(transport.sets.count == 1)
        clock.advance(by: .seconds(1))
        await tx.flushIfDue()
        #expect(transport.sets.count == 2)
        var first = events.makeAsyncIterator()
        #expect(
            await first.next() == .settled(set: transport.transactionSets[1].id, delivered: 2, quarantined: 0),
            "nothing happened before")
    }

    @Test func aFailedTrialOpensTheBreakerAgainForLongerAndASuccessClosesIt() async {
        let clock = ManualClock()
        let tx = TransactionManager.testing(clock: clock, delivery: .transport(transport))
        tx.perform(Login.self) { _ in }
        for count in 1...12 {
            failNext()
            clock.advance(by: Backoff().bound(afterFailures: count - 1))
            await tx.flushIfDue()
            #expect(transport.sets.count == count, "after the bound one set tries")
        }
        clock.advance(by: .seconds(3_600))
        await tx.flushIfDue()
        #expect(tx.health.isGood)
        tx.perform(Login.self) { _ in }
        await tx.flushIfDue()
        #expect(transport.sets.count == 14, "nothing is left of the failures")
    }

    @Test func whoAsksNeedNotWaitForOurPauseButForTheirs() async {
        let clock = ManualClock()
        let tx = TransactionManager.testing(clock: clock, delivery: .transport(transport))
        tx.perform(Login.self) { _ in }
        failNext()
        failNext(retryAfter: .seconds(60))
        await tx.flush()
        #expect(await tx.flush().error?.message == "Down.")
        #expect(await tx.flush().error?.message.contains("left alone for another 60 seconds") == true)
        #expect(transport.sets.count == 2)
        #expect(tx.health.problems.map(\.message) == ["Down."], "what is wrong is not that somebody waits")
        clock.advance(by: .seconds(60))
        #expect(await tx.flush() == FlushReport(delivered: 2))
    }

    @Test func anotherDeliveryDoesNotWaitForTheOneBefore() async {
        let tx = TransactionManager.testing(delivery: .transport(transport))
        tx.perform(Login.self) { _ in }
        failNext(retryAfter: .seconds(60))
        await tx.flush()
        let other = InMemoryTransport()
        tx.delivery = .transport(other)
        await tx.flushIfDue()
        #expect(other.sets.map(\.factCount) == [2])
    }

    /// Breaks when a flush that an app cuts short counts as a failure of the collector.
    @Test func aCancelledFlushIsNoFailure() async {
        let tx = TransactionManager.testing(delivery: .transport(transport))
        tx.perform(Login.self) { _ in }
        transport.answerNext { _ in throw CancellationError() }
        await tx.flush()
        await tx.flushIfDue()
        #expect(transport.sets.count == 2)
    }

    // MARK: Across launches

    @Test func aPauseOutlivesTheProcess() async throws {
        let clock = ManualClock()
        failNext(retryAfter: .seconds(100))
        do {
            let tx = launch(clock)
            tx.perform(Login.self) { _ in }
            await tx.flush()
            try await tx.sync()
        }
        let next = launch(clock)
        clock.advance(by: .seconds(99))
        #expect(await next.flush().error?.message.contains("left alone for another 1 seconds") == true)
        clock.advance(by: .seconds(1))
        #expect(await next.flush() == FlushReport(delivered: 2))
        #expect(transport.sets.count == 2)
    }

    @Test func failuresAreCountedOverLaunches() async throws {
        let clock = ManualClock()
        for count in 1...3 {
            failNext()
            let tx = launch(clock)
            tx.perform(Login.self) { _ in }
            await tx.flush()
            let source = try #require(tx.sources.readableSource)
            let pause = try await source.writer.run { _, store in try store.deliveryPause(by: clock) }
            #expect(pause?.failureCount == count)
            #expect(pause?.wasAskedFor == false)
        }
    }

    /// Breaks when setting the clock back a year silences the app for a year, or setting it forward floods the
    /// collector.
    @Test(arguments: [-400, 400]) func aTurnedClockNeitherEndsNorProlongsAPause(days: Int) async throws {
        let clock = ManualClock()
        failNext(retryAfter: .seconds(100))
        do {
            let tx = launch(clock)
            tx.perform(Login.self) { _ in }
            await tx.flush()
            try await tx.sync()
        }
        clock.adjustWallClock(by: .seconds(days * 86_400))
        let next = launch(clock)
        await next.flushIfDue()
        #expect(transport.sets.count == 1)
        clock.advance(by: .seconds(100))
        await next.flushIfDue()
        #expect(transport.sets.count == 2)
    }

    @Test func anotherProcessOnTheSameStoreKeepsThePauseToo() async throws {
        let clock = ManualClock()
        let (one, two) = (launch(clock), launch(clock))
        one.perform(Login.self) { _ in }
        two.perform(Login.self) { _ in }
        failNext(retryAfter: .seconds(100))
        await one.flush()
        await two.flush()
        #expect(transport.sets.count == 1)
    }

    /// Breaks when a flipped bit in one setting ends delivery for good.
    @Test(arguments: [
        "", "nonsense", "{}", #"{"failures":-1,"until_us":9000000000000000,"asked":true}"#,
        #"{"failures":9223372036854775807,"until_us":-9223372036854775808,"asked":true}"#,
        #"{"failures":0,"until_us":9223372036854775807,"asked":false}"#,
    ])
    func aDamagedPauseIsNone(text: String) async throws {
        let tx = TransactionManager.testing(delivery: .transport(transport))
        tx.perform(Login.self) { _ in }
        try await #require(tx.sources.readableSource).writer.run { _, store in try store.set("delivery_pause", to: text)
        }
        #expect(await tx.flush() == FlushReport(delivered: 2))
    }

    /// Breaks when the next failure overflows the count, at every launch.
    @Test func aCountOfFailuresThatCannotBeGoesOn() async throws {
        let tx = TransactionManager.testing(delivery: .transport(transport))
        tx.perform(Login.self) { _ in }
        try await #require(tx.sources.readableSource).writer.run { _, store in
            try store.set("delivery_pause", to: #"{"failures":9223372036854775807,"until_us":-5,"asked":false}"#)
        }
        failNext()
        _ = await tx.flush()
        #expect(await tx.flush() == FlushReport(delivered: 2))
    }
}
