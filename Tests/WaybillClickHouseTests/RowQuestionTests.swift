#if ClickHouse
import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillQueries
import WaybillTesting

@testable import WaybillClickHouse

/// Questions and lists by rows, compared with the same questions and lists by facts.
@Suite(.timeLimit(.minutes(15)), .enabled(if: ClickHouseEngine.isThere)) struct RowQuestionTests {
    private static let filters = [
        "", "event:sent", "-event:paid", #"event:"event 3""#, "-event:other", "status:2xx", "-status:404",
        "exchange:failed", "-exchange:interrupted", "exchange:mocked", "exchange:in_progress", "error:*", "-error:*",
        "error:nsurl", "error:-1001", #"error:"LoginError 7""#, "error:rejected", "-error:PROXY", "took>2ms",
        "attribute:variant=B", "attribute:variant=C", "login", "-EXAMPLE.com/orders/3", "Refused", "-variant=a",
        "x-trace",
        "seen", "nowhere", "app:CLIENT", "version:2", "ended:signal", "sampled:chosen", "-os:Linux", "oneIn:2",
    ]
    private static let exchangeFilters = [
        "", "host:example.com", "-host:api.example.com", "path:/orders", "-path:/orders/7", "method:get,put",
        "state:completed,failed", "-state:mocked", "status:400-599", "took>3ms", "-took<2ms", "size>100B", "size<101B",
        "-size>100B", "close:1006", "-close:1000-1005", "error:*", "-error:*", "error:proxy", "error:-1001",
        "app:server", "-app:server", "version:2", "os:linux", "-device:arm64", "ended:signal", "outcome:failed",
        "-outcome:failed", "event:sent", "attribute:variant=A", "sampled:unchosen", "oneIn:2", "useCase:1",
        "X-Trace", #"-"of 1""#, #""GET HTTPS://api""#, "refused", #"-"took long""#, "nowhere",
    ]
    private static let families: [FilterCondition] = [
        .parent(.known), .not(.parent(.known)), .parent(.outcome(.failed)), .parent(.useCase(1)), .parent(.useCase(2)),
        .root(.known), .root(.outcome(.succeeded)), .not(.root(.outcome(.failed))),
        .root(.transaction(Errands.unknown)),
        .child(.known), .not(.child(.outcome(.failed))), .child(.useCase(1)), .parent(.transaction(Errands.unknown)),
    ]

    private static var questions: [AnyQuestion] {
        get throws {
            let transactions = try filters.map { text in
                TransactionFilter(text.isEmpty ? [] : [try FilterCondition(text)])
            }
            let exchanges = try exchangeFilters.map { text in
                ExchangeFilter(text.isEmpty ? [] : [try FilterCondition(text, about: .exchanges)])
            }
            return transactions.map { .summary(SummaryQuestion(filter: $0)) }
                + transactions.map { .legs(LegsQuestion(filter: $0)) }
                + transactions.map { .network(NetworkQuestion(transactions: $0)) }
                + exchanges.map { .network(NetworkQuestion(filter: $0, grouping: .method, exampleCount: 2)) }
                + transactions.map { filter in
                    .why(WhyQuestion(filter: TransactionFilter(filter.conditions + [.useCase(1)])))
                } + [
                    .why(WhyQuestion(filter: TransactionFilter([.useCase(1), .outcome([.failed])]))),
                    .legs(LegsQuestion(filter: TransactionFilter(), segmentation: .appVersion)),
                    .legs(LegsQuestion(filter: TransactionFilter(), segmentation: .attribute("variant"))),
                    .duration(DurationQuestion(filter: TransactionFilter(), segmentation: .parentOutcome)),
                    .duration(DurationQuestion(filter: TransactionFilter(), segmentation: .parentUseCase)),
                    .duration(
                        DurationQuestion(filter: TransactionFilter([.useCase(9)]), segmentation: .attribute("size"))),
                    .errors(ErrorsQuestion(newSince: Date(timeIntervalSince1970: 1_800_000_000.6))),
                ] + families.map { .summary(SummaryQuestion(filter: TransactionFilter([$0]))) }
                + families.map { .network(NetworkQuestion(filter: ExchangeFilter([$0]))) }
        }
    }

    /// Breaks when rows lack data that a question or a filter reads, or when servers interpret a filter differently.
    @Test func rowsAnswerAsFacts() async throws { try await expectSameAnswers(ClickHouseEngine.shared) }

    /// Breaks when servers of 2018 need other SQL.
    @Test(.enabled(if: ClickHouseEngine.isClusterThere)) func rowsAnswerAsFactsOnACluster() async throws {
        try await expectSameAnswers(ClickHouseEngine.cluster)
    }

    /// Breaks when a page of the inspector copies the database, or differs from the page that a copy gives.
    @Test func pagesNeedNoCopy() async throws { try await expectSamePages(ClickHouseEngine.shared) }

    /// Breaks when servers of 2018 need other SQL for pages. They are slow, and questions use the same conditions, so
    /// one in four is enough.
    @Test(.enabled(if: ClickHouseEngine.isClusterThere)) func pagesNeedNoCopyOnACluster() async throws {
        try await expectSamePages(ClickHouseEngine.cluster, filtersOneIn: 4)
    }

    /// Returns a store with some outdated rows.
    private func storeWithErrands(_ engine: ClickHouseEngine) async throws -> ClickHouseStore {
        let clock = ManualClock(wallMicroseconds: 1_800_000_100_000_000)
        let store = try await ClickHouseStore(engine.database(), clock: clock)
        store.queue.keeper.isAwake.withLock { $0 = true }
        var errands = Errands(seed: 15)
        for _ in 0..<80 { errands.run() }
        try await store.add(errands.sets(endedBy: nil), at: 1_800_000_100)
        try await store.queue.keeper.run(isAlone: true)
        for _ in 0..<6 { errands.run() }
        try await store.add(errands.sets(endedBy: .signal("SIGSEGV")), at: 1_800_000_100)
        try await store.queue.keeper.run(isAlone: true)
        for _ in 0..<4 { errands.run() }
        try await store.add(errands.sets(endedBy: .signal("SIGSEGV")), at: 1_800_000_100)
        #expect(try await !store.tables.changedTransactions(limit: 100).isEmpty)
        return store
    }

    private func expectSameAnswers(_ engine: ClickHouseEngine) async throws {
        let store = try await storeWithErrands(engine)
        let thread = try await store.everything()
        defer { withExtendedLifetime(thread) {} }
        let facts = try await store.sqlite(thread)
        var (byRows, empty) = (0, 0)
        for question in try Self.questions {
            let expected = try await facts.answer(question, where: [])
            let answer = try await store.answerByRows(question, where: [])
            #expect(answer == nil || answer == expected, "\(question)")
            #expect(answer != nil || expected.whyEmpty != nil, "\(question)")
            if expected.whyEmpty != nil { empty += 1 }
            if answer != nil { byRows += 1 }
        }
        let unknown = AnyQuestion.duration(
            DurationQuestion(filter: TransactionFilter(), segmentation: .attribute("varint")))
        for store in [store, facts] as [any BrowsableStore] {
            let failure = await #expect(throws: QueryFailure.self) { try await store.answer(unknown, where: []) }
            #expect("\(String(describing: failure))".contains("variant"))
        }
        print("\(byRows) questions by rows, and \(empty) empty answers")
        #expect(byRows > 100)
    }

    private func expectSamePages(_ engine: ClickHouseEngine, filtersOneIn count: Int = 1) async throws {
        var collector = try await storeWithErrands(engine)
        let thread = try await collector.everything()
        defer { withExtendedLifetime(thread) {} }
        let whole = try await collector.sqlite(thread)
        collector.factLimit = 0
        let rows = collector
        func expectSame<Value: Equatable>(
            _ name: String, _ read: (any BrowsableStore) async throws -> Value
        ) async throws {
            let (found, expected) = (try await read(rows), try await read(whole))
            #expect(found == expected, "\(name)")
        }
        try await expectSame("names") { try await $0.names() }
        try await expectSame("conflicts") { try await $0.nameConflictCount() }
        try await expectSame("apps") { try await $0.apps(limit: 10) }
        try await expectSame("starts") { try await $0.firstStarts() }
        try await expectSame("delivery") { try await $0.delivery(hours: 48).hours }
        try await expectSame("values") { try await $0.seenValues(useCase: 1, limit: 40) }
        let transactions = try await collector.transactions(ListRequest(limit: 60)).rows.map(\.id)
        try await expectSame("errors") { try await $0.errorCounts(of: transactions) }
        for id in transactions.prefix(5) + transactions.suffix(3) {
            try await expectSame("neighbors") { store in
                let found = try await store.neighbors(of: id)
                return [found.before, found.after]
            }
        }
        let borders = { @Sendable (times: ClosedRange<Int64>) in
            (0...5).map { times.lowerBound + $0 * ((times.upperBound - times.lowerBound) / 5 + 1) }
        }
        // A list refuses an event that does not exist.
        for text in Self.filters.each(count) where text != "-event:other" {
            let filter = TransactionFilter(text.isEmpty ? [] : [try FilterCondition(text)])
            try await expectSame("list of \(text)") { store in
                let page = try await store.transactions(ListRequest(matching: filter, limit: 200))
                return page.rows.map { "\($0)" }.sorted() + [page.whyEmpty ?? ""]
            }
            try await expectSame("volume of \(text)") {
                try await $0.volume(
                    ListRequest(matching: filter), of: .transactions, within: .seconds(600), borders: borders)
            }
        }
        for (index, condition) in Self.families.each(count).enumerated() {
            var filter = TransactionFilter([condition])
            (filter.isFolded, filter.order) = (index % 2 == 1, index % 2 == 1 ? .longest : .newest)
            try await expectSame("list of \(condition)") { store in
                var (rows, request) = ([TransactionSummary](), ListRequest(matching: filter, limit: 20))
                for _ in 0..<10 {
                    let page = try await store.transactions(request)
                    rows += page.rows
                    request[.cursor] = page.next
                    if page.next == nil { break }
                }
                return rows
            }
            guard index % 3 == 0 else { continue }
            try await expectSame("sessions of \(condition)") { store in
                let list = try await store.sessions(
                    ListRequest(matching: TransactionFilter([condition])), rows: transactions, in: .gmt,
                    within: .seconds(600))
                let sessions = list.sessions.map { "\($0.source) \($0.days.map { "\($0)" }.sorted())" }.sorted()
                let sources = list.sources.map { "\($0)" }.sorted()
                return sessions + sources + ["\(list.total)", "\(list.errors.map { "\($0)" }.sorted())"]
            }
        }
        let limits = SourceDetails.Limits(clocks: 10, gaps: 100, transactions: 10)
        for source in try await collector.sources(ListRequest()).rows {
            for limits in [limits, SourceDetails.Limits(clocks: 1)] {
                try await expectSame("details of \(source.app)") { store in
                    let details = try #require(try await store.details(of: [source.id], upTo: limits)[source.id])
                    return [
                        "\(String(describing: details.clocks))", "\(details.gaps)", "\(details.transactions)",
                        "\(String(describing: details.latestFact))", "\(String(describing: details.firstArrival))",
                    ]
                }
            }
        }
        for text in Self.exchangeFilters.each(count) {
            let filter = ExchangeFilter(text.isEmpty ? [] : [try FilterCondition(text, about: .exchanges)])
            try await expectSame("exchanges of \(text)") { store in
                var (rows, request) = ([ExchangeRecord](), ListRequest(matching: filter, limit: 40))
                for _ in 0..<20 {
                    let page = try await store.exchanges(request)
                    rows += page.rows
                    request[.cursor] = page.next
                    if page.next == nil { break }
                }
                return rows.sorted { ($0.id.source, $0.id.sequence) < ($1.id.source, $1.id.sequence) }
            }
            let request = ListRequest(matching: filter)
            try await expectSame("times of \(text)") {
                try await $0.volume(request, of: .exchanges, within: .seconds(600)) { _ in [] }
            }
            try await expectSame("volume of \(text)") {
                try await $0.volume(request, of: .exchanges, within: .seconds(600), borders: borders)
            }
        }
        for exchange in try await collector.exchanges(ListRequest(limit: 9)).rows {
            try await expectSame("exchange") { try await $0.exchange(exchange.id.description) }
        }
    }
}

extension Array {
    fileprivate func each(_ count: Int) -> [Element] { stride(from: 0, to: self.count, by: count).map { self[$0] } }
}

/// Two versions of a client with different names, and a server, with exchanges of all kinds.
private struct Errands {
    private var random: RandomNumbers
    private var clients: [Recorder]
    private var server: Recorder
    private var parents: [GUID] = [Self.unknown]

    static let unknown = GUID(high: 1, low: 7)

    init(seed: Int) {
        random = RandomNumbers(seed: seed)
        clients = [
            Recorder("client", version: "1", random.guid()), Recorder("client", version: "2", random.guid()),
        ]
        server = Recorder("server", version: "9", random.guid())
    }

    mutating func run() {
        let (id, index) = (random.guid(), Int.random(in: 0...1, using: &random))
        var client = clients[index]
        client.now += Int64.random(in: 0...40_000, using: &random)
        var opened = Fact.Opened(transaction: id, useCase: 1)
        if random.oneIn(2) { opened.parent = parents[Int.random(in: 0..<parents.count, using: &random)] }
        parents = parents.suffix(12) + [id]
        opened.attributes = ["variant": .string(random.oneIn(2) ? "A" : "B")]
        if random.oneIn(3) {
            opened.sampling = Fact.Sampling(perMillion: 250_000, isChosen: random.oneIn(2), slowMicroseconds: 5_000)
        }
        let part = client.add(.opened(opened))
        for code in 1...3 where random.oneIn(2) { client.add(.event(Fact.Event(code: code)), part: part) }
        if random.oneIn(4) { exchange(of: &client, part: 0) }
        for _ in 0..<Int.random(in: 0...2, using: &random) { exchange(of: &client, part: part, in: id) }
        let error = RecordedError(domain: "LoginError", code: 7, name: random.oneIn(2) ? "rejected" : nil)
        if !random.oneIn(6) {
            let hasFailed = random.oneIn(3)
            client.add(
                .closed(Fact.Closed(outcome: hasFailed ? .failed : .succeeded, error: hasFailed ? error : nil)),
                part: part)
        }
        clients[index] = client
    }

    private mutating func exchange(of client: inout Recorder, part: Int64, in transaction: GUID? = nil) {
        let hosts: [String?] = ["api.example.com", "CDN.example.com", "example.org", nil]
        var opened = Fact.ExchangeOpened(
            method: ["GET", "POST", "put"][Int.random(in: 0...2, using: &random)], scheme: "https",
            host: hosts[Int.random(in: 0...3, using: &random)],
            path: random.oneIn(2) ? "/orders/\(Int.random(in: 1...9, using: &random))" : "/items")
        if random.oneIn(3) { opened.headerFields = [HeaderField(name: "X-Trace", value: "of \(part)")] }
        let exchange = client.add(.exchangeOpened(opened), part: part)
        if let transaction, random.oneIn(2) {
            server.now = max(server.now, client.now + 900_000)
            let joined = server.add(
                .opened(
                    Fact.Opened(
                        transaction: transaction, useCase: 1, isJoined: true,
                        cause: FactID(source: client.source.id, sequence: exchange))))
            var received = opened
            received.role = .server
            let answered = server.add(.exchangeOpened(received), part: joined)
            server.add(.event(Fact.Event(code: 1)), part: joined)
            server.now += Int64.random(in: 100...2_000, using: &random)
            server.add(
                .exchangeClosed(Fact.ExchangeClosed(exchange: answered, state: .completed, status: 200)), part: joined)
            server.add(.closed(Fact.Closed(outcome: .succeeded)), part: joined)
            client.now = max(client.now, server.now - 900_000)
        }
        client.now += Int64.random(in: 100...4_000, using: &random)
        var closed = Fact.ExchangeClosed(exchange: exchange, state: .completed)
        switch Int.random(in: 0...5, using: &random) {
        case 0: return
        case 1:
            closed.state = .failed
            closed.error = RecordedError(
                domain: "NSURLErrorDomain", code: -1001,
                underlying: [RecordedError.Underlying(domain: "Proxy", code: 5, name: "refused")], text: "It took long")
        case 2: closed.state = .cancelled
        case 3: (closed.status, closed.transfer.isMocked) = (200, true)
        case 4:
            closed.status = 101
            closed.transfer.webSocket = Fact.WebSocket(closeCode: random.oneIn(2) ? 1000 : 1006)
        default:
            closed.status = [200, 404, 503][Int.random(in: 0...2, using: &random)]
            closed.firstByteAtMicroseconds = client.now
            (closed.sentByteCount, closed.receivedByteCount) = (10, Int64.random(in: 0...200, using: &random))
        }
        client.add(.exchangeClosed(closed), part: part)
    }

    /// - Parameter endedBy: How the first client ended; `nil` while it runs.
    mutating func sets(endedBy: SourceEnd?) -> [TransactionSet] {
        var shares = (clients + [server]).map { $0.share($0.facts) }
        (shares[0].hasEnded, shares[0].endedBy) = (endedBy != nil, endedBy)
        let names = [["sent", "paid"], ["paid", "sent"], ["seen"]]
        for index in shares.indices {
            shares[index].names = names[index].enumerated().map { code, name in
                RecordedName(useCase: 1, event: code + 1, name: name)
            }
        }
        return shares.map { TransactionSet(id: random.guid(), sources: [$0]) }
    }
}
#endif
