import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillStore
import WaybillTesting

@testable import Waybill

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The app's own hook has the first word in what is recorded, and redaction the last.
@Suite(.timeLimit(.minutes(5))) struct RecordingHookTests {
    typealias Hook = @Sendable (RecordingDraft) -> RecordingDraft?

    private func options(bodies: BodyPolicy? = nil, _ hook: Hook?) -> TransactionManager.Options {
        var options = TransactionManager.Options()
        options.diagnostics = { _ in }
        options.keepsErrorTexts = true
        options.network.bodies = bodies
        options.willRecord = hook
        return options
    }

    private func manager(bodies: BodyPolicy? = nil, _ hook: @escaping Hook) -> TransactionManager {
        .testing(correlatedHosts: ["api.example.com"], options: options(bodies: bodies, hook))
    }

    private func request(_ path: String = "/v1/items", _ fields: [Fact.HeaderField] = []) throws -> ExchangeRequest {
        ExchangeRequest(
            method: "POST", url: try #require(URL(string: "https://api.example.com\(path)")), headerFields: fields)
    }

    // MARK: What reaches the files

    /// Records every kind of draft, with a word of its own in each place.
    private func recordEverything(by tx: TransactionManager) throws {
        let login = tx.begin(Login.self, attributes: ["a": "openedattributeopened"])
        login.log(
            .initiated, error: RecordedError(domain: "Test", code: 1, text: "eventerrorevent"),
            attributes: ["a": "eventattributeevent"])
        login.set("a", "setattributeset")
        let type = Fact.HeaderField(name: "Content-Type", value: "text/plain")
        let exchange = tx.openExchange(
            try request(
                "/requestpathrequest?a=requestqueryrequest", [.init(name: "X-A", value: "requestfieldrequest"), type]),
            in: login)
        exchange.sent(Data("sentbodysent".utf8))
        let elsewhere = try #require(URL(string: "https://api.example.com/answerredirectanswer"))
        exchange.redirected(ExchangeResponse(status: 302), to: elsewhere)
        exchange.responded(
            ExchangeResponse(status: 200, headerFields: [.init(name: "X-A", value: "answerfieldanswer"), type]))
        exchange.received(Data("receivedbodyreceived".utf8))
        exchange.finish(error: RecordedError(domain: "Test", code: 1, text: "answererroranswer"))
        login.finish(
            .failed, error: RecordedError(domain: "Test", code: 1, text: "closederrorclosed"),
            attributes: ["a": "closedattributeclosed"])
    }

    private static let words = [
        "opened": ["openedattributeopened"], "event": ["eventerrorevent", "eventattributeevent"],
        "attributesSet": ["setattributeset"],
        "exchangeOpened": ["requestpathrequest", "requestqueryrequest", "requestfieldrequest"],
        "body": ["sentbodysent", "receivedbodyreceived"],
        "exchangeClosed": ["answerredirectanswer", "answerfieldanswer", "answererroranswer"],
        "closed": ["closederrorclosed", "closedattributeclosed"],
    ]

    private static func kind(_ draft: RecordingDraft) -> String {
        switch draft {
        case .opened: "opened"
        case .event: "event"
        case .closed: "closed"
        case .exchangeOpened: "exchangeOpened"
        case .exchangeClosed: "exchangeClosed"
        case .body: "body"
        case .attributesSet: "attributesSet"
        }
    }

    /// What an app makes of a draft of which it wants to have no word kept.
    private static func emptied(_ draft: RecordingDraft) -> RecordingDraft {
        switch draft {
        case .opened(var opened):
            opened.attributes = [:]
            return .opened(opened)
        case .event(var event):
            (event.error, event.attributes) = (nil, ["b": "changed"])
            return .event(event)
        case .attributesSet(var set):
            set.attributes = [:]
            return .attributesSet(set)
        case .closed(var closed):
            (closed.error, closed.attributes) = (nil, [:])
            return .closed(closed)
        case .exchangeOpened(var request):
            (request.url, request.headerFields) = ("https://api.example.com/changed", [])
            return .exchangeOpened(request)
        case .exchangeClosed(var response):
            (response.headerFields, response.error, response.redirects) = ([], nil, [])
            return .exchangeClosed(response)
        case .body(var body):
            body.bytes = Array("changed".utf8)
            return .body(body)
        }
    }

    /// The words that another process finds in the bytes of journal, WAL and database, and what was withheld.
    private func found(_ hook: Hook?) async throws -> (words: Set<String>, places: Set<String>, withheld: Int) {
        let folder = try TemporaryDirectory()
        let options = options(bodies: BodyPolicy(), hook)
        var settings = RecordingSettings(
            store: .directory(folder.file("store")), correlatedHosts: [], options: options)
        // So that what comes after the first sync stays in the journal.
        settings.writesByItself = false
        let tx = TransactionManager(settings: settings, delivery: nil, diagnostics: { _ in })
        try recordEverything(by: tx)
        _ = try await tx.list()  // bodies have passed the queue where they are redacted
        try await tx.sync()
        try recordEverything(by: tx)
        let words = Self.words.values.joined()
        try Data(words.map { "\($0)\t\($0)\n" }.joined().utf8).write(to: folder.file("secrets"))
        let (output, status) = try await ChildProcess("TestProcess", ["hunt", folder.url.path()]).finished()
        #expect(status == 0)
        let lines = output.split(separator: "\n").map { $0.split(separator: "\t").map(String.init) }
        return (
            Set(lines.compactMap(\.first)), Set(lines.compactMap(\.last)),
            withExtendedLifetime(tx) { tx.health.withheld }
        )
    }

    /// Broken, the other tests that look for words would prove nothing, as there would be none to find.
    @Test func whatTheHookKeepsIsInTheFiles() async throws {
        let (words, places, withheld) = try await found { $0 }
        #expect(words == Set(Self.words.values.joined()))
        #expect(places.contains { $0.hasPrefix("journal") }, "\(places)")
        #expect(withheld == 0)
    }

    /// Broken, what an app takes out would still be on the disk of whoever finds the device.
    @Test(arguments: words.keys.sorted()) func whatTheHookChangesIsInNoFile(kind: String) async throws {
        let (words, _, withheld) = try await found { Self.kind($0) == kind ? Self.emptied($0) : $0 }
        #expect(words == Set(Self.words.filter { $0.key != kind }.values.joined()))
        #expect(withheld == 0)
    }

    /// Broken, what an app does not want recorded would be, or more than that would be missing.
    @Test(arguments: words.keys.sorted()) func whatTheHookWithholdsIsInNoFileAndIsCounted(kind: String) async throws {
        let (words, _, withheld) = try await found { Self.kind($0) == kind ? nil : $0 }
        let (gone, count) =
            switch kind {
            case "opened": (Set(Self.words.keys), 4)  // with it its event, its attributes and its exchange
            case "exchangeOpened": (["exchangeOpened", "exchangeClosed", "body"], 1)
            case "body": (["body"], 2)
            default: ([kind], 1)
            }
        #expect(words == Set(Self.words.filter { !gone.contains($0.key) }.values.joined()))
        #expect(withheld == 2 * count, "it was all recorded twice")
    }

    // MARK: What the hook cannot do

    /// Broken, an app could take out a secret here and put another in there.
    @Test func whatTheHookAddsIsRedacted() async throws {
        let tx = manager(bodies: BodyPolicy()) { draft in
            switch draft {
            case .opened(var opened):
                opened.attributes = ["password": "hunter2"]
                return .opened(opened)
            case .event(var event):
                event.error = RecordedError(code: 1, text: "Bearer abcdefgh12345678")
                return .event(event)
            case .attributesSet(var set):
                set.attributes = ["password": "hunter2"]
                return .attributesSet(set)
            case .closed(var closed):
                closed.attributes = ["note": "token=abcdefgh12345678"]
                return .closed(closed)
            case .exchangeOpened(var request):
                request.url += "?token=abcdefgh12345678"
                request.headerFields.append(.init(name: "Authorization", value: "hunter2"))
                return .exchangeOpened(request)
            case .exchangeClosed(var response):
                response.headerFields.append(.init(name: "Set-Cookie", value: "hunter2"))
                return .exchangeClosed(response)
            case .body(var body):
                body.bytes = Array(#"{"password":"hunter2"}"#.utf8)
                return .body(body)
            }
        }
        let login = tx.begin(Login.self)
        login.log(.initiated)
        let exchange = tx.openExchange(try request(), in: login)
        exchange.responded(
            ExchangeResponse(status: 200, headerFields: [.init(name: "Content-Type", value: "text/json")]))
        exchange.received(Data("{}".utf8))
        exchange.finish()
        login.finish()
        let record = try #require(tx.transactions(Login.self).first)
        let body = try await tx.body(of: try #require(record.exchanges.first?.id), .response)
        #expect(body.map { String(decoding: $0.bytes, as: UTF8.self) } == #"{"password":"[redacted]"}"#)
        let all = "\(record)"
        #expect(!all.contains("hunter2") && !all.contains("abcdefgh"), "\(all)")
        #expect(all.components(separatedBy: "[redacted]").count > 5)
    }

    /// Broken, an app's mistake would put what belongs to one transaction into another.
    @Test func whichEventItIsCannotBeChanged() throws {
        let first = Locked<RecordingDraft?>(nil)
        let tx = manager { draft in
            guard case .event = draft else { return draft }
            return first.withLock { first in
                first = first ?? draft
                return first
            }
        }
        let (one, other) = (tx.begin(Login.self), tx.begin(Login.self))
        one.log(.initiated, attributes: ["of": "one"])
        other.log(.requestSent, attributes: ["of": "other"])
        let records = tx.transactions(Login.self)
        let events = records.map { $0.timeline.filter { $0.kind == .event } }
        #expect(events.map { $0.map(\.code) } == [[0], [1]])
        #expect(events.map { $0.map(\.attributes) } == [[["of": "one"]], [["of": "one"]]])
    }

    /// Broken, the answer to another question would be recorded as the answer to this one.
    @Test func aDraftOfAnotherCaseCountsAsWithheld() throws {
        let tx = manager { draft in
            guard case .event(let event) = draft else { return draft }
            return .closed(
                .init(transaction: event.transaction, useCase: event.useCase, outcome: .failed, attributes: [:]))
        }
        let login = tx.begin(Login.self)
        #expect(login.log(.initiated) == .withheld)
        #expect(tx.health.withheld == 1)
        #expect(tx.transactions(Login.self).first?.timeline.map(\.kind) == [.opened])
    }

    // MARK: Counting

    /// Broken, a collector would look for facts that there never were, or call them lost.
    @Test func whatIsWithheldLeavesNoGapInTheSequence() async throws {
        let transport = InMemoryTransport()
        let tx = manager { draft in
            guard case .event(let event) = draft else { return draft }
            return event.code == Login.requestSent.rawValue ? nil : draft
        }
        tx.delivery = .transport(transport)
        tx.perform(Login.self) { login in
            for event in [Login.initiated, .requestSent, .responseReceived, .requestSent] { login.log(event) }
        }
        #expect(await tx.flush().error == nil)
        let share = try #require(transport.sets.first?.sources.first)
        #expect(share.facts.map(\.sequence) == [1, 2, 3, 4])
        #expect(share.ledger.recorded == 4 && share.ledger.isBalanced && share.ledger.refused == 0)
        #expect(share.dropped.isEmpty)
        #expect(tx.health.withheld == 2 && tx.health.isGood)
    }

    @Test func ofATransactionThatIsWithheldNothingIsRecordedAndNothingTellsOfIt() throws {
        let tx = manager { draft in if case .opened = draft { nil } else { draft } }
        let login = tx.begin(Login.self)
        #expect(login.log(.initiated) == .withheld)
        let exchange = tx.openExchange(try request(), in: login)
        #expect(!exchange.isRecorded && exchange.headers.isEmpty)
        let url = try request().url
        #expect(login.headers(for: url).isEmpty)
        login.finish()
        #expect(try tx.allRecords().isEmpty)
        #expect(tx.health.withheld == 3)
        #expect(tx.health.refused == 0)
    }

    /// Broken, each ending that an app withholds would take room for ever, until nothing is recorded any more.
    @Test func whatIsWithheldHoldsNoRoom() async throws {
        var options = options { draft in if case .closed = draft { nil } else { draft } }
        options.memoryCapacity = 16
        let tx = TransactionManager.testing(options: options)
        for number in 1...40 {
            let login = tx.begin(Login.self)
            login.log(.initiated)
            login.finish()
            try await tx.sync()
            #expect(tx.health.refused == 0, "after \(number)")
        }
        #expect(tx.health.withheld == 40)
    }

    @Test func nothingIsAskedWhileRecordingIsOff() throws {
        let asked = Locked(0)
        let tx = manager { draft in
            asked.withLock { $0 += 1 }
            return draft
        }
        let login = tx.begin(Login.self)
        tx.recording = .off
        #expect(login.log(.initiated) == .off)
        login.finish()
        #expect(asked.withLock { $0 } == 1)
        #expect(tx.health.withheld == 0)
    }

    // MARK: Threads

    /// Broken, a hook that records would ask itself without end, or wait for itself.
    @Test func aHookCanRecord() async throws {
        let (manager, asked, tasks) = (
            Locked<TransactionManager?>(nil), Locked(0), Locked<[Task<LogResult, Never>]>([])
        )
        let tx = self.manager { draft in
            asked.withLock { $0 += 1 }
            guard let tx = manager.withLock({ $0 }) else { return draft }
            _ = tx.health
            tx.perform(Purchase.self) { purchase in
                purchase.log(.started)
                guard let request = ExchangeRequest(URLRequest(url: URL(filePath: "/"))) else { return }
                let exchange = tx.openExchange(request)
                exchange.responded(ExchangeResponse(status: 200))
                exchange.finish()
            }
            let purchase = tx.begin(Purchase.self)
            tasks.withLock { $0.append(Task { purchase.log(.paid) }) }
            return draft
        }
        manager.withLock { $0 = tx }
        let login = tx.begin(Login.self)
        login.log(.initiated)
        let exchange = tx.openExchange(try request(), in: login)
        exchange.finish()
        login.finish()
        for task in tasks.withLock({ $0 }) { #expect(await task.value != .off) }
        #expect(asked.withLock { $0 } == 5)
        #expect(tx.transactions(Login.self).first?.timeline.count == 5)
        #expect(tx.events(Purchase.self).count == 10, "what the hook records is recorded")
        manager.withLock { $0 = nil }
    }

    /// Broken, what an app does in one place would hold up all others.
    @Test func aSlowHookHoldsUpNobodyElse() async throws {
        let (isInside, goOn) = (Gate(), Gate())
        let tx = manager { draft in
            guard case .event(let event) = draft, event.code == Login.requestSent.rawValue else { return draft }
            isInside.open()
            _ = goOn.wait(within: .seconds(120))
            return draft
        }
        let login = tx.begin(Login.self)
        let isOver = Gate()
        Thread.detachNewThread {
            login.log(.requestSent)
            isOver.open()
        }
        await isInside.opened()
        #expect(login.log(.initiated) == .inMemory)
        #expect(tx.begin(Purchase.self).log(.started) == .inMemory)
        #expect(!isOver.isOpen)
        goOn.open()
        await isOver.opened()
        #expect(tx.events(Login.self) == [.initiated, .requestSent], "it is recorded when the hook has answered")
    }

    /// Broken, a server that works on several things at once would be ended by the Swift runtime.
    @Test func theHookRunsInTheBodyOfATaskGroup() async throws {
        let tx = manager { $0 }
        let login = tx.begin(Login.self)
        await withTaskGroup(of: Void.self) { group in
            login.log(.initiated)
            group.addTask { login.log(.requestSent) }
            login.log(.responseReceived)
        }
        #expect(tx.events(Login.self).count == 3)
    }

    // MARK: Exchanges and bodies

    /// Broken, a way of capturing would record what the app has taken out for all others.
    @Test(arguments: WayIn.all) func everyWayOfCapturingAsks(way: WayIn) async throws {
        let server = try LoopbackServer { _ in .init(headers: [("X-Answer", "private")], body: Data("hello".utf8)) }
        let drafts = Locked<[RecordingDraft]>([])
        let tx = manager { draft in
            drafts.withLock { $0.append(draft) }
            switch draft {
            case .exchangeOpened(var request):
                request.url = request.url.replacing("private", with: "changed")
                return .exchangeOpened(request)
            case .exchangeClosed(var response):
                response.headerFields.removeAll { $0.name.lowercased() == "x-answer" }
                return .exchangeClosed(response)
            case .opened, .event, .attributesSet, .closed, .body: return draft
            }
        }
        try await tx.perform(Login.self) { _ in
            _ = try await way.send(WayIn.Call(request: URLRequest(url: server.url("/a?b=private"))), tx)
        }
        #expect(server.requests.map(\.path) == ["/a?b=private"], "what is sent is not changed")
        // Some of them tell of the end after the caller has its answer.
        try await eventually("the exchange is over") { try tx.allRecords().flatMap(\.exchanges).first?.status == 200 }
        let records = try tx.allRecords().flatMap(\.exchanges)
        #expect(!"\(records)".contains("private") && records.map(\.url).allSatisfy { $0.hasSuffix("/a?b=changed") })
        let closed = drafts.withLock { $0 }.compactMap { draft in
            if case .exchangeClosed(let closed) = draft { closed } else { nil }
        }
        #expect(closed.count == 1)
        #expect(closed.first?.request.url.hasSuffix("/a?b=changed") == true, "the end knows its request")
        #expect(closed.first?.status == 200)
    }

    /// Broken, a server would record what its app takes out.
    @Test func aServersExchangeIsAsked() throws {
        let asked = Locked<RecordingDraft.ExchangeOpened?>(nil)
        let tx = manager { draft in
            guard case .exchangeOpened(var request) = draft else { return draft }
            asked.withLock { $0 = request }
            request.url = request.url.replacing("/patients/17", with: "/patients/*")
            return .exchangeOpened(request)
        }
        let login = tx.begin(Login.self)
        let exchange = tx.openServerExchange(
            method: "GET", authority: "api.example.com:8080", target: "/patients/17?step=1", in: login)
        exchange.finish()
        let request = try #require(asked.withLock { $0 })
        #expect(request.role == .server && request.transaction == login.id)
        #expect(request.url == "//api.example.com:8080/patients/17?step=1")
        #expect(tx.exchanges.map(\.url) == ["api.example.com:8080/patients/*?step=1"])
    }

    @Test func aRequestThatIsWithheldIsSentWithTheHeaderFieldWithoutANumber() throws {
        let tx = manager { draft in if case .exchangeOpened = draft { nil } else { draft } }
        let login = tx.begin(Login.self)
        let exchange = tx.openExchange(try request(), in: login)
        let told = try #require(exchange.headers["Waybill-Transaction"].flatMap { TransactionHeader(parsing: $0) })
        #expect(told.transaction == login.id && told.exchange == nil)
        exchange.finish()
        #expect(tx.exchanges.isEmpty && tx.health.withheld == 1)
    }

    private func receive(_ body: Data, encoding: String? = nil, by tx: TransactionManager, inPiecesOf size: Int = 7)
        throws
        -> Fact.ID
    {
        let exchange = tx.openExchange(try request())
        var fields = [Fact.HeaderField(name: "Content-Type", value: "text/plain")]
        if let encoding { fields.append(.init(name: "Content-Encoding", value: encoding)) }
        exchange.responded(ExchangeResponse(status: 200, headerFields: fields))
        for start in stride(from: 0, to: body.count, by: size) {
            exchange.received(body.dropFirst(start).prefix(size))
        }
        exchange.finish()
        return Fact.ID(source: try #require(tx.sources.current?.id), sequence: exchange.sequence)
    }

    /// Broken, an app would have to put together what it wants to look for.
    @Test func aBodyIsSeenOnceAndWholeWhereItFits() async throws {
        var policy = BodyPolicy()
        policy.maximumByteCount = 100
        let seen = Locked<[RecordingDraft.Body]>([])
        let tx = manager(bodies: policy) { draft in
            guard case .body(var body) = draft else { return draft }
            seen.withLock { $0.append(body) }
            body.bytes = Array(String(decoding: body.bytes, as: UTF8.self).replacing("Ada", with: "N.N.").utf8)
            return .body(body)
        }
        let line = "Ada was here.\n"
        let whole = try receive(Data(line.utf8), by: tx)
        let long = try receive(Data(String(repeating: line, count: 10).utf8), by: tx)
        let kept = try #require(try await tx.body(of: whole, .response))
        #expect(String(decoding: kept.bytes, as: UTF8.self) == "N.N. was here.\n" && kept.isWhole)
        let cut = try #require(try await tx.body(of: long, .response))
        #expect(cut.omission == .limit && cut.byteCount == 140 && cut.bytes.count <= 100)
        #expect(!String(decoding: cut.bytes, as: UTF8.self).contains("Ada"))
        #expect(cut.hash == nil, "it would tell of what was taken out")
        let bodies = seen.withLock { $0 }
        #expect(bodies.map(\.isWhole) == [true, false] && bodies.map(\.bytes.count) == [14, 100])
        #expect(bodies.map(\.byteCount) == [14, 140] && bodies.map(\.contentType) == ["text/plain", "text/plain"])
        #expect(bodies.allSatisfy { $0.direction == .response && $0.request.url.hasSuffix("/v1/items") })
        #expect(tx.sources.current?.writer.bodies.byteCount == 0, "all room that was reserved is given back")
    }

    /// Broken, a hook could fill a disk that the policy protects.
    @Test func whatTheHookMakesOfABodyIsCutAtTheLimit() async throws {
        var policy = BodyPolicy()
        policy.maximumByteCount = 100
        let tx = manager(bodies: policy) { draft in
            guard case .body(var body) = draft else { return draft }
            body.bytes = [UInt8](repeating: UInt8(ascii: "\n"), count: 1000)
            return .body(body)
        }
        let id = try receive(Data("short\n".utf8), by: tx)
        let body = try #require(try await tx.body(of: id, .response))
        #expect(body.bytes.count == 100 && body.omission == .limit && body.byteCount == 6)
    }

    @Test func aBodyThatIsWithheldGivesItsRoomBack() async throws {
        let tx = manager(bodies: BodyPolicy()) { draft in if case .body = draft { nil } else { draft } }
        let id = try receive(Data(String(repeating: "line\n", count: 20_000).utf8), by: tx, inPiecesOf: 10_000)
        #expect(try await tx.body(of: id, .response) == nil)
        #expect(tx.health.withheld == 1)
        #expect(tx.sources.current?.writer.bodies.byteCount == 0)
    }

    /// Broken, an app would be asked about bytes that it cannot read and that are not kept.
    @Test func aBodyThatIsStillCompressedIsNotAskedAbout() async throws {
        let asked = Locked(0)
        let tx = manager(bodies: BodyPolicy()) { draft in
            if case .body = draft { asked.withLock { $0 += 1 } }
            return draft
        }
        let zipped = Data([
            0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0xAB, 0x56, 0x2A, 0xC9, 0xCF, 0x4E,
        ])
        let id = try receive(zipped, encoding: "gzip", by: tx)
        #expect(try await tx.body(of: id, .response)?.omission == .encoding)
        #expect(asked.withLock { $0 } == 0)
        let decoded = try receive(Data("decoded already, as platforms do\n".utf8), encoding: "gzip", by: tx)
        #expect(try await tx.body(of: decoded, .response)?.isWhole == true)
        #expect(asked.withLock { $0 } == 1)
    }
}
