import StoreConformance
import TestSupport
import Testing
import WaybillCore
import WaybillTesting

@testable import WaybillQueries
@testable import WaybillStore
@testable import WaybillStoreTests

/// Searching a list a little at a time finds, over several short pages, the same as one long search.
@Suite(.timeLimit(.minutes(10))) struct SearchTests {
    /// Breaks when an entry at the border of two stretches is skipped or found twice, in any order, with any filter.
    @Test(arguments: seeds(1_400..<1_412)) func aLittleAtATimeFindsAllOfAList(seed: Int) throws {
        let it = try AnswerTests.Case(seed: seed)
        var maker = FilterMaker(random: it.random, naive: it.naive)
        for _ in 0..<15 {
            let filter = maker.filter()
            let expected = try it.pages(filter, limit: 100)
            for stretch in [1, 3] {
                var found: [GUID] = []
                var cursor: String?
                try eventually("the last page comes") {
                    let page = try it.reader.transactions(
                        matching: filter, limit: 2, after: cursor, now: it.naive.now,
                        budget: SearchBudget(stretch: stretch) { true })
                    found += page.rows.map(\.id)
                    if case .lookedAt(let count, _) = page.progress { #expect(count == stretch) }
                    #expect(
                        (page.progress != nil) == (page.next != nil && page.rows.count < 2) || page.rows.count == 2,
                        "seed \(seed): \(filter)")
                    cursor = page.next
                    return cursor == nil
                }
                #expect(found == expected, "seed \(seed), \(stretch) at a time: \(filter)")
            }
        }
    }

    /// Breaks when a search stops after one stretch although time is left, or continues although none is left.
    @Test func aSearchGoesOnUntilItsBudgetIsOver() throws {
        let (store, place) = try Store.inMemory()
        let app = FactWriter()
        for number in 0..<40 {
            app.close(app.open(GUID(), attributes: number == 5 ? ["marker": "x"] : [:]), .succeeded)
        }
        try store.ingest(app.set())
        let reader = try StoreReader(place)
        let filter = TransactionFilter([.attribute("marker", value: "x")])
        let asked = Locked(0)
        let budget = SearchBudget(stretch: 10) {
            asked.withLock {
                $0 += 1
                return $0 == 3
            }
        }
        let page = try reader.transactions(
            matching: filter, limit: 5, after: nil, now: FactWriter.wall, budget: budget)
        #expect(page.rows.isEmpty)
        // The fortieth from the end is the first that began. Each transaction takes two seconds of its source's time.
        #expect(page.progress == .lookedAt(30, through: .time(FactWriter.wall + 21_000_000)))
        let rest = try reader.transactions(
            matching: filter, limit: 5, after: page.next, now: FactWriter.wall, budget: budget)
        #expect(rest.rows.count == 1)
        #expect(rest.next == nil)
        #expect(rest.progress == nil)
    }

    /// Breaks when finding a stretch in the middle of a list means walking everything beyond it.
    @Test(arguments: TransactionFilter.Order.allCases, [nil, 3]) func aStretchCostsTheSameWhereverItIs(
        order: TransactionFilter.Order, useCase: Int?
    ) throws {
        let (store, place) = try Store.inMemory()
        let app = FactWriter()
        for number in 0..<3_000 {
            let part = app.open(GUID(), useCase: 3, at: number * 10_000)
            app.close(part, .succeeded, at: number * 10_000 + number * 37 % 3_000)
        }
        try store.ingest(app.set())
        let reader = try StoreReader(place)
        var filter = TransactionFilter((useCase.map { [.useCase($0)] } ?? []) + [.event("never")])
        filter.order = order
        var steps: [Int] = []
        var cursor: String?
        try eventually("the last page comes") {
            let before = reader.connection.virtualMachineSteps
            let page = try reader.transactions(
                matching: filter, limit: 5, after: cursor, now: FactWriter.wall,
                budget: SearchBudget(stretch: 100) { true })
            steps.append(reader.connection.virtualMachineSteps - before)
            cursor = page.next
            return cursor == nil
        }
        #expect(steps.count == 31)
        let usual = steps.sorted()[steps.count / 2]
        #expect(steps.allSatisfy { $0 < 3 * usual }, "\(steps)")
    }

    /// Breaks when a support code that someone reads out on the phone is found only after everything newer was
    /// searched.
    @Test func anIDOrASupportCodeIsFoundAtOnceAndThenWhatMentionsIt() throws {
        let (store, place) = try Store.inMemory()
        let app = FactWriter()
        let wanted = GUID()
        app.close(app.open(wanted), .failed)
        for _ in 0..<9 { app.close(app.open(GUID()), .succeeded) }
        let mention = GUID()
        app.close(app.open(mention, attributes: ["of": .string(wanted.supportCode.description)]), .succeeded)
        try store.ingest(app.set())
        let reader = try StoreReader(place)
        for text in [wanted.description, wanted.supportCode.description, wanted.supportCode.description.lowercased()] {
            var filter = TransactionFilter([.text(text)])
            let budget = SearchBudget(stretch: 1) { true }
            let page = try reader.transactions(
                matching: filter, limit: 5, after: nil, now: FactWriter.wall, budget: budget)
            #expect(page.rows.map(\.id) == [wanted])
            #expect(page.progress == .foundByID)
            var found: [GUID] = []
            var cursor = page.next
            try eventually("the last page comes") {
                guard let next = cursor else { return true }
                let more = try reader.transactions(
                    matching: filter, limit: 5, after: next, now: FactWriter.wall, budget: budget)
                found += more.rows.map(\.id)
                cursor = more.next
                return false
            }
            #expect(found == (text == wanted.description ? [wanted] : [mention, wanted]))
            filter.conditions.append(.outcome([.cancelled]))
            let none = try reader.transactions(
                matching: filter, limit: 5, after: nil, now: FactWriter.wall, budget: budget)
            #expect(none.rows.isEmpty, "The other conditions hold for it, too.")
        }
    }

    /// Breaks when windows of time skip, or find twice, exchanges that sources with differing clocks opened at the
    /// borders of the windows.
    @Test(arguments: seeds(0..<12)) func exchangesAreFoundALittleAtATimeWhateverTheClocksDid(seed: Int) throws {
        var random = RandomNumbers(seed: seed)
        let (store, place) = try Store.inMemory()
        for _ in 0..<12 {
            let writer = FactWriter(
                "app", wall: FactWriter.wall + Int64.random(in: -40...40, using: &random) * 1_000_000)
            if random.oneIn(6) { writer.clocks = [] }
            for at: Int64 in [20, 45] where random.oneIn(2) {
                let shift = Int64.random(in: -50...50, using: &random) * 1_000_000
                writer.clocks.append(
                    ClockAnchor(atMicroseconds: at * 1_000_000, offsetMicroseconds: FactWriter.wall + shift))
            }
            let part = writer.open(GUID(), useCase: random.oneIn(2) ? 1 : 2, at: 0)
            for second in 0..<Int.random(in: 0...40, using: &random) {
                let exchange = Fact.ExchangeOpened(method: random.oneIn(3) ? "POST" : "GET", path: "/\(second % 7)")
                writer.openExchange(
                    exchange, part: random.oneIn(3) ? 0 : part, at: second - (random.oneIn(5) ? second % 2 : 0))
            }
            if random.oneIn(2) { writer.close(part, .failed) }
            try store.ingest(writer.set())
        }
        let reader = try StoreReader(place)
        let filters = [
            ExchangeFilter(), ExchangeFilter([.method(["POST"])]), ExchangeFilter([.text("/3")]),
            ExchangeFilter([.useCase(1), .outcome([.failed])]),
            ExchangeFilter([
                .sinceMicroseconds(FactWriter.wall), .untilMicroseconds(FactWriter.wall + 30_000_000),
            ]),
        ]
        for filter in filters {
            var all: [FactID] = []
            try reader.forEachExchange(matching: filter, now: FactWriter.wall) { all.append($0.id) }
            for stretch in [1, 4, 30] {
                var found: [FactID] = []
                var cursor: String?
                try eventually("the last page comes") {
                    let page = try reader.exchanges(
                        matching: filter, limit: 7, after: cursor, now: FactWriter.wall,
                        budget: SearchBudget(stretch: stretch) { true })
                    found += page.rows.map(\.id)
                    cursor = page.next
                    return cursor == nil
                }
                #expect(found == all.reversed(), "\(stretch) at a time: \(filter)")
            }
        }
    }

    /// Breaks when arithmetic on a made-up cursor overflows an integer.
    @Test(arguments: [
        "9223372036854775807.0.0", "-9223372036854775808.0.0", "4611686018427387904.9223372036854775807.0",
    ])
    func aMadeUpCursorIsRefusedOrLeadsNowhere(cursor: String) throws {
        let (store, place) = try Store.inMemory()
        let writer = FactWriter()
        writer.openExchange(part: writer.open(GUID()))
        try store.ingest(writer.set())
        let reader = try StoreReader(place)
        do throws(WaybillError) {
            let page = try reader.exchanges(matching: ExchangeFilter(), limit: 5, after: cursor, now: FactWriter.wall)
            #expect(page.rows.count <= 1)
        } catch {
            #expect(error.code == .format)
        }
    }

    @Test func whoHasNoBudgetIsToldLess() throws {
        let (store, place) = try Store.inMemory()
        let app = FactWriter()
        app.close(app.open(GUID()), .failed)
        try store.ingest(app.set())
        let filter = TransactionFilter([.outcome([.failed]), .event("sent")])
        let reader = try StoreReader(place)
        #expect(
            try reader.whyEmpty(filter, now: FactWriter.wall, budget: SearchBudget(stretch: 1) { true })
                == "No failed transaction here passes the whole filter.")
        #expect(try reader.whyEmpty(filter, now: FactWriter.wall).contains("does not pass event:sent"))
    }
}
