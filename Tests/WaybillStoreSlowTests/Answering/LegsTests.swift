import StoreConformance
import TestSupport
import Testing
import WaybillCore
import WaybillTesting

@testable import WaybillQueries
@testable import WaybillStore
@testable import WaybillStoreTests

/// Compares the legs of a store's answer with a brute-force search. The exchanges overlap, fail, repeat, or lack an
/// answer or a closing, and their facts are missing, late and repeated.
@Suite(.timeLimit(.minutes(10))) struct LegsTests {
    @Test(arguments: seeds(0..<40)) func legsAreThoseOfBruteForce(seed: Int) throws {
        var network = SimulatedNetwork(seed: seed)
        // The longer stretch puts some exchanges too far apart to say anything about each other.
        let length: Int64 = network.random.oneIn(2) ? 3_000_000 : 3_000_000_000
        for _ in 0..<Int.random(in: 1...12, using: &network.random) {
            network.runTransaction(around: Int64.random(in: 0...length, using: &network.random))
        }
        var histories = network.histories()
        for index in histories.indices where network.random.oneIn(3) {
            guard let lost = histories[index].facts.randomElement(using: &network.random)?.sequence else { continue }
            histories[index].dropped = [DroppedRange(first: lost, last: lost, reason: .age)]
        }
        let (store, place) = try Store.inMemory()
        var sets = SetMaker(random: network.random)
        for set in sets.sets(of: histories) { try store.ingest(set) }

        let query = LegsQuestion(filter: TransactionFilter(), segmentation: .appVersion)
        let now: Int64 = 1_700_100_000_000_000
        let answer = try StoreReader(place).answer(query, now: now)
        let naive = NaiveLegs(answers: NaiveAnswers(histories: histories, now: now))
        let runs = naive.answers.begun
        expect(answer.total, isThatOf: runs, naive, seed)
        let groups = Dictionary(grouping: runs) { histories[$0.leader.source].source.appVersion }
        #expect(answer.segments.map(\.value) == groups.keys.sorted())
        for segment in answer.segments { expect(segment, isThatOf: groups[segment.value ?? ""] ?? [], naive, seed) }
    }

    /// Batches let ten million events fit into memory. Exchanges around a batch must still count.
    @Test(arguments: seeds(100..<110)) func itMakesNoDifferenceHowManyAreDividedAtATime(seed: Int) throws {
        var network = SimulatedNetwork(seed: seed)
        for _ in 0..<20 { network.runTransaction(around: Int64.random(in: 0...1_000_000_000, using: &network.random)) }
        let (store, place) = try Store.inMemory()
        for history in network.histories() {
            let share = TransactionSet.Share(source: history.source, clocks: history.clocks, facts: history.facts)
            try store.ingest(TransactionSet(id: GUID(), sources: [share]))
        }
        let reader = try StoreReader(place)
        let query = LegsQuestion(filter: TransactionFilter())
        let context = AnswerContext(reader: reader, now: 0)
        let all = try query.answer(from: context)
        #expect(try query.answer(query.partial(from: context, batchCount: 3)) == all)
        #expect(all.total.uncertainty.count > 0, "nothing depended on others")
    }

    private func expect(_ segment: LegsSegment, isThatOf runs: [NaiveAnswers.Run], _ naive: NaiveLegs, _ seed: Int) {
        let divisions = runs.compactMap(naive.divide)
        #expect(segment.legs.map(\.leg) == Leg.allCases)
        for share in segment.legs {
            let all = divisions.compactMap { $0.legs[share.leg] }
            #expect(share.statistics == .naive(all), "seed \(seed), \(share.leg)")
            #expect(share.totalMicroseconds == all.reduce(0, +), "seed \(seed), \(share.leg)")
        }
        #expect(segment.duration == .naive(divisions.map(\.duration)), "seed \(seed)")
        #expect(
            segment.legs.map(\.totalMicroseconds).reduce(0, +) == divisions.map(\.duration).reduce(0, +), "seed \(seed)"
        )
        #expect(segment.uncertainty == .naive(divisions.flatMap(\.uncertainties)), "seed \(seed)")
        #expect(segment.withoutEnd == runs.count { $0.closing == nil }, "seed \(seed)")
        #expect(segment.withoutExchange == runs.count { $0.closing != nil } - divisions.count, "seed \(seed)")
        #expect(segment.withoutServer == divisions.count { $0.legs[.exchange] != nil }, "seed \(seed)")
        #expect(segment.withoutSplit == divisions.count { $0.legs[.network] != nil }, "seed \(seed)")
    }

    /// Logins of 10 s: 1 s until they send, 3 s in transit, 3 s at the server, 3 s after. The server's clock is an hour
    /// ahead.
    @Test func requestsAndResponsesAreToldApartAsSoonAsThreeOthersTellOfTheClocks() throws {
        // 1 s in one direction, 2 s in the other.
        let three = try total(of: logins([1, 2, 1]))
        #expect(seconds(three) == [.clientBefore: 3, .server: 9, .network: 9, .clientAfter: 9])
        #expect(three.withoutSplit == 3)
        #expect(three.uncertainty.count == 0)

        let four = try total(of: logins([1, 2, 1, 2]))
        #expect(seconds(four) == [.clientBefore: 4, .request: 6, .server: 12, .response: 6, .clientAfter: 12])
        #expect(four.withoutSplit == 0)
        #expect(four.uncertainty.count == 4)
    }

    /// Otherwise the answer would claim that the server took none of the time.
    @Test func anExchangeWithoutAServersPartIsALegOfItsOwn() throws {
        let client = FactWriter("app")
        let part = client.open(GUID(), at: 0)
        for start in [1, 4] {
            let exchange = client.openExchange(part: part, at: start)
            client.closeExchange(Fact.ExchangeClosed(exchange: exchange, state: .completed), part: part, at: start + 2)
        }
        client.close(part, .succeeded, at: 10)
        let total = try total(of: [client])
        #expect(seconds(total) == [.clientBefore: 1, .exchange: 4, .clientBetween: 1, .clientAfter: 4])
        #expect(total.withoutServer == 1)
    }

    /// The client asks the server twice at once. The time of both requests at the server is the server's, and only the
    /// remainder is the network's.
    @Test func whereExchangesOverlapAMomentCountsOnce() throws {
        let (client, server) = (FactWriter("app"), FactWriter("server"))
        let login = GUID()
        let part = client.open(login, at: 0)
        let first = client.openExchange(part: part, at: 1)
        let second = client.openExchange(part: part, at: 2)
        for (exchange, span) in [(first, 2...6), (second, 3...7)] {
            let joined = server.open(
                login, joined: true, cause: FactID(source: client.id, sequence: exchange), at: span.lowerBound)
            server.close(joined, .succeeded, at: span.upperBound)
        }
        client.closeExchange(Fact.ExchangeClosed(exchange: first, state: .completed), part: part, at: 7)
        client.closeExchange(Fact.ExchangeClosed(exchange: second, state: .completed), part: part, at: 8)
        client.close(part, .succeeded, at: 8)
        let total = try total(of: [client, server])
        #expect(seconds(total) == [.clientBefore: 1, .network: 2, .server: 5, .clientAfter: 0])
    }

    private func logins(_ requestSeconds: [Int]) -> [FactWriter] {
        let (client, server) = (FactWriter("app"), FactWriter("server", wall: FactWriter.wall + 3_600_000_000))
        for (number, away) in requestSeconds.enumerated() {
            let (login, start) = (GUID(), 60 * number)
            let part = client.open(login, at: start)
            let exchange = client.openExchange(part: part, at: start + 1)
            let joined = server.open(
                login, joined: true, cause: FactID(source: client.id, sequence: exchange), at: 5_000 + start + 1 + away
            )
            server.close(joined, .succeeded, at: 5_000 + start + 4 + away)
            client.closeExchange(Fact.ExchangeClosed(exchange: exchange, state: .completed), part: part, at: start + 7)
            client.close(part, .succeeded, at: start + 10)
        }
        return [client, server]
    }

    private func total(of writers: [FactWriter]) throws -> LegsSegment {
        let (store, place) = try Store.inMemory()
        for writer in writers { try store.ingest(writer.set()) }
        let answer = try StoreReader(place).answer(LegsQuestion(filter: TransactionFilter()), now: FactWriter.wall)
        return answer.total
    }

    /// Returns the rounded seconds of each leg that occurs.
    private func seconds(_ segment: LegsSegment) -> [Leg: Int64] {
        segment.legs.filter { $0.statistics.count > 0 }.reduce(into: [:]) {
            $0[$1.leg] = ($1.totalMicroseconds + 500_000) / 1_000_000
        }
    }
}
