import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillTesting

@testable import Waybill
@testable import WaybillStore

/// Delivery in the seconds that the system grants.
@Suite(.timeLimit(.minutes(5))) struct BackgroundFlushTests {
    /// A transport that has a set and doesn't answer until its task is cancelled.
    private struct SilentTransport: FlushTransport {
        let hasSet = Gate()

        func send(_ set: OutgoingSet) async throws -> Receipt {
            hasSet.open()
            try await Task.sleep(for: .seconds(3_600))
            return Receipt(set: set.id, acceptedCount: set.factCount)
        }
    }

    private let silent = SilentTransport()
    private let tx: TransactionManager

    init() {
        tx = TransactionManager.testing(delivery: .transport(silent))
        tx.perform(Login.self) { $0.log(.requestSent) }
    }

    private func everythingIsFreeToBeSentAgain() async {
        let transport = InMemoryTransport()
        tx.delivery = .transport(transport)
        #expect(await tx.flush() == FlushReport(delivered: 3))
    }

    /// Breaks when the system ends an app because it goes on flushing after its time is up.
    @Test func whenTheSystemSaysThatTimeIsUpTheFlushEnds() async {
        let (hasReturned, silent) = (Gate(), silent)
        let activity = ExpiringActivity { _, body in
            Thread.detachNewThread {
                body(false)
                hasReturned.open()
            }
            Thread.detachNewThread {
                _ = silent.hasSet.wait(within: .seconds(60))
                body(true)
            }
        }
        let report = await tx.flush(deadline: .seconds(3_600), until: FlushEnd(), activity: activity)
        #expect(report.error?.message.contains("did not end in time") == true)
        #expect(report.pending == 3)
        await hasReturned.opened()
        await everythingIsFreeToBeSentAgain()
    }

    /// Breaks when the system suspends the app in the middle of the flush.
    @Test func theSystemLetsTheProcessRunUntilTheFlushHasEnded() async {
        let transport = InMemoryTransport()
        tx.delivery = .transport(transport)
        let hasReturned = Gate()
        let activity = ExpiringActivity { _, body in
            Thread.detachNewThread {
                #expect(transport.sets.isEmpty)
                body(false)
                #expect(transport.sets.count == 1)
                hasReturned.open()
            }
        }
        #expect(
            await tx.flush(deadline: .seconds(60), until: FlushEnd(), activity: activity) == FlushReport(delivered: 3))
        await hasReturned.opened()
    }

    /// Breaks when an app that is refused time at once waits for its report for ever.
    @Test func whereTheSystemSaysNoAtOnceThereIsAReport() async {
        let activity = ExpiringActivity { _, body in Thread.detachNewThread { body(true) } }
        let report = await tx.flush(deadline: .seconds(3_600), until: FlushEnd(), activity: activity)
        #expect(report.error != nil)
        await everythingIsFreeToBeSentAgain()
    }

    /// Breaks when a SwiftUI refresh, which cancels its task when time is up, goes on.
    @Test func whoeverCancelsTheTaskEndsTheFlush() async {
        let task = Task { await tx.flush(deadline: .seconds(3_600)) }
        await silent.hasSet.opened()
        task.cancel()
        #expect(await task.value.pending == 3)
        await everythingIsFreeToBeSentAgain()
    }

    /// Breaks when a refresh goes on after its handler reports that time is up.
    @Test func whatIsReturnedEndsTheFlush() async {
        let report = Locked<FlushReport?>(nil)
        let isTold = Gate()
        let end = tx.flush(deadline: .seconds(3_600)) { given in
            report.withLock { $0 = given }
            isTold.open()
        }
        await silent.hasSet.opened()
        end()
        await isTold.opened()
        #expect(report.withLock { $0 }?.pending == 3)
        await everythingIsFreeToBeSentAgain()
    }
}
