import Foundation
import Testing
import WaybillCore
import WaybillExport
import WaybillQueries

@Suite(.timeLimit(.minutes(5))) struct WordsTests {
    @Test(arguments: [
        (0, "0 µs"), (850, "850 µs"), (1000, "1.00 ms"), (1234, "1.23 ms"), (12_345, "12.3 ms"), (999_900, "999.9 ms"),
        (1_250_000, "1.25 s"), (59_990_000, "59.99 s"), (200_000_000, "3 min 20 s"), (18_600_000_000, "5 h 10 min"),
        (187_200_000_000, "2 d 4 h"), (-1500, "-1.50 ms"),
    ])
    func durationsHaveThreeFiguresOrTwoUnits(microseconds: Int64, text: String) {
        #expect(Words.duration(microseconds) == text)
    }

    @Test(arguments: [
        (1_772_366_400_250_999, "2026-03-01 12:00:00.250"), (0, "1970-01-01 00:00:00.000"),
        (-1, "1969-12-31 23:59:59.999"),
    ])
    func timesAreCutNotRounded(microseconds: Int64, text: String) {
        #expect(Words.time(microseconds) == text)
    }

    @Test(arguments: [(0, "0 B"), (999, "999 B"), (4210, "4.2 kB"), (1_300_000, "1.3 MB")])
    func sizesHaveOneDecimal(count: Int, text: String) {
        #expect(Words.byteCount(count) == text)
    }

    /// Breaks when a page doesn't say why a transaction is included that the sampling did not choose.
    @Test(arguments: [
        (TransactionOutcome.succeeded, 100_000, true, nil, "10 %, chosen"),
        (.failed, 0, false, nil, "0 %, not chosen: kept, since it failed"),
        (.timedOut, 250, false, nil, "0.025 %, not chosen: kept, since it timed out"),
        (.abandoned, 5_000, false, nil, "0.5 %, not chosen: kept, since it was abandoned"),
        (.interrupted, 999_999, false, nil, "99.9999 %, not chosen: kept, since it was interrupted"),
        (.succeeded, 100_000, false, 5_000_000, "10 %, not chosen: kept, since it took longer than 5.00 s"),
        (.succeeded, 100_000, false, 7_000_000, "10 %, not chosen: dropped, since it succeeded"),
        (.cancelled, 100_000, false, nil, "10 %, not chosen: dropped, since it was cancelled"),
        (.open, 100_000, false, nil, "10 %, not chosen: waits for its end"),
    ])
    func samplingIsSaidWithItsReason(
        outcome: TransactionOutcome, perMillion: Int, isChosen: Bool, slow: Int64?, text: String
    ) {
        var summary = TransactionSummary(
            id: GUID(), useCase: 0, useCaseName: "login", outcome: outcome, begunMicroseconds: 0,
            durationMicroseconds: outcome == .open ? nil : 6_000_000, error: nil, attributes: [:], sourceCount: 1,
            eventCount: 0, exchangeCount: 0, isWaitingForBeginner: false)
        #expect(Words.sampling(of: summary) == nil)
        summary.sampling = Fact.Sampling(perMillion: perMillion, isChosen: isChosen, slowMicroseconds: slow)
        #expect(Words.sampling(of: summary) == text)
    }

    @Test func errorsShowTheirTextOnlyWhereThereIsOne() {
        #expect(Words.error(RecordedError(domain: "LoginError", code: 3)) == "LoginError 3")
        #expect(Words.error(RecordedError(code: 500, text: "overloaded")) == "error 500: overloaded")
    }

    @Test func attributesAreInOrderOfName() {
        #expect(Words.attributes(["wide": true, "attempt": 2, "variant": "B"]) == "attempt=2 variant=B wide=true")
    }
}
