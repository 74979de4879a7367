import StoreConformance
import TestSupport
import Testing
import WaybillCore
import WaybillTesting

@testable import WaybillQueries
@testable import WaybillStore
@testable import WaybillStoreTests

/// A filter finds the same transactions as a look at every fact, in the same order, on pages of any size. The histories
/// are late, repeated and out of order.
@Suite(.timeLimit(.minutes(10))) struct FindTests {
    @Test(arguments: seeds(1_000..<1_150)) func aFilterFindsWhatLookingAtEveryFactFinds(seed: Int) throws {
        let it = try AnswerTests.Case(seed: seed)
        var maker = FilterMaker(random: it.random, naive: it.naive)
        for _ in 0..<25 {
            let filter = maker.filter()
            let expected = it.naive.runs.filter { it.naive.passes(filter, $0) }
            let found = try it.pages(filter, limit: 100)
            let keys = Dictionary(
                uniqueKeysWithValues: expected.map { ($0.leader.opened.transaction, it.naive.key(filter.order, $0)) })
            #expect(Set(found) == Set(keys.keys), "seed \(seed): \(filter)")
            #expect(found.count == keys.count, "seed \(seed): \(filter)")
            #expect(found.compactMap { keys[$0] } == keys.values.sorted(), "seed \(seed): \(filter)")
            #expect(
                try it.pages(filter, limit: Int.random(in: 1...3, using: &maker.random)) == found,
                "seed \(seed): \(filter)")
        }
    }

    /// Breaks when an answer or an export ignores a condition of its filter.
    @Test(arguments: seeds(1_200..<1_230)) func answersCountWhatAListFinds(seed: Int) throws {
        let it = try AnswerTests.Case(seed: seed)
        var maker = FilterMaker(random: it.random, naive: it.naive)
        for _ in 0..<10 {
            let filter = maker.filter()
            let answer = try it.ask(SummaryQuestion(filter: filter))
            let expected = it.naive.runs.count { it.naive.passes(filter, $0) } * filter.sampledOneIn
            #expect(answer.useCases.map(\.runs).reduce(0, +) == expected, "seed \(seed): \(filter)")
        }
    }

    /// Breaks when a page repeats a row of an earlier page, or skips a row that existed all the time.
    @Test(arguments: seeds(1_300..<1_360)) func pagesOfAStoreThatIsWrittenToLoseAndDoubleNothing(seed: Int) throws {
        var histories = HistoryMaker(seed: seed)
        let all = histories.histories() + histories.histories()
        let (store, place) = try Store.inMemory()
        var sets = SetMaker(random: histories.random)
        var coming = sets.sets(of: all)
        for set in coming.prefix(coming.count / 2) { try store.ingest(set) }
        coming.removeFirst(coming.count / 2)
        let reader = try StoreReader(place)
        for order in TransactionFilter.Order.allCases {
            var filter = TransactionFilter()
            filter.order = order
            let before = try reader.all(filter)
            var shown: [GUID] = []
            var cursor: String?
            try eventually("the last page comes") {
                let page = try reader.transactions(matching: filter, limit: 1, after: cursor, now: FactWriter.wall)
                shown += page.rows.map(\.id)
                cursor = page.next
                if let set = coming.popLast() { try store.ingest(set) }
                return cursor == nil
            }
            let after = Dictionary(uniqueKeysWithValues: try reader.all(filter).map { ($0.id, $0) })
            for summary in before {
                guard let now = after[summary.id], now.begunMicroseconds == summary.begunMicroseconds,
                    now.durationMicroseconds == summary.durationMicroseconds,
                    now.isWaitingForBeginner == summary.isWaitingForBeginner
                else { continue }
                #expect(shown.count { $0 == summary.id } == 1, "seed \(seed), \(order)")
            }
        }
    }

    @Test func aCursorOfAnotherOrderIsRefused() throws {
        let it = try AnswerTests.Case(seed: 5)
        var filter = TransactionFilter()
        filter.order = .longest
        let next = try #require(
            try it.reader.transactions(matching: filter, limit: 1, after: nil, now: it.naive.now).next)
        #expect(throws: WaybillError.self) {
            try it.reader.transactions(matching: TransactionFilter(), limit: 1, after: next, now: it.naive.now)
        }
    }

    /// Breaks when a page reads more than it shows, or sorts although an index has the order.
    @Test(arguments: TransactionFilter.Order.allCases) func aPageSortsNothing(order: TransactionFilter.Order) throws {
        let (store, place) = try Store.inMemory()
        defer { withExtendedLifetime(store) {} }
        let reader = try StoreReader(place)
        let filters = [
            TransactionFilter(), TransactionFilter([.useCase(3)]),
            TransactionFilter([.event("paid"), .not(.error("401"))]),
        ]
        for var filter in filters {
            filter.order = order
            let query = ListQuery(
                filter, limit: 50, after: ListCursor(order: order, listed: 5, source: 1, sequence: 1), now: 0)
            var plan: [String] = []
            try reader.connection.statement("EXPLAIN QUERY PLAN \(query.sql)").forEachRow(arguments: query.arguments) {
                row in
                plan.append(row.text(3))
            }
            // Open and interrupted transactions without a duration have no index for these orders. Each outcome needs a
            // sort.
            let sorted = order == .newest || order == .oldest ? 0 : 2
            #expect(plan.count { $0.contains("TEMP B-TREE") } == sorted, "\(plan)")
            #expect(!plan.contains { $0.hasPrefix("SCAN p") }, "\(plan)")
            #expect(plan.contains { $0.hasPrefix("SEARCH p USING") && $0.contains("INDEX parts_by_") }, "\(plan)")
        }
    }
}

extension AnswerTests.Case {
    /// Returns the IDs of all pages, one page after the other.
    func pages(_ filter: TransactionFilter, limit: Int) throws -> [GUID] {
        var ids: [GUID] = []
        var cursor: String?
        try eventually("the last page comes") {
            let page = try reader.transactions(matching: filter, limit: limit, after: cursor, now: naive.now)
            ids += page.rows.map(\.id)
            cursor = page.next
            return cursor == nil
        }
        return ids
    }
}
