#if ClickHouse
import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillLegacy
import WaybillTesting

@testable import WaybillClickHouse
@testable import WaybillCollector
@testable import WaybillCollectorTests
@testable import WaybillQueries
@testable import WaybillSpans
@testable import WaybillSpansTests
@testable import WaybillStore

/// OTLP spans and sets of version 0.0.1, whose facts each process numbers itself.
@Suite(.timeLimit(.minutes(15)), .enabled(if: ClickHouseEngine.isThere)) struct SpanTests {
    private let clock = ManualClock(wallMicroseconds: SpanStore.wall)
    /// The engines under test, including two shards with two replicas each if installed.
    private static let engines = [ClickHouseEngine.shared] + (ClickHouseEngine.isClusterThere ? [.cluster] : [])

    private func processes(_ count: Int, _ engine: ClickHouseEngine = .shared) async throws -> [ClickHouseStore] {
        let address = try await engine.database()
        var stores: [ClickHouseStore] = []
        for _ in 0..<count { stores.append(try await ClickHouseStore(address, clock: clock)) }
        return stores
    }

    private func request(_ spans: [ReceivedSpan], of service: Attributes = SpanStore.shop) -> TraceRequest {
        var request = TraceRequest()
        request.resources = [ReceivedResource(attributes: service, spans: spans)]
        return request
    }

    /// Returns the visible content of a transaction, without IDs and in an order that does not depend on fact numbers.
    private func shown(_ record: TransactionRecord) -> [String] {
        let apps = Dictionary(uniqueKeysWithValues: record.sources.map { ($0.id, $0.app) })
        func place(_ id: FactID?) -> String {
            guard let id else { return "nothing" }
            let exchange = record.exchanges.first { $0.id == id }.map { "\($0.url) \($0.openedMicroseconds)" }
            return "\(apps[id.source] ?? "unknown") \(exchange ?? "")"
        }
        let parts = record.parts.map { part in
            """
            part of \(place(part.id)) \(part.isJoined) \(part.openedMicroseconds) \(part.closedMicroseconds ?? 0) \
            \(part.outcome) \(part.attributes) caused by \(place(part.cause))
            """
        }
        let entries = record.timeline.map { entry in
            "\(place(entry.id)) \(entry.kind) \(entry.timeMicroseconds) \(entry.label) \(entry.attributes) \(entry.isLate)"
        }
        return (parts + entries + ["\(record.summary.outcome) \(record.summary.useCaseName)"]).sorted()
    }

    /// Breaks when spans become other facts than in SQLite, or when a row contains less than the facts. The spans
    /// arrive in any order, some of them twice. A set of the app arrives before, between or after them.
    @Test(arguments: engines, seeds(0..<8)) func spansBecomeTheSameAsInSQLite(engine: ClickHouseEngine, seed: Int)
        async throws
    {
        var random = RandomNumbers(seed: seed)
        let trace = Trace()
        var app = App(trace.transaction)
        var spans: [(span: ReceivedSpan, service: Attributes)] = []
        for request in 0..<Int.random(in: 1...3, using: &random) {
            let begun = Int64(request) * 100_000
            let server = trace.server(
                "/cart/\(request)", below: app.ask("/cart/\(request)").span, at: begun, took: 90_000)
            let work = trace.span("price", below: server.id, isRemote: false, at: begun + 10, took: 700)
            let client = trace.client("https://stock.example/\(request)", below: work.id, at: begun + 20)
            spans += [(server, SpanStore.shop), (work, SpanStore.shop), (client, SpanStore.shop)]
            spans.append((trace.server("/\(request)", below: client.id, at: begun + 29, took: 90), SpanStore.stock))
        }
        app.finish()
        let (here, there) = (try SpanStore(), try await processes(1, engine)[0])
        let set = ReceivedSet(set: Redactor().redacted(app.set()), atMicroseconds: SpanStore.wall)
        var left = (spans + spans.filter { _ in Bool.random(using: &random) }).shuffled(using: &random)
        let turn = Int.random(in: 0...left.count, using: &random)
        while !left.isEmpty {
            if left.count <= turn { _ = try await there.add(set) }
            let batch = left.prefix(Int.random(in: 1...4, using: &random))
            left.removeFirst(batch.count)
            for service in [SpanStore.shop, SpanStore.stock] {
                let its = batch.filter { $0.service == service }.map(\.span)
                guard !its.isEmpty else { continue }
                let expected = try here.add(its, of: service)
                let verdict = try await there.add(request(its, of: service), sentBy: "t1")
                #expect(verdict.knownCount == expected.knownCount && verdict.factCount == expected.factCount)
            }
        }
        _ = try await there.add(set)
        try here.add(app.set())
        let expected = shown(try #require(try here.record(of: trace.transaction)))
        #expect(shown(try await there.transaction("\(trace.transaction)")) == expected)
        try await there.queue.keeper.run(isAlone: true)
        #expect(shown(try await there.transaction("\(trace.transaction)")) == expected)
        #expect(try await there.verify().problems.isEmpty)
        #expect(try await there.transactions(ListRequest()).rows.map(\.id) == [trace.transaction])
        let question = LegsQuestion(filter: TransactionFilter([.useCase(3)]))
        let legs = try await there.answer(.legs(question), where: [])
        let all = try await there.reading { try await $0.answer(.legs(question), where: []) }
        #expect("\(legs)" == "\(all)")
    }

    /// Breaks when spans are duplicated because an exporter got no answer and sent them to another process, or when
    /// half-written spans count.
    @Test func spansThatComeAgainAreKnown() async throws {
        let trace = Trace()
        let spans = request([trace.server("/cart", below: nil), trace.server("/pay", below: nil, at: 5_000)])
        let stores = try await processes(2)
        let (first, second) = (stores[0], stores[1])
        _ = try await first.add(request([trace.server("/home", below: nil, at: -9_000)]), sentBy: "t1")
        let (key, number) = try await first.spanWriter()
        let writer = SpanWriter(key: key, number: number)
        let source = try #require(try await first.sources(ListRequest()).rows.first).id
        let set = try await WorkingSet(first.tables) { try await $0.load([trace.transaction], besides: [source]) }
        let half = try await set.memory().rehearse { store throws(WaybillError) in
            try store.book(spans, sentBy: "t1", by: writer, receivedAt: SpanStore.wall, redactor: Redactor())
        }
        try await first.tables.insert(half.changes.spans, first.queue.place())
        try await first.tables.insertFacts(of: half.changes, receivedAt: SpanStore.wall)
        #expect(try await first.add(spans, sentBy: "t1").acceptedCount == 2)
        let again = try await second.add(spans, sentBy: "t1")
        #expect((again.acceptedCount, again.knownCount, again.factCount) == (0, 2, 0))
        #expect(try await second.transaction("\(trace.transaction)").parts.count == 3)
        // The same spans from another sender are different spans.
        #expect(try await second.add(spans, sentBy: "t2").acceptedCount == 2)
    }

    /// Breaks when spans that wait for their parent are lost after their process has ended, or duplicated because
    /// several other processes look for them.
    @Test(arguments: engines) func spansOfAProcessThatEndedWaitNoLonger(engine: ClickHouseEngine) async throws {
        let trace = Trace()
        let root = trace.server("/cart", below: nil)
        let work = [1, 2, 3].map { trace.span("work \($0)", below: root.id, isRemote: false, at: $0 * 10) }
        let stores = try await processes(3, engine)
        let (first, others) = (stores[0], stores[1...2])
        #expect(try await first.add(request(work), sentBy: "t1").factCount == 0)
        #expect(try await first.settleWaitingSpans() == 0)
        for other in others { #expect(try await other.settleWaitingSpans() == 0) }
        clock.advance(by: .seconds(3660))
        async let one = stores[1].settleWaitingSpans()
        async let two = stores[2].settleWaitingSpans()
        #expect(try await one + two >= 5)
        let record = try await stores[1].transaction("\(trace.transaction)")
        #expect(record.parts.count == 1)
        #expect(record.timeline.filter { $0.kind == .event }.map(\.label) == ["work 1", "work 2", "work 3"])
        #expect(try await stores[2].verify().problems.isEmpty)
        clock.advance(by: .seconds(3660))
        #expect(try await stores[2].settleWaitingSpans() == 0)
    }

    /// Breaks when spans wait for longer than a minute, or when a parent that arrives later than that is lost.
    @Test func spansWaitForAMinute() async throws {
        let trace = Trace()
        let root = trace.server("/cart", below: nil)
        let store = try await processes(1)[0]
        _ = try await store.add(request([trace.span("work", below: root.id, isRemote: false, at: 10)]), sentBy: "t1")
        clock.advance(by: .seconds(30))
        #expect(try await store.settleWaitingSpans() == 0)
        clock.advance(by: .seconds(60))
        #expect(try await store.settleWaitingSpans() == 3)
        #expect(try await store.settleWaitingSpans() == 0)
        #expect(try await store.add(request([root]), sentBy: "t1").acceptedCount == 1)
        let record = try await store.transaction("\(trace.transaction)")
        #expect(record.parts.count == 1)
        #expect(record.timeline.filter { $0.kind == .event }.map(\.label).contains("work"))
    }

    /// Breaks when spans of an erased transaction stay in the database, or come back.
    @Test(arguments: engines) func erasedSpansAreGone(engine: ClickHouseEngine) async throws {
        let (erased, kept) = (Trace(), Trace())
        let store = try await processes(1, engine)[0]
        for trace in [erased, kept] {
            let waiting = trace.span("waits", below: SpanID(rawValue: 9), isRemote: false)
            _ = try await store.add(request([trace.server("/cart", below: nil), waiting]), sentBy: "t1")
        }
        let waits = Trace()
        let alone = request([waits.span("waits", below: SpanID(rawValue: 9), isRemote: false)])
        _ = try await store.add(alone, sentBy: "t1")
        _ = try await store.erase(.transactions([erased.transaction, waits.transaction]))
        let left = try await store.tables.client.rows(
            "SELECT DISTINCT tx FROM spans WHERE \(ClickHouseTables.isOfASource)"
        ) { row in try row.guid() }
        #expect(left == [kept.transaction])
        #expect(try await store.add(request([erased.server("/pay", below: nil)]), sentBy: "t1").acceptedCount == 0)
        clock.advance(by: .seconds(120))
        #expect(try await store.settleWaitingSpans() == 3)
        #expect(try await store.transactions(ListRequest()).rows.map(\.id) == [kept.transaction])
    }

    /// Breaks when a move to a database loses or duplicates spans, or when waiting spans survive an erasure of
    /// everything.
    @Test func spansMoveWithTheirStore() async throws {
        let (folder, trace) = (try TemporaryDirectory(), Trace())
        let old = try SQLiteStore(making: folder.file("old.sqlite"), clock: clock)
        let root = trace.server("/cart", below: nil)
        let waits = Trace()
        let spans = [
            trace.server("/pay", below: nil), trace.span("work", below: root.id, isRemote: false, at: 10),
            waits.span("work", below: SpanID(rawValue: 9), isRemote: false),
        ]
        _ = try await old.add(request(spans), sentBy: "t1")
        let store = try await processes(1)[0]
        _ = try await store.take(from: old) { _, _ in }
        #expect(try await store.add(request(spans), sentBy: "t1").knownCount == 3)
        clock.advance(by: .seconds(3660))
        #expect(try await store.settleWaitingSpans() == 6)
        #expect(try await store.transaction("\(trace.transaction)").parts.count == 2)
        _ = try await store.add(request([Trace().span("waits", below: root.id, isRemote: false)]), sentBy: "t1")
        _ = try await store.erase(.all)
        let left = try await store.tables.client.rows("SELECT count() FROM spans") { row in
            try row.integer(UInt64.self)
        }
        #expect(left == [0])
    }

    /// Breaks when the same bytes of an old app count twice, or when a set that the app sends to another process is
    /// lost or counts as new.
    @Test func setsOfOldAppsAreTaken() async throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../Schemas/examples/legacy/login.json")
        let set = try LegacySet.decode([UInt8](try Data(contentsOf: file)))
        let stores = try await processes(2)
        let (first, second) = (stores[0], stores[1])
        let digests = [1, 2].map { [UInt8](repeating: $0, count: 32) }
        #expect(try await first.add(set, digest: digests[0]).acceptedCount == set.factCount)
        let again = try await second.add(set, digest: digests[0])
        #expect((again.acceptedCount, again.knownCount) == (0, set.factCount))
        #expect(try await second.add(set, digest: digests[1]).acceptedCount == set.factCount)
        let record = try await first.transaction("\(try #require(set.transactions.first).id)")
        #expect(record.parts.map(\.isJoined) == [false, true])
        #expect(record.parts.map { $0.attributes["possibleDuplicate"] } == [nil, true])
        #expect(try await first.verify().problems.isEmpty)
    }

    /// Breaks when a collector with a database accepts less than a collector with a folder.
    @Test func aCollectorTakesThemByHTTP() async throws {
        let (folder, address) = (try TemporaryDirectory(), try await ClickHouseEngine.shared.database())
        let token = try TokenFile(folder: folder.url).add(role: .ingest, project: .standard).secret.fieldValue
        let collector = try await Collector(database: address, tokens: folder.url, access: .tokens)
        let id = GUIDs.next(at: Int64(Date().timeIntervalSince1970 * 1000))
        let now = Int64(Date().timeIntervalSince1970 * 1e6) * 1000
        let spans = """
            {"resourceSpans": [{"resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]}, \
            "scopeSpans": [{"spans": [{"traceId": "\(id.description.filter { $0 != "-" })", "spanId": "00000000000000aa", \
            "name": "nightly sync", "kind": 1, "startTimeUnixNano": "\(now)", "endTimeUnixNano": "\(now + 5_000_000)"}]}]}]}
            """
        let old = try Data(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent().appending(
                path: "../../Schemas/examples/legacy/login.json"))
        try await CollectorServer.run(collector) { server in
            let answer = try await RawClient.send(
                "POST", "/v1/traces", to: server.port,
                headers: ["Authorization": token, "Content-Type": "application/json"], body: Data(spans.utf8))
            #expect(answer.status == 200)
            let other = try await server.post(
                old, type: "application/vnd.fp.apptxnset-v0.0.1+json", headers: ["Authorization": token])
            #expect(other.status == 202)
        }
        let store = try await ClickHouseStore(address)
        #expect(try await store.transaction("\(id)").summary.useCaseName == "nightly sync")
        #expect(try await store.transactions(ListRequest()).rows.count == 2)
    }
}
#endif
