#if ClickHouse
import Foundation
import TestSupport
import Testing
import WaybillQueries
import WaybillCore
import WaybillExport
import WaybillTesting

@testable import WaybillClickHouse

/// Reads that do not load all facts.
@Suite(.timeLimit(.minutes(15)), .enabled(if: ClickHouseEngine.isThere)) struct ReadingTests {
    /// Breaks when a transaction that is read alone, or an answer, lacks ancestors and descendants, the requests of
    /// its clients at the time, which serve to compare clocks, or facts that were stored before their opening.
    @Test(arguments: seeds(0..<2)) func aPartIsReadAsTheWhole(seed: Int) async throws {
        try await readBothWays(ClickHouseEngine.shared.database(), seed: seed)
    }

    /// Breaks when a server of 2018 refuses a statement that finds ranges or single transactions, or when such a
    /// statement misses the facts of a shard.
    @Test(.enabled(if: ClickHouseEngine.isClusterThere)) func aPartIsReadAsTheWholeOnACluster() async throws {
        try await readBothWays(ClickHouseEngine.cluster.database(), seed: 1)
    }

    private func readBothWays(_ address: ClickHouseAddress, seed: Int) async throws {
        var shop = Shop(seed: seed)
        // Members of a family are far apart, and each has other transactions nearby.
        for number in 0..<12 {
            shop.pass(.seconds(700))
            for _ in 0..<4 { shop.buy() }
            shop.buy(below: number % 4 == 0 ? nil : shop.transactions[shop.transactions.count - 5])
        }
        let writer = try await ClickHouseStore(address)
        for set in shop.sets() {
            let receipt = try await writer.add(ReceivedSet(set, received: Date(timeIntervalSince1970: 1_800_000_000)))
            #expect(receipt.rejections.isEmpty)
        }
        #expect(try await writer.tables.strandedParts().isEmpty == false)
        var whole = writer
        var alone = writer
        (whole.factsPerRange, whole.readsAll, alone.factLimit) = (100, true, 0)
        var (comparedClocks, families) = (0, 0)
        for id in shop.transactions {
            let expected = try await whole.transaction("\(id)")
            #expect(try await alone.transaction("\(id)") == expected)
            #expect(try await alone.transaction("\(id.supportCode)") == expected)
            if expected.clocks?.offsets.contains(where: { $0.sampleCount > 3 }) == true { comparedClocks += 1 }
            if let family = expected.family, !family.above.isEmpty, !family.below.isEmpty { families += 1 }
        }
        #expect(comparedClocks > 0 && families > 0)
        for question in [
            AnyQuestion.legs(LegsQuestion(filter: TransactionFilter())), .network(NetworkQuestion()),
            .summary(SummaryQuestion(filter: TransactionFilter())),
            .duration(DurationQuestion(filter: TransactionFilter(), from: .begun, segmentation: .parentOutcome)),
            .why(WhyQuestion(filter: TransactionFilter([.useCase(1), .outcome([.failed])]))),
        ] {
            #expect(try await alone.answer(question, where: []) == whole.answer(question, where: []))
        }
    }

    /// Breaks when a read that needs too many facts says that no server can be reached. It is then done in another way.
    @Test func tooManyFactsAreNoFailureOfTheServers() async throws {
        let store = try await ClickHouseStore(ClickHouseEngine.shared.database())
        let transaction = GUID()
        var recorder = Recorder("shop", GUID())
        let part = recorder.add(.opened(Fact.Opened(transaction: transaction, useCase: 1)))
        for _ in 0..<4 { recorder.add(.event(Fact.Event(code: 1)), part: part) }
        for _ in 0..<4 {
            let request = Fact.ExchangeOpened(method: "GET", scheme: "https", host: "a.example", path: "/b")
            recorder.add(.exchangeOpened(request), part: 0)
        }
        let set = TransactionSet(id: GUID(), sources: [recorder.share(recorder.facts)])
        _ = try await store.add(ReceivedSet(set, received: Date(timeIntervalSince1970: 1_800_000_000)))
        await #expect(throws: WorkingSet.TooMuch.self) {
            var set = WorkingSet(store.tables, factLimit: 3)
            try await set.loadWithFamily([transaction])
        }
        await #expect(throws: WorkingSet.TooMuch.self) {
            _ = try await WorkingSet(store.tables, factLimit: 3) { try await $0.loadOutsideTransactions() }
        }
    }

    /// Breaks when a set is accepted without regard to earlier sets of its part and its installation: a transaction
    /// would end twice or grow without limit, and anybody could send data for an installation.
    @Test func aSetIsJudgedByThoseBefore() async throws {
        let store = try await ClickHouseStore(ClickHouseEngine.shared.database(), factsPerTransaction: 32)
        let (installation, secret) = (GUID(), IdentityProof())
        var recorder = Recorder("shop", GUID(), of: installation)
        func add(_ recorder: Recorder, _ secret: IdentityProof) async throws -> Receipt {
            var share = recorder.share([recorder.facts[recorder.facts.count - 1]])
            share.installationProof = secret
            let set = TransactionSet(id: GUID(), sources: [share])
            return try await store.add(ReceivedSet(set, received: Date(timeIntervalSince1970: 1_800_000_000)))
        }
        let part = recorder.add(.opened(Fact.Opened(transaction: GUID(), useCase: 1)))
        #expect(try await add(recorder, secret).acceptedCount == 1)
        recorder.add(.closed(Fact.Closed(outcome: .succeeded)), part: part)
        #expect(try await add(recorder, secret).acceptedCount == 1)
        recorder.add(.closed(Fact.Closed(outcome: .failed)), part: part)
        #expect(try await add(recorder, secret).rejections.count == 1)
        for _ in 0..<30 {
            recorder.add(.event(Fact.Event(code: 1)), part: part)
            #expect(try await add(recorder, secret).acceptedCount == 1)
        }
        recorder.add(.event(Fact.Event(code: 1)), part: part)
        #expect(
            try await add(recorder, secret).rejections.map(\.reason) == [
                "the transaction has 32 facts, and takes no more"
            ])
        #expect(try await store.tables.strandedParts().isEmpty)

        var other = Recorder("shop", GUID(), of: installation)
        other.add(.opened(Fact.Opened(transaction: GUID(), useCase: 1)))
        #expect(try await add(other, IdentityProof()).refusedSources.map(\.source) == [other.source.id])
        #expect(try await add(other, secret).acceptedCount == 1)
    }

    /// Breaks when a list of the newest transactions omits or repeats one: on the border of two pages, with a clock
    /// that was set after it was stored, or with a clock that is far ahead.
    @Test func theNewestAreListed() async throws {
        let address = try await ClickHouseEngine.shared.database()
        let writer = try await ClickHouseStore(address)
        func expectSame(where filter: String? = nil) async throws {
            var whole = try await ClickHouseStore(address)
            var alone = whole
            (whole.readsAll, alone.factLimit) = (true, 0)
            var (request, rows, isMore) = (ListRequest([.limit: "7"]), [TransactionSummary](), true)
            request[.filter] = filter
            for _ in 0..<100 where isMore {
                let page = try await alone.transactions(request)
                rows += page.rows
                request[.cursor] = page.next
                isMore = page.next != nil
            }
            request[.limit] = "500"
            let expected = try await whole.transactions(request).rows
            #expect(rows == expected)
            #expect(rows.count > 7)
        }
        var shop = Shop(seed: 5)
        for number in 0..<40 {
            shop.pass(.seconds(30))
            shop.buy(below: number % 5 == 4 ? shop.transactions[number - 3] : nil)
        }
        try await writer.add(shop.sets())
        try await expectSame()
        try await expectSame(where: "outcome:failed")
        for (hours, isSet) in [(24 * 30, false), (0, true)] {
            var phone = Recorder("phone", GUID())
            let part = phone.add(.opened(Fact.Opened(transaction: GUID(), useCase: 1)))
            var share = phone.share(phone.facts)
            share.clocks[0].offsetMicroseconds += Int64(hours) * 3_600_000_000
            try await writer.add([TransactionSet(id: GUID(), sources: [share])])
            try await expectSame()
            guard isSet else { continue }
            phone.add(.closed(Fact.Closed(outcome: .failed)), part: part)
            share = phone.share([phone.facts[1]])
            share.clocks[0].offsetMicroseconds += 600_000_000
            try await writer.add([TransactionSet(id: GUID(), sources: [share])])
            try await expectSame()
            try await expectSame(where: "outcome:failed")
        }
    }

    /// Breaks when a process still lists transactions that another process has erased or retired, or erases anything
    /// else.
    @Test func everyProcessSeesAnErasure() async throws {
        let address = try await ClickHouseEngine.shared.database()
        let (writer, reader) = (try await ClickHouseStore(address), try await ClickHouseStore(address))
        var shop = Shop(seed: 4)
        for _ in 0..<12 {
            shop.pass(.seconds(60))
            shop.buy()
        }
        let installation = GUID()
        var phone = LoginHistory().clientSet()
        phone.sources[0].source.installation = installation
        let sets = shop.sets() + [phone]
        for (number, set) in sets.enumerated() {
            let received = Date(timeIntervalSince1970: 1_800_000_000 + Double(number))
            _ = try await writer.add(ReceivedSet(set, received: received))
        }
        func expectSame() async throws {
            for store in [writer, reader] {
                var alone = store
                var whole = try await ClickHouseStore(address)
                (alone.factLimit, whole.readsAll) = (0, true)
                #expect(try await alone.transactions(ListRequest()).rows == whole.transactions(ListRequest()).rows)
                #expect(try await alone.sources(ListRequest()).rows == whole.sources(ListRequest()).rows)
                #expect(try await alone.names() == whole.names())
                #expect(try await alone.verify().problems.isEmpty)
            }
        }
        try await expectSame()
        let command = try await ClickHouseStore(address)
        #expect(try await command.erase(.transactions([shop.transactions[3]])).transactionCount == 1)
        try await expectSame()
        #expect(try await command.names().contains { $0.name == "requestSent" })
        let other = try await ClickHouseStore(address)
        #expect(try await other.erase(.installation(installation)).factCount > 0)
        #expect(try await !command.names().contains { $0.name == "requestSent" }, "nothing is left of its version")
        try await expectSame()
        #expect(try await reader.retire(RetirementLimits(maximumTransactionCount: 5)) > 0)
        #expect(try await reader.transactions(ListRequest()).rows.count == 5)
        try await expectSame()
        try await reader.add(sets, at: 1_800_000_100)
        try await expectSame()
        #expect(try await reader.erase(.networkLogs).factCount > 0)
        #expect(try await writer.exchanges(ListRequest()).rows.isEmpty)
        try await expectSame()
        let began = try #require(try await writer.transactions(ListRequest()).rows.last?.begunMicroseconds)
        let early = Date(microseconds: began + 1)
        #expect(try await writer.erase(.begunBefore(early)).transactionCount == 1)
        try await expectSame()
        #expect(try await writer.erase(.all).transactionCount == 4)
        #expect(try await reader.transactions(ListRequest()).rows.isEmpty)
    }

    /// Breaks when a question about a sample reads other transactions, or explains by the sample alone why nothing
    /// counts; or when missing facts of other transactions go unnoticed.
    @Test func aSampleIsReadAlone() async throws {
        let address = try await ClickHouseEngine.shared.database()
        var shop = Shop(seed: 9)
        for _ in 0..<60 { shop.buy() }
        var (alone, whole) = (try await ClickHouseStore(address), try await ClickHouseStore(address))
        (alone.factLimit, whole.readsAll, whole.factsPerRange) = (0, true, 100)
        try await alone.add(shop.sets())
        let questions: [AnyQuestion] = [
            .summary(SummaryQuestion()), .network(NetworkQuestion()),
            .duration(DurationQuestion(filter: TransactionFilter(), segmentation: .hour)),
            .legs(LegsQuestion(filter: TransactionFilter())),
        ]
        for (question, filter) in questions.flatMap({ question in
            ["oneIn:3", "oneIn:3 outcome:cancelled", "-oneIn:3"].map { (question, $0) }
        }) {
            let conditions = [(name: "filter", value: filter)]
            let expected = try await whole.answer(question, where: conditions)
            #expect(try await alone.answer(question, where: conditions) == expected, "\(filter)")
            if filter == "oneIn:3" { #expect(expected.weighed != nil) }
        }
        try await ClickHouseClient(address).run("ALTER TABLE facts DELETE WHERE sequence = 2", ["mutations_sync": "2"])
        let asked = whole
        let error = await #expect(throws: WaybillError.self) {
            try await asked.answer(.summary(SummaryQuestion()), where: [(name: "filter", value: "oneIn:3")])
        }
        #expect(error?.message.contains("lacks facts") == true)
    }

    /// Breaks when a database and a file differ in ledgers, or in the open transactions of sources that owe facts.
    @Test func certifiedAnswersAreThoseOfAFile() async throws {
        let folder = try TemporaryDirectory()
        let file = try SQLiteStore(making: folder.url, clock: SystemClock())
        var database = try await ClickHouseStore(ClickHouseEngine.shared.database())
        database.factLimit = 0
        var shop = Shop(seed: 12)
        for _ in 0..<20 { shop.buy() }
        for (number, set) in shop.sets().enumerated() {
            var set = set
            for index in set.sources.indices where number.isMultiple(of: 3) && set.sources[index].facts.count > 1 {
                set.sources[index].facts.removeLast()
            }
            let received = ReceivedSet(set, received: Date(timeIntervalSince1970: 1_800_000_000))
            _ = try await file.add(received)
            _ = try await database.add(received)
        }
        var question = SummaryQuestion()
        question.isCertified = true
        let (found, expected) = (
            try await database.answer(.summary(question), where: []),
            try await file.answer(.summary(question), where: [])
        )
        #expect(found == expected)
        #expect(try #require(found.bounds).factCount > 0)
    }

    /// Breaks when a server that lacks facts gives a partial answer or transaction. The test deletes facts behind its
    /// back.
    @Test func factsThatAreMissingAreNoAnswer() async throws {
        let address = try await ClickHouseEngine.shared.database()
        var shop = Shop(seed: 6)
        for _ in 0..<4 { shop.buy() }
        var store = try await ClickHouseStore(address)
        try await store.add(shop.sets())
        try await ClickHouseClient(address).run("ALTER TABLE facts DELETE WHERE sequence = 2", ["mutations_sync": "2"])
        let (id, alone) = (shop.transactions[0], store)
        store.readsAll = true
        let whole = store
        let answer = Task { try await whole.answer(.summary(SummaryQuestion()), where: []) }
        let transaction = Task { try await alone.transaction("\(id)") }
        let error = await #expect(throws: WaybillError.self) { try await answer.value }
        #expect(error?.message.contains("lacks facts") == true)
        let other = await #expect(throws: WaybillError.self) { try await transaction.value }
        #expect(other?.message.contains("lacks facts") == true)
    }

    /// Breaks when any request of a process needs all facts in memory.
    @Test func nothingNeedsAllFacts() async throws {
        let address = try await ClickHouseEngine.shared.database()
        var shop = Shop(seed: 5)
        for _ in 0..<4 { shop.buy() }
        var store = try await ClickHouseStore(address)
        store.factLimit = 0
        try await store.add(shop.sets())
        await #expect(throws: QueryFailure.self) { try await store.transaction("\(GUID())") }
        await #expect(throws: QueryFailure.self) { try await store.transaction("no code") }
        #expect(try await store.transactions(ListRequest()).rows.count == 4)
        for order in [TransactionFilter.Order.oldest, .longest] {
            var filter = TransactionFilter()
            filter.order = order
            let first = try await store.transactions(ListRequest(matching: filter, limit: 3))
            let rest = try await store.transactions(ListRequest(matching: filter, limit: 3, cursor: first.next))
            #expect(first.rows.count == 3 && rest.rows.count == 1 && rest.next == nil)
        }
        #expect(try await store.sources(ListRequest()).rows.count == 2)
        #expect(try await store.verify().transactionCount == 4)
        var following = ListRequest()
        following[.after] = ListRequest.now
        let position = try await store.transactions(following).position
        for (after, count) in [(position, 0), ("0", 4)] {
            following[.after] = after
            #expect(try await store.transactions(following).rows.count == count)
        }
        var all = store
        (all.readsAll, all.factLimit) = (true, 1_000)
        let (alone, whole) = (store, all)
        func factCount(_ facts: ExportedFacts, of other: ClickHouseStore? = nil) async throws -> Int {
            let export = try await (other ?? alone).export(facts, as: .ndjson)
            var count = 0
            while let piece = try await export.next() { count += piece.factCount }
            return count
        }
        let first = try await store.export(.since(.distantPast), as: .ndjson)
        for (conditions, count) in [([FilterCondition](), shop.factCount), ([.useCase(2)], 0)] {
            var table: [UInt8] = []
            let request = ListRequest(matching: TransactionFilter(conditions))
            let export = try await store.export(.of(request), as: .csv)
            while let piece = try await export.next() { table += piece.bytes }
            let lines = table.split(separator: 0x0A)
            #expect(lines.count == count + 1)
            #expect(lines.count { $0.starts(with: Array("transaction_id".utf8)) } == 1, "one header")
        }
        #expect(try await factCount(.after("0")) == shop.factCount)
        #expect(try await factCount(.of(ListRequest())) == shop.factCount)
        let families = ListRequest(matching: TransactionFilter([.not(.parent(.known))]))
        #expect(try await factCount(.of(families)) == factCount(.of(families), of: whole))
        #expect(try await factCount(.after(first.cursor)) == 0)
        #expect(try await (1..<shop.factCount).contains(factCount(.some([shop.transactions[0]]))))
        #expect(try await store.exchanges(ListRequest()).rows.isEmpty == false)
    }

    /// Breaks when the time for a filter by the topmost ancestor doubles with each generation.
    @Test func filtersReachFarDescendants() async throws {
        var shop = Shop(seed: 11)
        for number in 0...ParentWalk.limit + 2 { shop.buy(below: number == 0 ? nil : shop.transactions[number - 1]) }
        let store = try await ClickHouseStore(ClickHouseEngine.shared.database())
        try await store.add(shop.sets())
        try await store.queue.keeper.run(isAlone: true)
        let filter = TransactionFilter([.root(.transaction(shop.transactions[0]))])
        #expect(
            try await store.transactions(ListRequest(matching: filter, limit: 100)).rows.count == ParentWalk.limit + 1)
    }
}
#endif
