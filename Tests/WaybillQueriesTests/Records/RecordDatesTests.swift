import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillQueries
import WaybillStore

/// Records have `Date` and `Duration` in Swift, and whole microseconds in JSON.
@Suite(.timeLimit(.minutes(5))) struct RecordDatesTests {
    private static let wall: Int64 = 1_760_000_000_123_457

    @Test func aDateIsTheMicrosecondsThatTheRecordHolds() throws {
        var exchange = SampleExchange.record().exchange
        exchange.openedMicroseconds = Self.wall
        exchange.firstByteMicroseconds = Self.wall + 1
        exchange.closedMicroseconds = nil
        exchange.transfer.sentAtMicroseconds = Self.wall + 2
        #expect(exchange.opened.microseconds == Self.wall)
        #expect(exchange.firstByte?.microseconds == Self.wall + 1)
        #expect(exchange.closed == nil)
        #expect(exchange.sent?.microseconds == Self.wall + 2)
        #expect(exchange.opened.formatted(.iso8601) == "2025-10-09T08:53:20Z")
    }

    @Test func aDateOfAFilterIsTheMicrosecondsThatItHolds() {
        var (transactions, exchanges) = (TransactionFilter(), ExchangeFilter())
        #expect(transactions.sinceMicroseconds == nil && transactions.untilMicroseconds == nil)
        #expect(exchanges.sinceMicroseconds == nil && exchanges.untilMicroseconds == nil)
        let (since, until) = (Date(microseconds: Self.wall), Date(microseconds: Self.wall + 1))
        transactions.conditions = [.since(since), .until(until)]
        exchanges.conditions = [.since(since), .until(until)]
        #expect((transactions.sinceMicroseconds, transactions.untilMicroseconds) == (Self.wall, Self.wall + 1))
        #expect((exchanges.sinceMicroseconds, exchanges.untilMicroseconds) == (Self.wall, Self.wall + 1))
        #expect(transactions.conditions == [.sinceMicroseconds(Self.wall), .untilMicroseconds(Self.wall + 1)])
    }

    @Test func aDurationIsTheMicrosecondsThatTheRecordHolds() {
        let offset = ClockAlignment.Offset(
            source: GUID(), microseconds: -1_500_000, uncertaintyMicroseconds: 250, sampleCount: 1)
        #expect(offset.duration == .milliseconds(-1500))
        #expect(offset.uncertainty == .microseconds(250))
    }

    @Test(arguments: [0, 1, -1, 999_999, wall, -wall, 9_007_199_254]) func microsecondsSurviveADate(microseconds: Int64)
    {
        #expect(Date(microseconds: microseconds).microseconds == microseconds)
    }
}
