import TestSupport
import Testing
import WaybillCore
import WaybillQueries
import WaybillTesting

@testable import WaybillExport

@Suite(.timeLimit(.minutes(5))) struct ExchangeTimingTests {
    @Test func phasesAreWhatLiesBetweenTheTimesThatWereMeasured() throws {
        let timing = try #require(ExchangeTiming(SampleExchange.record().exchange))
        #expect(timing.phases.map(\.name) == ["lookup", "connect", "TLS", "send", "wait", "receive"])
        #expect(timing.phases.map(\.duration) == [2_000, 8_000, 20_000, 500, 49_500, 20_001])
        #expect(timing.total == 100_001)
    }

    @Test func whatWasNotMeasuredIsInThePhaseThatFollows() throws {
        let bare = SampleExchange.record {
            $0.firstByteMicroseconds = nil
            $0.transfer = Fact.Transfer()
        }
        let timing = try #require(ExchangeTiming(bare.exchange))
        #expect(timing.phases.map(\.name) == ["wait"] && timing.total == 100_001)
        let sent = SampleExchange.record { $0.transfer.phases = Fact.Phases() }
        #expect(ExchangeTiming(sent.exchange)?.send == 30_500)
    }

    @Test func anExchangeInProgressHasNoTiming() {
        #expect(ExchangeTiming(SampleExchange.record(.inProgress) { $0.closedMicroseconds = nil }.exchange) == nil)
    }

    /// Breaks when a phase is negative, or the phases don't add up to the total, whatever a platform's clocks report.
    @Test func phasesAddUpToTheWholeWhateverWasMeasured() throws {
        var random = RandomNumbers(seed: 3)
        func some(_ range: ClosedRange<Int64>) -> Int64? {
            random.oneIn(4) ? nil : Int64.random(in: range, using: &random)
        }
        for _ in 0..<2_000 {
            let opened = SampleExchange.opened
            let closed = opened + Int64.random(in: -5...1_000, using: &random)
            let (first, sent) = (some(-100...1_500), some(-100...1_500))
            let phases = Fact.Phases(
                lookupMicroseconds: some(-10...700), connectMicroseconds: some(-10...700),
                secureMicroseconds: some(-10...700))
            let exchange = SampleExchange.record {
                $0.closedMicroseconds = closed
                $0.firstByteMicroseconds = first.map { $0 + opened }
                $0.transfer.sentAtMicroseconds = sent.map { $0 + opened }
                $0.transfer.phases = phases
            }.exchange
            let timing = try #require(ExchangeTiming(exchange))
            #expect(timing.phases.allSatisfy { $0.duration >= 0 })
            #expect(timing.total == max(0, closed - opened))
        }
    }
}
