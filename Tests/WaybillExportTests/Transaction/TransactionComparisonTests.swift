import Testing
import WaybillCore
import WaybillStore

@testable import WaybillExport
@testable import WaybillQueries

/// Two transactions, fact by fact.
@Suite(.timeLimit(.minutes(5))) struct TransactionComparisonTests {
    private func rows(_ first: Run, _ second: Run) -> [TransactionComparison.Row] {
        TransactionComparison(ShownRecord(first.record), ShownRecord(second.record)).rows
    }

    private func labels(_ rows: [TransactionComparison.Row]) -> [[String?]] {
        rows.map { [$0.first?.entry.label, $0.second?.entry.label] }
    }

    @Test func twoThatWentAlikeHaveNoDifference() {
        var runs = [Run(begun: 0), Run(begun: 5_000_000)]
        for index in runs.indices {
            runs[index].event("shown", at: 100)
            runs[index].exchange("GET", "/orders/\(index + 1)", 200, from: 200, to: 300)
            runs[index].close("succeeded", at: 400)
        }
        let comparison = TransactionComparison(ShownRecord(runs[0].record), ShownRecord(runs[1].record))
        #expect(comparison.rows.count == 5)
        #expect(
            comparison.rows.allSatisfy {
                $0.first != nil && $0.second != nil && $0.differences.isEmpty && $0.laterMicroseconds == 0
            })
        #expect(comparison.differentCount == 0)
    }

    @Test func whatOneHasAloneStandsWhereItCameThere() {
        var (first, second) = (Run(begun: 0), Run(begun: 0))
        for name in ["a", "b", "d"] { first.event(name, at: 10) }
        for name in ["x", "a", "c", "d", "e"] { second.event(name, at: 10) }
        let rows = rows(first, second)
        #expect(
            labels(rows)
                == [["begun", "begun"], [nil, "x"], ["a", "a"], [nil, "c"], ["b", nil], ["d", "d"], [nil, "e"]])
        #expect(
            rows.map(\.differences.first) == [
                nil, "only in the second", nil, "only in the second", "only in the first", nil, "only in the second",
            ])
        #expect(rows.filter { $0.first == nil || $0.second == nil }.allSatisfy { $0.laterMicroseconds == nil })
    }

    @Test func whatComesSeveralTimesBelongsTogetherInItsOrder() {
        var (first, second) = (Run(begun: 0), Run(begun: 0))
        for time: Int64 in [10, 20, 30] { first.event("tried", at: time) }
        for time: Int64 in [15, 40] { second.event("tried", at: time) }
        let rows = rows(first, second).dropFirst()
        #expect(rows.map(\.laterMicroseconds) == [5, 20, nil])
        #expect(rows.last?.differences == ["only in the first"])
    }

    @Test func theOtherOrderIsNoOtherFact() {
        var (first, second) = (Run(begun: 0), Run(begun: 0))
        first.event("a", at: 10)
        first.event("b", at: 20)
        second.event("b", at: 10)
        second.event("a", at: 20)
        let rows = rows(first, second)
        #expect(labels(rows) == [["begun", "begun"], ["a", "a"], ["b", "b"]])
        #expect(rows.map(\.laterMicroseconds) == [0, 10, -10])
    }

    @Test func exchangesAreJoinedByMethodAndPathWithoutIDs() {
        var (first, second) = (Run(begun: 0), Run(begun: 0))
        first.exchange("GET", "/orders/17", 200, from: 10, to: 20)
        first.exchange("PUT", "/orders/17", 200, from: 30, to: 40)
        second.exchange("GET", "/orders/4711?page=2", 503, from: 10, to: 60)
        second.exchange("POST", "/orders/4711", nil, from: 70, to: 80)
        let rows = rows(first, second)
        #expect(rows.count == 7)
        #expect(rows[1].differences.isEmpty, "It was sent in both.")
        #expect(rows[2].differences == ["503 instead of 200"])
        #expect(rows[2].laterMicroseconds == 40)
        #expect(rows[3...4].flatMap(\.differences) == ["only in the second", "only in the second"])
        #expect(rows[5...].flatMap(\.differences) == ["only in the first", "only in the first"])
    }

    @Test func howItEndedIsCompared() {
        var (first, second) = (Run(begun: 0), Run(begun: 0))
        first.close("succeeded", at: 10)
        let error = RecordedError(domain: "LoginError", code: 3)
        second.close("timed_out", at: 10, error: error)
        #expect(rows(first, second)[1].differences == ["timed out instead of succeeded", "with LoginError 3"])
        #expect(rows(second, first)[1].differences == ["succeeded instead of timed out", "without LoginError 3"])
    }

    @Test func everyOtherAttributeIsNamed() {
        var (first, second) = (Run(begun: 0), Run(begun: 0))
        first.event("chosen", at: 1, attributes: ["card": "visa", "count": 2, "same": true])
        second.event("chosen", at: 1, attributes: ["count": 3, "same": true, "wallet": "apple"])
        #expect(
            rows(first, second)[1].differences
                == ["without card=visa", "count=3 instead of 2", "wallet=apple, which the first has not"])
    }

    @Test func whatAJoinedSourceDidIsNotTakenForWhatTheBeginnerDid() {
        var (first, second) = (Run(begun: 0), Run(begun: 0))
        first.event("saved", at: 10)
        first.join(at: 20, offset: nil)
        second.join(at: 20, offset: nil)
        second.event("saved", at: 30, joined: true)
        #expect(
            labels(rows(first, second)) == [
                ["begun", "begun"], ["saved", nil], ["joined", "joined"], [nil, "saved"],
            ])
    }

    @Test func timesCountFromTheOpeningOfEach() {
        var (first, second) = (Run(begun: 1_000_000), Run(begun: 77_000_000))
        first.event("shown", at: 1000)
        second.event("shown", at: 1600)
        for (run, end) in [(0, 10_000), (1, 20_000)] as [(Int, Int64)] {
            if run == 0 { first.close("succeeded", at: end) } else { second.close("succeeded", at: end) }
        }
        let comparison = TransactionComparison(ShownRecord(first.record), ShownRecord(second.record))
        #expect(comparison.rows.map(\.laterMicroseconds) == [0, 600, 10_000])
        #expect(
            comparison.rows.map(comparison.isFarOff) == [false, false, true], "600 µs of 20 ms are nothing to speak of."
        )
        #expect(comparison.differentCount == 1)
    }

    @Test func aDifferenceThatClocksMayMakeUpIsNotFarOff() throws {
        var runs = [Run(begun: 0), Run(begun: 0)]
        for (index, time) in ([300_000_100, 300_000_400] as [Int64]).enumerated() {
            runs[index].join(
                at: time,
                offset: ClockAlignment.Offset(
                    source: GUID(), microseconds: -300_000_000, uncertaintyMicroseconds: 200, sampleCount: 5))
            runs[index].close("succeeded", at: 1000)
        }
        let comparison = TransactionComparison(ShownRecord(runs[0].record), ShownRecord(runs[1].record))
        let row = try #require(comparison.rows.first { $0.first?.entry.label == "joined" })
        #expect(row.first?.time == 100 && row.laterMicroseconds == 300)
        #expect(row.uncertaintyMicroseconds == 400)
        #expect(!comparison.isFarOff(row))
        let raw = TransactionComparison(
            ShownRecord(runs[0].record, clocks: .raw), ShownRecord(runs[1].record, clocks: .raw))
        #expect(raw.rows.first { $0.first?.entry.label == "joined" }?.uncertaintyMicroseconds == 0)
        #expect(raw.rows.last?.first?.time == 300_000_100, "raw, the server's come last")
    }

    @Test func bothPicturesShowAsMuchTime() {
        var (first, second) = (Run(begun: 1_000_000), Run(begun: 50_000_000))
        first.close("succeeded", at: 1000)
        second.close("succeeded", at: 9000)
        var pictures = [first, second].map { Waterfall(ShownRecord($0.record)) }
        pictures[0].widen(to: pictures[1].reach)
        #expect(pictures[0].span == 1_000_000...1_009_000)
        pictures[1].widen(to: pictures[0].reach)
        #expect(pictures[1].span == 50_000_000...50_009_000)
    }
}
