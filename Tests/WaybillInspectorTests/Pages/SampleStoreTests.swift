import TestSupport
import Testing
import WaybillCore
import WaybillQueries
import WaybillStore

/// The store that people view when they change a page. Breaks when two of them would see different data.
@Suite(.timeLimit(.minutes(5))) struct SampleStoreTests {
    static func sample(seed: Int = 1) throws -> (sample: SampleStore, reader: StoreReader) {
        let place = ResolvedLocation.memory(name: GUID().description)
        var sample = SampleStore(seed: seed)
        // The writer's connection keeps the in-memory store alive until the reader has opened it.
        let keeper = try Store(place)
        try sample.write(to: place)
        let reader = try StoreReader(place)
        withExtendedLifetime(keeper) {}
        return (sample, reader)
    }

    private func summary(_ reader: StoreReader, _ filter: TransactionFilter = TransactionFilter()) throws
        -> [UseCaseSummary]
    {
        try reader.answer(SummaryQuestion(filter: filter), now: LoginHistory.begun).useCases
    }

    @Test func theSameSeedGivesTheSameAnswersAndAnotherSeedOthers() throws {
        let (one, again, other) = (try Self.sample(seed: 7), try Self.sample(seed: 7), try Self.sample(seed: 8))
        #expect(try summary(one.reader) == summary(again.reader))
        #expect(try summary(one.reader) != summary(other.reader))
        #expect(one.sample.manyRequests == again.sample.manyRequests)
    }

    /// These facts show how a page handles special cases.
    @Test func whatIsPlantedIsThere() throws {
        let (sample, reader) = try Self.sample(seed: 1)
        let all = try summary(reader)
        #expect(all.map(\.runs).reduce(0, +) == SampleStore.transactionCount + 2)
        #expect(Set(all.map(\.name)) == ["login", "search", "checkout", "sync", "upload"])
        let outcomes = Set(all.flatMap(\.outcomes.keys))
        #expect(outcomes.isSuperset(of: [.succeeded, .failed, .cancelled, .abandoned, .interrupted, .timedOut]))
        func count(_ error: RecordedError, _ days: Range<Int64>) throws -> Int {
            let start = LoginHistory.begun - Int64(SampleStore.dayCount) * 86_400_000_000
            let filter = TransactionFilter([
                .sinceMicroseconds(start + days.lowerBound * 86_400_000_000),
                .untilMicroseconds(start + days.upperBound * 86_400_000_000),
            ])
            return try summary(reader, filter).flatMap(\.errors).filter { $0.domain == error.domain }.map(\.count)
                .reduce(0, +)
        }
        #expect(try count(SampleStore.newError, 0..<13) == 0 && count(SampleStore.newError, 13..<14) >= 5)
        #expect(try count(SampleStore.stockError, 0..<5) == 0 && count(SampleStore.stockError, 5..<13) >= 20)
        let requests = try #require(try reader.transaction(sample.manyRequests, now: LoginHistory.begun))
        #expect(requests.exchanges.count == 300 && requests.exchanges.contains { $0.status == 500 })
        let events = try #require(try reader.transaction(sample.manyEvents, now: LoginHistory.begun))
        #expect(events.timeline.count { $0.kind == .event } == 400)
    }
}
