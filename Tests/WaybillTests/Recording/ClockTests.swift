import Foundation
import Testing
import Waybill
import WaybillQueries
import WaybillTesting

/// Durations come from a clock that never goes back; dates follow the wall clock.
@Suite(.timeLimit(.minutes(5))) struct ClockTests {
    let clock = ManualClock()

    @Test func aWallClockThatJumpsBackChangesNoDuration() throws {
        let tx = TransactionManager.testing(clock: clock)
        let login = tx.begin(Login.self)
        clock.advance(by: .seconds(2))
        login.log(.requestSent)
        clock.adjustWallClock(by: .seconds(-86_400))
        clock.advance(by: .seconds(3))
        login.finish()
        #expect(try tx.transactions(Login.self).first?.summary.durationMicroseconds == 5_000_000)
    }

    @Test func aJumpIsFollowedFromTheNextAnchorOn() throws {
        let tx = TransactionManager.testing(clock: clock)
        tx.perform(Login.self) { _ in }
        let first = try #require(tx.transactions(Login.self).last).summary.begunMicroseconds
        clock.adjustWallClock(by: .seconds(3_600))
        _ = try tx.last(Login.self)?.outcome  // a batch is written, and finds that wall and uptime have diverged
        clock.advance(by: .seconds(1))
        tx.perform(Login.self) { _ in }
        let second = try #require(tx.transactions(Login.self).last).summary.begunMicroseconds
        #expect(second - first == 3_601_000_000)
    }

    @Test func anOpenTransactionTimesOutAfterItsUseCasesTimeout() throws {
        let tx = TransactionManager.testing(clock: clock)
        let purchase = tx.begin(Purchase.self)
        clock.advance(by: .seconds(59))
        #expect(try tx.last(Purchase.self)?.outcome == .open)
        purchase.log(.started)
        clock.advance(by: .seconds(59))
        #expect(try tx.last(Purchase.self)?.outcome == .open, "an event counts as life")
        clock.advance(by: .seconds(2))
        #expect(try tx.last(Purchase.self)?.outcome == .timedOut)
        purchase.finish()
        #expect(try tx.last(Purchase.self)?.outcome == .succeeded, "a late end still decides")
    }
}
