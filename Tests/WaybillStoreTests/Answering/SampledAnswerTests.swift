import TestSupport
import Testing
import WaybillAnalysis
import WaybillCore

@testable import WaybillReading
@testable import WaybillStore

/// What a collector says of transactions of which it got a share, beside what the device says that has them all.
@Suite(.timeLimit(.minutes(5))) struct SampledAnswerTests {
    /// Breaks when a dashboard shows ten times fewer logins than there were, or ten times too many failures, or
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
        // A fifth takes up to one second, and four fifths up to four.
        #expect((2...4).contains((summary.duration.p50 ?? .zero) / .seconds(1)))
        #expect(summary.duration.maximum == .seconds(90))
        let exchanges = try StoreReader(collectorPlace).answer(NetworkQuestion(), now: now)
        #expect(exchanges.exchanges == summary.runs && exchanges.weighed?.delivered == there)
        #expect(try StoreReader(devicePlace).answer(NetworkQuestion(), now: now).exchanges == 2_000)
    }
}
