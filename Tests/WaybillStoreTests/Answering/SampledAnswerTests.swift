import TestSupport
import Testing
import WaybillCore

@testable import WaybillQueries
@testable import WaybillStore

/// Compares the answers of a collector that received a sample of the transactions with those of the device that has
/// them all.
@Suite(.timeLimit(.minutes(5))) struct SampledAnswerTests {
    /// Breaks when a dashboard shows ten times fewer logins than actually happened, or ten times too many failures, or
    /// when the device's own inspector begins to estimate.
    @Test func theCollectorEstimatesWhatTheDeviceCounts() throws {
        let (device, devicePlace) = try Store.inMemory()
        let (collector, collectorPlace) = try Store.inMemory()
        let app = FactWriter()
        for index in 0..<2_000 {
            let id = GUID()
            let sampling = Fact.Sampling(root: id, perMillion: 100_000, slowMicroseconds: 60_000_000)
            let part = app.open(id, sampling: sampling, at: 100 * index)
            app.openExchange(part: part, at: 100 * index)
            let seconds = index % 1_000 == 7 ? 90 : 1 + index % 5
            app.close(part, index % 10 == 0 ? .failed : .succeeded, at: 100 * index + seconds)
        }
        try app.record(into: device)
        try eventually("everything is delivered") {
            guard let set = try device.lease() else { return true }
            let decoded = try TransactionSet.decode(set.encoded())
            #expect(try collector.ingest(decoded).rejections == [])
            return try !device.settle(set.id, rejections: [], at: 0)
        }
        #expect(try StoreReader(collectorPlace).verify().problems == [])
        let now = FactWriter.wall + 1_000_000_000_000
        let exact = try StoreReader(devicePlace).answer(SummaryQuestion(), now: now)
        let estimated = try StoreReader(collectorPlace).answer(SummaryQuestion(), now: now)
        #expect(exact.weighed == nil && exact.useCases.first?.runs == 2_000)
        let weighed = try #require(estimated.weighed)
        let there = try StoreReader(collectorPlace).all().count
        #expect(weighed.delivered == there && (300..<600).contains(there))
        let summary = try #require(estimated.useCases.first)
        #expect(summary.outcomes[.failed] == 200, "all of them were delivered")
        // Three times the margin: six standard deviations.
        #expect(abs(summary.runs - 2_000) <= 3 * weighed.margin)
        #expect(abs((summary.outcomes[.succeeded] ?? 0) - 1_800) <= 3 * weighed.margin)
        // A fifth of them take up to one second, and four fifths up to four.
        #expect((2...4).contains((summary.duration.p50 ?? .zero) / .seconds(1)))
        #expect(summary.duration.maximum == .seconds(90))
        let exchanges = try StoreReader(collectorPlace).answer(NetworkQuestion(), now: now)
        #expect(exchanges.exchanges == summary.runs && exchanges.weighed?.delivered == there)
        #expect(try StoreReader(devicePlace).answer(NetworkQuestion(), now: now).exchanges == 2_000)
    }

    /// Breaks when an answer from one transaction in ten counts each only once, uses different ones each time, or
    /// claims to be exact; or when the one in a hundred are not among the one in ten.
    @Test func aSampleIsAskedForAndSaysHowFarOffItMayBe() throws {
        let (store, place) = try Store.inMemory()
        let app = FactWriter()
        for index in 0..<4_000 {
            let part = app.open(GUID(), at: 100 * index)
            app.openExchange(part: part, at: 100 * index)
            app.close(part, index % 4 == 0 ? .failed : .succeeded, at: 100 * index + 1 + index % 5)
        }
        try app.record(into: store)
        let now = FactWriter.wall + 1_000_000_000_000
        func filter(_ text: String) throws -> TransactionFilter {
            try FilterExpression(text).filter(names: [], now: now)
        }
        func summary(_ text: String) throws -> SummaryAnswer {
            try StoreReader(place).answer(SummaryQuestion(filter: filter(text)), now: now)
        }
        let answer = try summary("oneIn:10")
        let weighed = try #require(answer.weighed)
        let runs = try #require(answer.useCases.first).runs
        #expect(runs == 10 * weighed.delivered && runs == weighed.estimated)
        // 1.96 times the square root of 400 times 10 times 9 is 372. Three times that is six standard deviations.
        #expect((300..<450).contains(weighed.margin) && abs(runs - 4_000) <= 3 * weighed.margin)
        #expect(abs((answer.useCases.first?.outcomes[.failed] ?? 0) - 1_000) <= 3 * weighed.margin)
        #expect(try summary("oneIn:10") == answer)
        let fewer = try #require(try summary("oneIn:100").weighed)
        #expect(fewer.delivered < weighed.delivered)
        #expect(try summary("oneIn:100 oneIn:10").weighed == fewer, "they are among those")
        #expect(try summary("-oneIn:10").useCases.first?.runs == 4_000 - weighed.delivered)
        #expect(try summary("oneIn:1").weighed == nil)
        let exchanges = try StoreReader(place).answer(
            NetworkQuestion(transactions: filter("oneIn:10")), now: now)
        #expect(exchanges.exchanges == runs && exchanges.weighed == weighed)
        let durations = try StoreReader(place).answer(DurationQuestion(filter: filter("oneIn:10")), now: now)
        #expect(durations.total.statistics.count == runs && durations.weighed == weighed)
    }
}
