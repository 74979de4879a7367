import TestSupport
import Testing
import WaybillCore

@testable import WaybillQueries
@testable import WaybillStore

@Suite(.timeLimit(.minutes(5))) struct ReadingTests {
    private let store: Store
    private let reader: StoreReader
    private let client = FactWriter("client")
    private let server = FactWriter("server")

    init() throws {
        let place: ResolvedLocation
        (store, place) = try Store.inMemory()
        reader = try StoreReader(place)
    }

    // MARK: Lists

    /// Breaks when a page skips or repeats a line because something arrived between two pages, or because times are
    /// equal.
    @Test func pagesNeitherSkipNorRepeatWhileTransactionsArrive() throws {
        let ids = (0..<10).map { _ in GUID() }
        for (index, id) in ids.enumerated() { client.open(id, at: index / 2) }
        try store.ingest(client.set())
        var seen: [GUID] = []
        var cursor: String?
        try eventually("the last page comes") {
            let page = try reader.transactions(
                matching: TransactionFilter(), limit: 3, after: cursor, now: FactWriter.wall)
            #expect(page.rows.count <= 3)
            seen += page.rows.map(\.id)
            cursor = page.next
            let newer = FactWriter()
            newer.open(GUID(), at: 1_000)
            try store.ingest(newer.set())
            return cursor == nil
        }
        #expect(seen == ids.reversed())
    }

    /// Breaks when a cursor from elsewhere crashes or is mistaken for the start.
    @Test(arguments: ["", "1.2", "a.b.c", "1.2.3.4", "99999999999999999999.1.1"])
    func aCursorThatNoListGaveIsRefused(_ cursor: String) {
        #expect(throws: WaybillError.self) {
            try reader.transactions(matching: TransactionFilter(), limit: 3, after: cursor, now: 0)
        }
    }

    /// Breaks when a stored or derived outcome is not found under its own name, or is found under another.
    @Test func everyOutcomeIsFoundUnderItsOwnNameOnly() throws {
        var ids: [TransactionOutcome: GUID] = [:]
        for outcome in TransactionOutcome.allCases where outcome != .interrupted {
            let id = GUID()
            ids[outcome] = id
            let part = client.open(id, timeout: outcome == .timedOut ? 10_000_000 : 3_600_000_000)
            if outcome.isRecorded { client.close(part, outcome) }
        }
        try store.ingest(client.set())
        let dead = FactWriter()
        ids[.interrupted] = GUID()
        dead.open(try #require(ids[.interrupted]), timeout: 1)
        try store.ingest(dead.set(ended: true))

        let now = FactWriter.wall + 100_000_000
        for (outcome, id) in ids {
            let filter = TransactionFilter([.outcome([outcome])])
            let found = try reader.all(filter, at: now)
            #expect(found.map(\.id) == [id] && found.map(\.outcome) == [outcome])
            #expect(try reader.transaction(id, now: now)?.summary.outcome == outcome)
        }
        let filter = TransactionFilter([.outcome([.open, .timedOut, .failed])])
        #expect(
            Set(try reader.all(filter, at: now).map(\.id))
                == Set([TransactionOutcome.open, .timedOut, .failed].compactMap { ids[$0] }))
        let both = TransactionFilter([.outcome([.open, .failed]), .outcome([.failed, .cancelled])])
        #expect(try reader.all(both, at: now).map(\.id) == [ids[.failed]])
        let neither = TransactionFilter([.outcome([.open]), .outcome([.failed])])
        #expect(try reader.all(neither, at: now).isEmpty)
        let others = TransactionFilter([.not(.outcome([.open, .timedOut]))])
        #expect(
            Set(try reader.all(others, at: now).map(\.id))
                == Set(ids.filter { $0.key != .open && $0.key != .timedOut }.values))
        #expect(try reader.all(TransactionFilter([.outcome([])]), at: now).count == ids.count)
    }

    /// Breaks when a transaction counts as timed out while another source still records into it, or never does.
    @Test func itTimesOutWhenNoSourceHasRecordedForTheTimeout() throws {
        let id = GUID()
        client.open(id, timeout: 10_000_000, at: 0)
        let part = server.open(id, joined: true, at: 1)
        server.event(1, part: part, at: 8)
        try store.ingest(client.set())
        try store.ingest(server.set())
        #expect(try reader.all(at: FactWriter.wall + 18_000_000).map(\.outcome) == [.open])
        #expect(try reader.all(at: FactWriter.wall + 18_000_001).map(\.outcome) == [.timedOut])
    }

    /// Breaks when a condition is not applied, or its boundary is on the wrong side.
    @Test func listsGoByUseCaseAndTimeOfBeginning() throws {
        for second in 0..<4 { client.open(GUID(), useCase: second % 2, at: second) }
        try store.ingest(client.set())
        func seconds(_ change: (inout TransactionFilter) -> Void) throws -> [Int64] {
            var filter = TransactionFilter()
            change(&filter)
            return try reader.all(filter).map { ($0.begunMicroseconds - FactWriter.wall) / 1_000_000 }
        }
        #expect(try seconds { _ in } == [3, 2, 1, 0])
        #expect(try seconds { $0.conditions.append(.useCase(1)) } == [3, 1])
        #expect(try seconds { $0.conditions.append(.sinceMicroseconds(FactWriter.wall + 1_000_000)) } == [3, 2, 1])
        #expect(try seconds { $0.conditions.append(.untilMicroseconds(FactWriter.wall + 1_000_000)) } == [0])
        #expect(
            try seconds {
                $0.conditions.append(.useCase(0))
                $0.conditions.append(.sinceMicroseconds(FactWriter.wall + 1))
            } == [2])
    }

    /// Breaks when a search misses data that people look for, or matches words of the format.
    @Test(arguments: [
        "gold", "PLAN", "acct 7", "Domain_X", "it's 100% \"broken\"", "EXAMPLE.com/log", "q=1", "x-trace", "tuv",
        "purchase", "paid",
    ])
    func textIsFoundWhereverPeopleSeeIt(_ text: String) throws {
        client.names = [
            RecordedName(useCase: 5, name: "Purchase"), RecordedName(useCase: 5, event: 2, name: "wasPaid"),
        ]
        let id = GUID()
        let part = client.open(id, useCase: 5, attributes: ["Plan": "Gold"])
        client.event(
            2, part: part, error: RecordedError(domain: "Domain_X", code: 4), attributes: ["account": "Acct 7"])
        let exchange = client.openExchange(
            Fact.ExchangeOpened(
                method: "GET", host: "api.example.com", path: "/login", query: "q=1",
                headerFields: [HeaderField(name: "X-Trace", value: "tuv")]),
            part: part)
        client.closeExchange(Fact.ExchangeClosed(exchange: exchange, state: .completed, status: 200), part: part)
        client.close(part, .failed, error: RecordedError(code: 1, text: "it's 100% \"broken\""))
        client.open(GUID(), useCase: 6)
        try store.ingest(client.set())
        func found(_ text: String) throws -> [GUID] {
            let filter = TransactionFilter([.text(text)])
            return try reader.all(filter).map(\.id)
        }
        #expect(try found(text) == [id])
        #expect(try found(id.description.uppercased()) == [id])
        #expect(try found(String(id.description.suffix(9))) == [id])
        #expect(try found(id.supportCode.description.lowercased()) == [id])
        for word in ["attributes", "error_domain", "headers", "DomainAX", "\\", "' OR 1"] {
            #expect(try found(word) == [], "\(word)")
        }
        #expect(try reader.transactionIDs(with: id.supportCode, limit: 2) == [id])
    }

    /// Breaks when a code is shown although a name is known, or when the name of another app's version is preferred.
    @Test func namesAreThoseOfTheAppElseOfAnyElseTheCode() throws {
        client.names = [RecordedName(useCase: 1, name: "of client"), RecordedName(useCase: 1, event: 4, name: "four")]
        let other = FactWriter("another", version: "2")
        other.names = [RecordedName(useCase: 1, name: "of another"), RecordedName(useCase: 2, name: "only of another")]
        let id = GUID()
        let part = client.open(id, useCase: 1)
        client.event(4, part: part)
        client.event(5, part: part)
        client.open(GUID(), useCase: 2)
        client.open(GUID(), useCase: 3)
        try store.ingest(other.set())
        try store.ingest(client.set())
        #expect(try reader.all().map(\.useCaseName) == ["use case 3", "only of another", "of client"])
        #expect(try reader.transaction(id, now: 0)?.timeline.map(\.label) == ["begun", "four", "event 5"])
        #expect(
            try reader.names().filter { $0.event == nil } == [
                RecordedName(useCase: 1, name: "of another"), RecordedName(useCase: 1, name: "of client"),
                RecordedName(useCase: 2, name: "only of another"),
            ])
    }

    // MARK: One transaction

    /// Breaks when two sources' facts are not merged into one timeline, or the exchange that caused a part is lost.
    @Test func aTransactionIsMergedFromAllItsSources() throws {
        let id = GUID()
        client.names = [RecordedName(useCase: 0, event: 1, name: "requestSent")]
        let part = client.open(id, attributes: ["variant": "B"], at: 0)
        client.event(1, part: part, at: 1)
        let request = Fact.ExchangeOpened(
            method: "POST", scheme: "https", host: "api.example.com", port: 8443, path: "/login", query: "a=1",
            headerFields: [HeaderField(name: "Accept", value: "*/*")])
        let exchange = client.openExchange(request, part: part, at: 2)
        let cause = FactID(source: client.id, sequence: exchange)
        let joined = server.open(id, joined: true, cause: cause, at: 3)
        server.event(7, part: joined, error: RecordedError(domain: "D", code: 5), at: 4)
        server.close(joined, .failed, at: 5)
        let response = Fact.ExchangeClosed(
            exchange: exchange, state: .completed, status: 401, firstByteAtMicroseconds: 5_500_000, sentByteCount: 3,
            receivedByteCount: 4)
        client.closeExchange(response, part: part, at: 6)
        client.close(part, .failed, error: RecordedError(code: 401), at: 7)
        client.event(1, part: part, at: 8)
        try store.ingest(server.set())
        try store.ingest(client.set())

        let record = try #require(try reader.transaction(id, now: FactWriter.wall))
        #expect(
            record.timeline.map(\.label) == [
                "begun", "requestSent", "POST /login", "joined", "event 7", "failed", "401", "failed", "requestSent",
            ])
        #expect(record.timeline.map { ($0.timeMicroseconds - FactWriter.wall) / 1_000_000 } == Array(0...8))
        #expect(record.timeline.map(\.isLate) == [false, false, false, false, false, false, false, false, true])
        #expect(record.timeline.filter { $0.exchange == cause }.map(\.kind) == [.exchangeBegun, .exchangeFinished])
        #expect(record.sources.map(\.app) == ["client", "server"])
        #expect(
            record.parts.map(\.id) == [
                FactID(source: client.id, sequence: part), FactID(source: server.id, sequence: joined),
            ])
        #expect(record.parts.map(\.cause) == [nil, cause] && record.parts.map(\.isJoined) == [false, true])
        #expect(record.summary.outcome == .failed && record.summary.durationMicroseconds == 7_000_000)
        #expect(record.summary.sourceCount == 2 && record.summary.eventCount == 3 && record.summary.exchangeCount == 1)
        let shown = try #require(record.exchanges.first)
        #expect(
            shown.url == "https://api.example.com:8443/login?a=1" && shown.status == 401 && shown.state == .completed)
        #expect(
            shown.firstByteMicroseconds == FactWriter.wall + 5_500_000
                && shown.closedMicroseconds == FactWriter.wall + 6_000_000)
        #expect(
            shown.requestHeaderFields == request.headerFields && shown.sentByteCount == 3
                && shown.receivedByteCount == 4)
        #expect(try reader.transaction(GUID(), now: 0) == nil)
    }

    /// Breaks when a clock that was set back reverses a source's own order, or when two sources with equal times appear
    /// in random order.
    @Test func theOrderWithinASourceHoldsWhateverItsClockSays() throws {
        let id = GUID()
        let part = client.open(id, at: 0)
        client.clocks.append(ClockAnchor(atMicroseconds: 1_500_000, offsetMicroseconds: FactWriter.wall - 60_000_000))
        client.event(1, part: part, at: 1)
        client.event(2, part: part, at: 2)  // a minute back
        client.event(3, part: part, at: 3)
        let joined = server.open(id, joined: true, at: 1)
        server.event(9, part: joined, at: 70)
        try store.ingest(client.set())
        try store.ingest(server.set())
        let timeline = try #require(try reader.transaction(id, now: FactWriter.wall)).timeline
        #expect(timeline.filter { $0.id.source == client.id }.map(\.id.sequence) == [1, 2, 3, 4])
        // The client's facts 2 to 4 and the server's first share one second. The source's ID breaks the tie.
        let tied =
            client.id < server.id
            ? ["event 1", "event 2", "event 3", "joined"] : ["joined", "event 1", "event 2", "event 3"]
        #expect(timeline.map(\.label) == ["begun"] + tied + ["event 9"])
    }

    /// Breaks when a fact that was recorded later than it happened appears at the time of recording, raw or aligned;
    /// also if a clock that was set back gives several facts the same time.
    @Test func whatIsRecordedLaterStandsWhereItHappened() throws {
        let id = GUID()
        let part = client.open(id, at: 0)
        client.event(3, part: part, at: 20)
        client.event(1, part: part, at: 12)
        client.event(2, part: part, at: 11)
        client.clocks.append(ClockAnchor(atMicroseconds: 10_000_000, offsetMicroseconds: FactWriter.wall - 60_000_000))
        server.open(id, joined: true, at: 21)
        for writer in [client, server] { try store.ingest(writer.set()) }
        let record = try #require(try reader.transaction(id, now: FactWriter.wall))
        let aligned = ClockAlignment(reference: client.id, offsets: []).aligning(record)
        for timeline in [record.timeline, aligned.timeline] {
            #expect(timeline.filter { $0.id.source == client.id }.map(\.id.sequence) == [1, 4, 3, 2])
        }
    }

    /// Breaks when an exchange in progress, or one whose opening has not arrived, can't be shown.
    @Test func exchangesMayBeHalfKnown() throws {
        let id = GUID()
        let part = client.open(id)
        client.openExchange(Fact.ExchangeOpened(role: .server, method: "GET", path: "/a"), part: part)
        let lost = client.openExchange(part: part)
        client.closeExchange(
            Fact.ExchangeClosed(
                exchange: lost, state: .failed, error: RecordedError(domain: "NSURLErrorDomain", code: -1001)),
            part: part)
        try store.ingest(client.set(1...2))
        try store.ingest(client.set(4...4))
        let record = try #require(try reader.transaction(id, now: FactWriter.wall))
        #expect(
            record.exchanges.map(\.url) == ["/a"] && record.exchanges.map(\.state) == [nil]
                && record.exchanges.map(\.role) == [.server])
        #expect(record.timeline.map(\.label) == ["begun", "GET /a", "failed"])
        #expect(record.summary.exchangeCount == 1)
    }
}
