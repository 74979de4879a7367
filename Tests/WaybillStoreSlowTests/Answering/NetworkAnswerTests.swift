import Foundation
import StoreConformance
import TestSupport
import Testing
import WaybillCore
import WaybillTesting

@testable import WaybillQueries
@testable import WaybillStore
@testable import WaybillStoreTests

/// Compares a store's network answers with brute force, for exchanges that were cut off, repeated, mocked, cancelled,
/// or never closed.
@Suite(.timeLimit(.minutes(10))) struct NetworkAnswerTests {
    struct Case {
        var naive: NaiveAnswers
        var reader: StoreReader
        var random: RandomNumbers

        init(seed: Int) throws {
            var maker = HistoryMaker(seed: seed)
            var histories = maker.histories()
            var mixer = NetworkMixer(random: maker.random)
            histories = mixer.mix(histories)
            let (store, place) = try Store.inMemory()
            var sets = SetMaker(random: mixer.random)
            for set in sets.sets(of: histories) { try store.ingest(set) }
            random = sets.random
            reader = try StoreReader(place)
            let end = histories.flatMap { history in
                history.facts.map { $0.atMicroseconds + history.clocks[0].offsetMicroseconds }
            }.max()
            naive = NaiveAnswers(histories: histories, now: (end ?? 0) + 980_000)
        }

        func ask(_ query: NetworkQuestion) throws -> NetworkAnswer {
            let answer = try reader.answer(query, now: naive.now)
            return answer
        }

        /// Compares the answer with exchanges that were chosen by brute force.
        func check(_ answer: NetworkAnswer, of exchanges: [NaiveExchange], _ query: NetworkQuestion, _ comment: Comment)
        {
            #expect(answer.exchanges == exchanges.count, comment)
            func key(_ exchange: NaiveExchange) -> [String?] {
                [
                    exchange.opened.role.name,
                    exchange.opened.host.map { $0 == "API.example.com" ? "api.example.com" : $0 },
                    query.grouping == .host ? nil : NetworkMixer.paths[exchange.opened.path],
                    query.grouping == .method ? exchange.opened.method : nil,
                ]
            }
            let groups = Dictionary(grouping: exchanges, by: key)
            #expect(
                Set(answer.groups.map { [$0.role.name, $0.host, $0.path, $0.method] }) == Set(groups.keys), comment)
            #expect(answer.groups.map(\.count) == groups.values.map(\.count).sorted(by: >), comment)
            for group in answer.groups {
                check(
                    group, of: groups[[group.role.name, group.host, group.path, group.method]] ?? [],
                    query.exampleCount, comment)
            }
        }

        private func check(_ group: NetworkGroup, of all: [NaiveExchange], _ exampleCount: Int, _ comment: Comment) {
            #expect(group.count == all.count, comment)
            func count(_ range: ClosedRange<Int>) -> Int {
                all.count { $0.closing?.closed.status.map(range.contains) == true }
            }
            #expect(
                group.statuses.successful == count(200...299) && group.statuses.redirection == count(300...399), comment
            )
            #expect(
                group.statuses.clientError == count(400...499) && group.statuses.serverError == count(500...599),
                comment)
            #expect(group.statuses.other == count(0...199) + count(600...999), comment)
            #expect(group.statuses.none == all.count { $0.closing?.closed.status == nil }, comment)
            #expect(group.states == Dictionary(grouping: all, by: \.state).mapValues(\.count), comment)
            var errors: [RecordedError: Int] = [:]
            for case let error? in all.filter({ $0.state == .failed }).map({ $0.closing?.closed.error }) {
                errors[error.group, default: 0] += 1
            }
            var found: [RecordedError: Int] = [:]
            for error in group.errors {
                found[RecordedError(domain: error.domain, code: error.code, name: error.name).group] = error.count
            }
            #expect(found == errors, comment)
            #expect(group.errors.map(\.count) == group.errors.map(\.count).sorted(by: >), comment)
            #expect(
                group.whole == .naive(all.compactMap(\.whole)) && group.failed == .naive(all.compactMap(\.failed))
                    && group.firstByte == .naive(all.compactMap(\.firstByte)), comment)
            #expect(
                group.succeeded == .naive(all.compactMap(\.succeeded))
                    && group.all == .naive(all.compactMap(\.slowness)), comment)
            #expect(
                group.failingCount == all.count(where: \.isFailing)
                    && group.timeoutCount == all.count(where: \.hasTimedOut), comment)
            #expect(group.sentByteCount == all.compactMap { $0.closing?.closed.sentByteCount }.reduce(0, +), comment)
            #expect(
                group.receivedByteCount == all.compactMap { $0.closing?.closed.receivedByteCount }.reduce(0, +), comment
            )
            let slowest = all.filter { $0.slowness != nil }.sorted { left, right in
                (-(left.slowness ?? 0), left.id.source, left.fact.sequence) < (
                    -(right.slowness ?? 0), right.id.source, right.fact.sequence
                )
            }
            #expect(group.slowest == slowest.prefix(exampleCount).map(example), comment)
            let failing = all.filter(\.isFailing).sorted { left, right in
                (-left.wall, left.id.source, left.fact.sequence) < (-right.wall, right.id.source, right.fact.sequence)
            }
            #expect(group.failing == failing.prefix(exampleCount).map(example), comment)
        }

        private func example(_ exchange: NaiveExchange) -> NetworkGroup.Example {
            NetworkGroup.Example(
                id: exchange.id, transaction: exchange.transaction, opened: Date(microseconds: exchange.wall),
                duration: exchange.closing.map { .microseconds($0.fact.atMicroseconds - exchange.fact.atMicroseconds) },
                status: exchange.closing?.closed.status, error: exchange.closing?.closed.error)
        }
    }

    @Test(arguments: seeds(0..<80)) func everyExchangeCountsOnceInItsGroup(seed: Int) throws {
        let it = try Case(seed: seed)
        for grouping in NetworkQuestion.Grouping.allCases {
            let query = NetworkQuestion(grouping: grouping, exampleCount: seed % 4)
            it.check(try it.ask(query), of: it.naive.exchanges, query, "seed \(seed), by \(grouping)")
        }
    }

    @Test(arguments: seeds(100..<180)) func onlyWhatPassesTheFiltersCounts(seed: Int) throws {
        var it = try Case(seed: seed)
        let all = it.naive.exchanges
        var query = NetworkQuestion()
        query.filter = ExchangeFilter([.method(["GET"])])
        it.check(try it.ask(query), of: all.filter { $0.opened.method == "GET" }, query, "seed \(seed), methods")
        query.filter = ExchangeFilter([.status(400...499)])
        it.check(
            try it.ask(query), of: all.filter { (400...499).contains($0.closing?.closed.status ?? 0) }, query,
            "seed \(seed), statuses")
        if let time = all.map(\.wall).randomElement(using: &it.random) {
            query.filter = ExchangeFilter([.sinceMicroseconds(time)])
            it.check(try it.ask(query), of: all.filter { $0.wall >= time }, query, "seed \(seed), since")
            query.filter = ExchangeFilter([.untilMicroseconds(time)])
            it.check(try it.ask(query), of: all.filter { $0.wall < time }, query, "seed \(seed), until")
        }
        let outcome = TransactionOutcome.allCases.randomElement(using: &it.random) ?? .failed
        func exchanges(of runs: [NaiveAnswers.Run]) -> [NaiveExchange] {
            let chosen = Set(runs.map(\.id))
            return all.filter { $0.transaction.map(chosen.contains) == true }
        }
        let ended = it.naive.runs.filter { $0.outcome == outcome }
        query.filter = ExchangeFilter([.outcome([outcome])])
        it.check(try it.ask(query), of: exchanges(of: ended), query, "seed \(seed), outcome")
        query.filter = ExchangeFilter()
        query.transactions = TransactionFilter([.outcome([outcome])])
        let begun = it.naive.begun.filter { $0.outcome == outcome }
        it.check(try it.ask(query), of: exchanges(of: begun), query, "seed \(seed), transactions")
        query.transactions = TransactionFilter()
        it.check(
            try it.ask(query), of: exchanges(of: it.naive.begun), query, "seed \(seed), any transaction that was begun")
        query.transactions?.beginner = .any
        it.check(try it.ask(query), of: all.filter { $0.transaction != nil }, query, "seed \(seed), any transaction")
    }

    @Test func transactionsAreChosenInOnePlace() throws {
        let it = try Case(seed: 1)
        var query = NetworkQuestion(transactions: TransactionFilter())
        query.filter = ExchangeFilter([.useCase(3)])
        #expect { try it.ask(query) } throws: { ($0 as? WaybillError)?.code == .setting }
    }
}
