import Testing
import WaybillCore

@testable import WaybillQueries
@testable import WaybillSpans
@testable import WaybillStore

/// Spans that services send become facts of their transactions.
@Suite(.timeLimit(.minutes(5))) struct SpanIngestionTests {
    private let store: SpanStore

    init() throws { store = try SpanStore() }

    private func expectSound() throws {
        let verification = try store.reader.verify()
        #expect(verification.problems == [])
        #expect(verification.remarks == [])
    }

    // MARK: Conversion to facts

    /// The complete path: an app asks a service, which asks another one.
    @Test func aServersSpanIsAJoinedPartAClientsAnExchangeAndAnyOtherAnEvent() throws {
        let trace = Trace()
        var app = App(trace.transaction)
        let asked = app.ask("/cart")
        app.finish()
        let server = trace.server("/cart", below: asked.span, at: 2000, took: 9000)
        var work = trace.span("price cart", below: server.id, isRemote: false, at: 3000, took: 4000, ["items": 3])
        work.addEvent("rates loaded", at: SpanStore.wall + 3500, ["age_s": 4])
        let client = trace.client("https://stock.example/items?q=1", below: work.id, at: 3600, took: 700)
        let below = trace.server("/items", below: client.id, at: 3700, took: 400)
        #expect(try store.add([work, client, server]).acceptedCount == 3)
        #expect(try store.add([below], of: SpanStore.stock).message == nil)
        try store.add(app.set())

        let record = try #require(try store.record(of: trace.transaction))
        #expect(record.summary.outcome == .succeeded)
        #expect(record.parts.count == 3)
        let names = Dictionary(uniqueKeysWithValues: try store.reader.sources().map { ($0.id, $0.app) })
        let shop = try #require(record.parts.first { names[$0.id.source] == "shop" })
        #expect(shop.cause == asked.exchange)
        #expect(shop.isJoined && shop.outcome == .succeeded)
        #expect(shop.openedMicroseconds == SpanStore.wall + 2000)
        #expect(shop.closedMicroseconds == SpanStore.wall + 11000)
        let exchanges = record.exchanges.filter { $0.id.source == shop.id.source }
        #expect(exchanges.map(\.url) == ["https://shop.example/cart", "https://stock.example/items?q=1"])
        #expect(exchanges.map(\.role) == [.server, .client])
        #expect(exchanges.map(\.status) == [200, 200])
        let stock = try #require(record.parts.first { names[$0.id.source] == "stock" })
        #expect(stock.cause == exchanges[1].id)
        let events = record.timeline.filter { $0.kind == .event && $0.id.source == shop.id.source }
        #expect(events.map(\.label) == ["price cart", "rates loaded"])
        #expect(events[0].attributes == ["items": 3, "duration_us": 4000])
        #expect(events[1].attributes == ["age_s": 4])
        try expectSound()
    }

    /// A service can't report the cause in another way. Either may arrive first.
    @Test(arguments: [true, false]) func whatASpanAskedIsCausedByTheExchangeThatTheSpanIs(_ isSpanFirst: Bool) throws {
        let trace = Trace()
        let root = trace.span("order", took: 9000)
        let client = trace.client("https://shop.example/cart", below: root.id, at: 100, took: 700)
        var asked = App(trace.transaction, askedBy: client.id)
        asked.finish()
        var strange = App(trace.transaction, askedBy: SpanID(rawValue: 7))
        strange.finish()
        if isSpanFirst { try store.add([root, client]) }
        for app in [asked, strange] { try store.add(app.set()) }
        if !isSpanFirst { try store.add([root, client]) }

        let record = try #require(try store.record(of: trace.transaction))
        let part = { (app: App) in record.parts.first { $0.id.source == app.source } }
        let exchange = try #require(record.exchanges.first)
        #expect(exchange.role == .client && part(asked)?.cause == exchange.id)
        #expect(part(strange)?.isJoined == true && part(strange)?.cause == nil)
        try expectSound()
    }

    @Test func aSpanWithoutAParentBeginsTheTransactionUnderItsOwnName() throws {
        let trace = Trace()
        try store.add([trace.span("nightly sync", at: 5, took: 70)])
        let record = try #require(try store.record(of: trace.transaction))
        #expect(record.summary.useCaseName == "nightly sync")
        #expect(record.summary.outcome == .succeeded)
        #expect(!record.parts[0].isJoined)
        try expectSound()
    }

    @Test func whatFailedSaysSoWithItsExceptionAndWithoutItsStack() throws {
        let trace = Trace()
        var server = trace.server("/pay", below: SpanID(rawValue: 7))
        server.statusCode = 2
        server.set("http.response.status_code", to: 500)
        server.addEvent(
            "exception", at: SpanStore.wall + 10,
            [
                "exception.type": "shop.errors.PaymentDeclined", "exception.message": "card 4111 1111 1111 1111",
                "exception.stacktrace": "/home/me/secret.py",
            ])
        try store.add([server])
        let record = try #require(try store.record(of: trace.transaction))
        #expect(record.parts[0].outcome == .failed)
        let error = try #require(record.timeline.first { $0.kind == .event }?.error)
        #expect(error.domain == "shop.errors" && error.name == "PaymentDeclined")
        #expect(error.text == "card [redacted]")
        #expect(record.exchanges[0].status == 500)
        #expect(try !store.dump().joined().contains("secret.py"))
    }

    @Test func aCallByGRPCIsAnExchange() throws {
        let trace = Trace()
        var call = trace.span(
            "shop.Orders/Create", .client, below: nil, isRemote: nil,
            ["rpc.system": "grpc", "rpc.service": "shop.Orders", "rpc.method": "Create", "rpc.grpc.status_code": 14])
        call.statusCode = 2
        try store.add([call])
        let exchange = try #require(try store.record(of: trace.transaction)?.exchanges.first)
        #expect(exchange.url == "/shop.Orders/Create" && exchange.state == .failed)
    }

    @Test(
        arguments: [
            (["http.host": "127.0.0.1:8091", "net.host.port": 8091], "http://127.0.0.1:8091/login"),
            (["http.host": "shop.example:8091"], "http://shop.example:8091/login"),
            (["http.host": "[::1]:80", "net.host.port": 80], "http://[::1]:80/login"),
            (["server.address": "::1", "server.port": 8091], "http://[::1]:8091/login"),
            (["net.host.name": "shop.example", "net.host.port": 8091], "http://shop.example:8091/login"),
        ] as [(Attributes, String)])
    func aHostWithItsPortHasOnePort(_ host: Attributes, _ url: String) throws {
        let trace = Trace()
        let request: Attributes = ["http.method": "POST", "http.scheme": "http", "http.target": "/login"]
        let attributes = request.merging(host) { $1 }
        try store.add([trace.span("POST /login", .server, below: nil, isRemote: false, attributes)])
        let exchange = try #require(try store.record(of: trace.transaction)?.exchanges.first)
        #expect(exchange.url == url)
    }

    @Test func namesAndValuesAreRedactedAndCutAsThoseOfSets() throws {
        let trace = Trace()
        var server = trace.server("/login", below: SpanID(rawValue: 7))
        server.set("url.query", to: "token=hunter2&page=1")
        server.set("password", to: "hunter2")
        server.set("note", to: .string(String(repeating: "x", count: 5000)))
        server.set("http.request.header.authorization", to: "Bearer hunter2")
        var many = trace.span("many", below: server.id, isRemote: false)
        for index in 0..<100 { many.set("a\(index)", to: .integer(index)) }
        many.addEvent("mail to jo@example.com", at: SpanStore.wall)
        // Waiting spans are redacted, too.
        try store.add([many])
        #expect(try !store.dump().joined().contains("hunter2"))
        try store.add([server])
        let text = try store.dump().joined(separator: "\n")
        #expect(!text.contains("hunter2") && !text.contains("jo@example.com"))
        let record = try #require(try store.record(of: trace.transaction))
        #expect(record.exchanges[0].url == "https://shop.example/login?token=[redacted]&page=1")
        #expect(record.timeline.first { $0.label == "many" }?.attributes.count == Limits.attributes)
        try expectSound()
    }

    // MARK: Acceptance

    @Test func spansOfOtherTracesAreRefusedAndTheOthersTaken() throws {
        let (other, mine) = (Trace(GUID(high: 0x0123_4567_89AB_4CDE, low: 1 << 63 | 5)), Trace())
        let verdict = try store.add([other.span("other"), mine.span("mine"), other.span("other")])
        #expect(verdict.acceptedCount == 1 && verdict.refusedCount == 2)
        #expect(verdict.message == "2 spans: its trace is no transaction of Waybill.")
        #expect(try store.store.connection.integer("SELECT count(DISTINCT guid) FROM parts") == 1)
    }

    @Test func aTraceThatIsAKnownTransactionIsTakenWhateverItsID() throws {
        let transaction = GUID(high: 0x0123_4567_89AB_4CDE, low: 1 << 63 | 5)
        try store.add(App(transaction).set())
        #expect(try store.add([Trace(transaction).span("late")]).acceptedCount == 1)
    }

    @Test func aTraceThatOnlyLooksLikeAnIDOfAnotherTimeIsRefused() throws {
        let old = GUIDs.next(at: 1000)
        #expect(try store.add([Trace(old).span("old")]).refusedCount == 1)
    }

    @Test func nothingComesOfAnErasedTransactionAnyMore() throws {
        let trace = Trace()
        let server = trace.server("/a", below: SpanID(rawValue: 7))
        let inner = trace.span("inner", below: server.id, isRemote: false)
        try store.add([inner])
        _ = try store.store.erase(.transactions([trace.transaction]), at: SpanStore.wall)
        #expect(try store.store.connection.integer("SELECT count(*) FROM spans") == 0)
        #expect(try store.add([server, inner]).message == "2 spans: its transaction was erased.")
        #expect(try store.record(of: trace.transaction) == nil)
        try expectSound()
    }

    @Test func whatIsErasedOfASourceIsBookedAndLeavesNoGap() throws {
        let (first, second) = (Trace(), Trace())
        for trace in [first, second] {
            try store.add([trace.server("/a", below: SpanID(rawValue: 7)), trace.span("x", below: SpanID(rawValue: 8))])
        }
        _ = try store.store.erase(.transactions([first.transaction]), at: SpanStore.wall)
        let source = try #require(try store.reader.sources().first)
        #expect(source.ledger.isBalanced && source.gaps.isEmpty)
        #expect(source.ledger.dropped.keys.sorted() == ["erased"])
        #expect(try store.store.connection.integer("SELECT count(*) FROM spans WHERE guid = ?", first.transaction) == 0)
        try expectSound()
    }

    // MARK: Waiting

    @Test func aSpanWaitsForTheOneThatItsPartIsOf() throws {
        let trace = Trace()
        let server = trace.server("/a", below: SpanID(rawValue: 7))
        let middle = trace.span("middle", below: server.id, isRemote: false)
        let inner = trace.span("inner", below: middle.id, isRemote: false)
        try store.add([inner])
        #expect(try store.record(of: trace.transaction) == nil)
        try store.add([server])
        #expect(try store.record(of: trace.transaction)?.timeline.contains { $0.label == "inner" } == false)
        try store.add([middle])
        let record = try #require(try store.record(of: trace.transaction))
        #expect(record.parts.count == 1)
        #expect(Set(record.timeline.filter { $0.kind == .event }.map(\.label)) == ["inner", "middle"])
        try expectSound()
    }

    @Test func whatWaitsForASpanThatNeverComesGetsAPartAfterAMinute() throws {
        let trace = Trace()
        let lost = trace.server("/a", below: SpanID(rawValue: 7))
        let inner = trace.span("inner", below: lost.id, isRemote: false, at: 10, took: 5)
        try store.add([inner])
        #expect(try store.store.settleWaitingSpans(at: SpanStore.wall + 59_000_000) == 0)
        #expect(try store.store.settleWaitingSpans(at: SpanStore.wall + 61_000_000) == 3)
        let record = try #require(try store.record(of: trace.transaction))
        #expect(record.parts.map(\.outcome) == [.abandoned])
        // Other children of the lost span find the part, and so does the lost span.
        let client = trace.client("https://x.example/", below: lost.id)
        try store.add([client], at: SpanStore.wall + 62_000_000)
        #expect(try store.add([lost, inner], at: SpanStore.wall + 62_000_000).knownCount == 1)
        let later = try #require(try store.record(of: trace.transaction))
        #expect(later.parts.count == 1 && later.exchanges.count == 2)
        try expectSound()
    }

    @Test func spansThatNameEachOtherAsParentsAreGivenUp() throws {
        let trace = Trace()
        var (first, second) = (trace.span("a"), trace.span("b"))
        (first.parent, second.parent) = (second.id, first.id)
        var own = trace.span("c")
        own.parent = own.id
        #expect(try store.add([first, second, own]).refusedCount == 1)
        _ = try store.store.settleWaitingSpans(at: SpanStore.wall + 61_000_000)
        #expect(try store.store.connection.integer("SELECT count(*) FROM spans") == 0)
        #expect(try store.reader.sources()[0].ledger.refused == 2)
        try expectSound()
    }

    // MARK: Limits

    @Test func aTransactionTakesNoMorePartsAndFactsThanItMay() throws {
        let trace = Trace()
        let many = (0..<1_100).map { trace.server("/\($0)", below: SpanID(rawValue: 7)) }
        let verdict = try store.add(many)
        #expect(verdict.acceptedCount == 1_000 && verdict.refusedCount == 100)
        #expect(try store.add([trace.server("/x", below: SpanID(rawValue: 7))]).refusedCount == 1)
        let other = Trace()
        let server = other.server("/", below: SpanID(rawValue: 7))
        let inner = (0..<20).map { other.span("i\($0)", below: server.id, isRemote: false) }
        store.store.factsPerTransaction = 10
        #expect(try store.add([server] + inner).acceptedCount == 7)
        #expect(try store.add(inner).acceptedCount == 0)
        try expectSound()
    }

    // MARK: Sources

    @Test func whoHasAnotherTokenIsAnotherSource() throws {
        let trace = Trace()
        let span = trace.span("a")
        try store.add([span], sentBy: "t1")
        let before = try store.dump().filter { $0.contains("shop") }
        #expect(try store.add([span], sentBy: "t2").acceptedCount == 1)
        #expect(try store.reader.sources().count == 2)
        #expect(try Set(store.dump()).isSuperset(of: before))
    }

    @Test func noSetSpeaksForTheSourceOfAService() throws {
        try store.add([Trace().span("a")])
        let source = try #require(try store.reader.sources().first)
        let before = try store.dump()
        for proof in [nil, IdentityProof()] {
            let share = TransactionSet.Share(
                source: SourceIdentity(id: source.id), clocks: [ClockAnchor(atMicroseconds: 0, offsetMicroseconds: 1)],
                hasEnded: true, ledger: Ledger(recorded: 1 << 40),
                dropped: [DroppedRange(first: 1, last: 1 << 40, reason: .erased)], sourceProof: proof)
            let receipt = try store.add(TransactionSet(id: GUID(), sources: [share]))
            #expect(receipt.refusedSources.map(\.source) == [source.id])
        }
        #expect(try store.dump() == before)
    }

    @Test func nobodyCanKnowBeforehandWhatASourceWillBeCalled() throws {
        let other = try SpanStore(key: "another")
        let span = Trace().span("a")
        try store.add([span])
        try other.add([span])
        #expect(try store.reader.sources().map(\.id) != other.reader.sources().map(\.id))
    }
}
