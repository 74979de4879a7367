import Testing
import WaybillCore

@testable import WaybillQueries
@testable import WaybillStore

/// Numbers that a set may hold, but whose sum overflows an integer.
@Suite(.timeLimit(.minutes(5))) struct GreatSumsTests {
    /// Breaks when the sets of one client end the process that answers a question about them.
    @Test func aSumIsAtMostTheGreatestNumberOfTheFormat() throws {
        let writer = FactWriter()
        let end = Int(Limits.largestInteger / 1_000_000)
        for _ in 0..<1_100 {
            let part = writer.open(GUID(), at: 0)
            let exchange = writer.openExchange(part: part, at: 0)
            let closed = Fact.ExchangeClosed(
                exchange: exchange, state: .completed, sentByteCount: Limits.largestInteger,
                receivedByteCount: Limits.largestInteger)
            writer.closeExchange(closed, part: part, at: end)
            writer.close(part, .succeeded, at: end)
        }
        let (store, place) = try Store.inMemory()
        try store.ingest(writer.set())
        let reader = try StoreReader(place)
        let group = try #require(try reader.answer(NetworkQuestion(), now: FactWriter.wall).groups.first)
        #expect((group.sentByteCount, group.receivedByteCount) == (Limits.largestInteger, Limits.largestInteger))
        let legs = try reader.answer(LegsQuestion(filter: TransactionFilter()), now: FactWriter.wall).total.legs
        #expect(legs.first { $0.leg == .exchange }?.total ?? .zero >= .seconds(end - 1))
    }

    /// Breaks when a mean wraps around and is shown as a negative duration.
    @Test func aMeanIsExactBeyondWhatAnIntegerHolds() {
        for value in [Limits.largestInteger, -Limits.largestInteger, Limits.largestInteger - 1] {
            var durations = Durations()
            for _ in 0..<3_000 { durations.append(value) }
            #expect(DurationStatistics(&durations).meanMicroseconds == value)
        }
        var pair = [-3, -4] as [Int64]
        #expect(DurationStatistics(&pair).meanMicroseconds == -4, "rounded down")
    }

    /// Breaks when a client whose paths are all different fills the memory of whoever asks, or when the counted paths
    /// depend on the order of arrival.
    @Test func pathsBeyondTheLimitAreOneGroup() throws {
        let limit = NetworkQuestion.groupLimit
        // Uses letters, because digits are taken for IDs.
        let names = (0..<2 * limit + 7).map { number in
            String("\(number)".utf8.map { Character(Unicode.Scalar($0 + 49)) })
        }
        var answers: [NetworkAnswer] = []
        for names in [names, names.reversed()] {
            let writer = FactWriter()
            for name in names {
                let part = writer.open(GUID(), at: 0)
                let exchange = writer.openExchange(
                    Fact.ExchangeOpened(method: "GET", path: "/products/\(name)"), part: part, at: 0)
                writer.closeExchange(
                    Fact.ExchangeClosed(exchange: exchange, state: .completed, status: 200), part: part, at: 1)
                writer.close(part, .succeeded, at: 1)
            }
            let (store, place) = try Store.inMemory()
            try store.ingest(writer.set())
            answers.append(
                try StoreReader(place).answer(NetworkQuestion(sort: .name, exampleCount: 0), now: FactWriter.wall))
        }
        #expect(answers[0].groups.map(\.path) == answers[1].groups.map(\.path))
        #expect(answers[0].groups.count == limit && answers[0].exchanges == names.count)
        #expect(answers[0].other.map(\.count) == [names.count - limit])
        #expect(answers[0].other.map(\.succeeded.count) == [names.count - limit])
        #expect(answers[0].other.map(\.path) == ["(other)"])
    }

    /// A transaction that was chosen at the lowest rate, in a sample of one in a million, represents 10^10 others.
    ///
    /// Breaks when a client that forges IDs which are in each sample ends the process that asks for one.
    @Test func weightsThatNoIntegerHoldsTogetherAreAddedUp() throws {
        let writer = FactWriter()
        for number in 0..<2_000 {
            let inEachSample = GUID(high: UInt64(number), low: 1 << 63)
            let part = writer.open(
                inEachSample, attributes: number < 1_000 ? ["amount": 7] : [:],
                sampling: Fact.Sampling(perMillion: 1, isChosen: true, slowMicroseconds: nil), at: 0)
            writer.close(part, .succeeded, at: Int(Limits.largestInteger / 1_000_000))
        }
        let (store, place) = try Store.inMemory()
        try store.ingest(writer.set())
        let reader = try StoreReader(place)
        _ = try reader.answer(SummaryQuestion(), now: FactWriter.wall)
        let sample = TransactionFilter([.oneIn(1_000_000)])
        let amounts = try reader.answer(MeasureQuestion(filter: sample, attribute: "amount"), now: FactWriter.wall)
            .total
        #expect(amounts.without > 1_000_000_000 && amounts.statistics.count > 1_000_000_000)
        #expect((amounts.statistics.p50, amounts.statistics.p99) == (7, 7))
        #expect(abs((amounts.statistics.mean ?? 0) - 7) < 1e-9)
        var durations = Durations()
        let weight = Weights.one * Weights.one * 1_000_000
        for _ in 0..<100 { durations.append(Limits.largestInteger, weight: weight) }
        let statistics = DurationStatistics(&durations)
        #expect(statistics.count > 0 && statistics.p99Microseconds == Limits.largestInteger)
        var weights = Weights()
        for _ in 0..<100 { weights.add(weight) }
        #expect((weights.weighing?.estimated ?? 0) > 1_000_000)
    }
}
