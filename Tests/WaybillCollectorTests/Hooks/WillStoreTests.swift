#if Collector
import Foundation
import TestSupport
import Testing
import Waybill
@testable import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillQueries
import WaybillStore

/// The host of a collector changes or withholds facts before they are stored. The tests send real requests.
@Suite(.timeLimit(.minutes(5))) struct WillStoreTests {
    private let folder: TemporaryDirectory
    private let login = LoginHistory()
    private let drafts = Locked<[RecordingDraft]>([])
    private let origins = Locked<[Collector.Origin]>([])

    init() throws { folder = try TemporaryDirectory() }

    private typealias Hook = @Sendable (RecordingDraft) -> RecordingDraft?

    private func serving(_ hook: @escaping Hook, _ body: (CollectorServer) async throws -> Void) async throws {
        let collector = try Collector(
            folder: folder.url, access: .open,
            willStore: { [drafts, origins] draft, origin in
                drafts.withLock { $0.append(draft) }
                origins.withLock { $0.append(origin) }
                return hook(draft)
            })
        try await CollectorServer.run(collector, body)
        try check()
    }

    /// Verifies the ledgers at the end of every test.
    private func check() throws {
        let verification = try StoreReader(.folder(folder.url)).verify()
        #expect(verification.isSound, "\(verification.problems)")
    }

    private func ledger(_ server: CollectorServer) async throws -> Ledger {
        let page: RecordPage<SourceRecord> = try await server.value("/v1/sources")
        for source in page.rows { #expect(source.ledger.isBalanced && source.gaps.isEmpty) }
        return try #require(page.rows.first).ledger
    }

    /// Breaks when the host isn't asked about a fact, or doesn't learn which transaction and source it belongs to.
    @Test func everyNewFactIsAskedAboutOnce() async throws {
        let hook: Hook = { $0 }
        try await serving(hook) { server async throws in
            let set = login.clientSet()
            #expect(try await server.post(set).acceptedCount == 6)
            #expect(try await server.post(set).knownCount == 6)
            let drafts = drafts.withLock { $0 }
            #expect(drafts.count == 6)
            guard case .opened(let opened) = drafts[0], case .event(let event) = drafts[1],
                case .exchangeOpened(let request) = drafts[2], case .exchangeClosed(let response) = drafts[3],
                case .closed(let closed) = drafts[5]
            else {
                Issue.record("\(drafts)")
                return
            }
            #expect(opened.transaction == login.transaction && opened.attributes == ["variant": "B"])
            #expect(event.transaction == login.transaction && event.useCase == 0 && event.name == "requestSent")
            #expect(request.url == "https://api.example.com/login" && request.transaction == login.transaction)
            #expect(response.request == request && response.status == 401)
            #expect(closed.outcome == .failed && closed.error?.code == 3)
            let origin = try #require(origins.withLock { $0.first })
            #expect(origin.project == "waybill" && origin.source == login.client.id)
            #expect(origin.app == "app" && origin.appVersion == "1.2")
        }
    }

    /// Breaks when something that the host removed is stored, or its additions escape redaction and the limits.
    @Test func aChangedFactIsStoredRedactedAndWithinTheLimits() async throws {
        let hook: Hook = { draft in
            switch draft {
            case .opened(var opened):
                opened.attributes = ["password": "hunter2"]
                let long = String(repeating: "x", count: 5_000)
                for number in 0..<100 { opened.attributes["a\(number)"] = .string(long) }
                return .opened(opened)
            case .exchangeOpened(var request):
                request.url = "https://example.com:8443/other?token=abc"
                request.headerFields = [HeaderField(name: "Authorization", value: "Bearer hunter2")]
                return .exchangeOpened(request)
            case .exchangeClosed(let response):
                #expect(response.request.url == "https://example.com:8443/other?token=[redacted]")
                return draft
            case .closed(var closed):
                closed.error?.text = "as the host says"
                return .closed(closed)
            default: return draft
            }
        }
        try await serving(hook) { server async throws in
            #expect(try await server.post(login.clientSet()).acceptedCount == 6)
            #expect(try await server.post(login.clientSet()).knownCount == 6, "a changed fact is no other fact")
            let text = try await server.get("/v1/transactions/\(login.transaction)").text
            #expect(!text.contains("hunter2") && !text.contains("api.example.com") && !text.contains("\"variant\""))
            #expect(text.contains("as the host says") && text.contains("example.com"))
            let record: TransactionRecord = try await server.value("/v1/transactions/\(login.transaction)")
            #expect(record.parts[0].attributes.count == 32)
            #expect(try await ledger(server) == Ledger(recorded: 6, delivered: 6))
        }
    }

    /// Breaks when a client keeps a withheld fact, or the ledger counts it as missing, or twice.
    @Test func aWithheldFactIsForgottenByItsClientAndBookedOnce() async throws {
        let hook: Hook = { draft in if case .event = draft { nil } else { draft } }
        try await serving(hook) { server async throws in
            let set = login.clientSet()
            #expect(try await server.post(set) == Receipt(set: set.id, acceptedCount: 6))
            let ledger = try await self.ledger(server)
            #expect(ledger == Ledger(recorded: 6, delivered: 4, dropped: ["withheld": 2]))
            // Repeats the set, as a client does after a lost answer.
            #expect(try await server.post(set) == Receipt(set: set.id, acceptedCount: 0, knownCount: 6))
            #expect(try await self.ledger(server) == ledger)
            #expect(drafts.withLock { $0.count } == 6)
            let record: TransactionRecord = try await server.value("/v1/transactions/\(login.transaction)")
            #expect(record.timeline.map(\.label) == ["begun", "POST /login", "401", "failed"])
            let page = try await server.get("/sources/\(login.client.id)").text
            #expect(page.contains("Withheld by the collector"))
        }
    }

    /// Breaks when facts that belong to nothing remain, in whatever order the facts arrive.
    @Test(arguments: [[1...6], [1...1, 2...6], [2...6, 1...1], [4...6, 2...3, 1...1]])
    func nothingStaysOfAWithheldPart(order: [ClosedRange<Int64>]) async throws {
        let hook: Hook = { draft in if case .opened(let opened) = draft, !opened.isJoined { nil } else { draft } }
        try await serving(hook) { server async throws in
            for facts in order {
                let receipt = try await server.post(login.clientSet(facts))
                #expect(receipt.acceptedCount == facts.count)
            }
            #expect(try await ledger(server) == Ledger(recorded: 6, dropped: ["withheld": 6]))
            #expect(try await server.get("/v1/transactions/\(login.transaction)").status == 404)
            #expect(try await server.post(login.clientSet()).knownCount == 6)
            #expect(try await ledger(server) == Ledger(recorded: 6, dropped: ["withheld": 6]))
            #expect(try await server.post(login.serverSet()).acceptedCount == 3)
            let record: TransactionRecord = try await server.value("/v1/transactions/\(login.transaction)")
            #expect(record.sources.map(\.app) == ["server"], "the part of another process stays")
        }
    }

    @Test(arguments: [[1...6], [1...3, 4...6], [1...2, 4...6, 3...3]])
    func theEndOfAWithheldExchangeIsWithheld(order: [ClosedRange<Int64>]) async throws {
        let hook: Hook = { draft in if case .exchangeOpened = draft { nil } else { draft } }
        try await serving(hook) { server async throws in
            for facts in order { #expect(try await server.post(login.clientSet(facts)).acceptedCount == facts.count) }
            #expect(try await ledger(server) == Ledger(recorded: 6, delivered: 4, dropped: ["withheld": 2]))
            let record: TransactionRecord = try await server.value("/v1/transactions/\(login.transaction)")
            #expect(record.timeline.map(\.label) == ["begun", "requestSent", "event 2", "failed"])
        }
    }

    /// Breaks when a draft of another kind, returned by the hook, stores unintended data.
    @Test func anAnswerOfAnotherKindWithholds() async throws {
        let first = Locked<RecordingDraft?>(nil)
        let hook: Hook = { draft in
            first.withLock { first in
                first = first ?? draft
                return first
            }
        }
        try await serving(hook) { server async throws in
            #expect(try await server.post(login.clientSet()).acceptedCount == 6)
            #expect(try await ledger(server).dropped == ["withheld": 5])
        }
    }

    /// Breaks when a host without the rule forgets which facts were withheld, or loses facts that it already stored.
    @Test func afterARestartTheBooksStayAsTheyAre() async throws {
        let hook: Hook = { draft in if case .event = draft { nil } else { draft } }
        try await serving(hook) { server async throws in
            #expect(try await server.post(login.clientSet()).acceptedCount == 6)
        }
        let other: Hook = { _ in nil }
        try await serving(other) { server async throws in
            #expect(try await server.post(login.clientSet()).knownCount == 6)
            #expect(try await ledger(server) == Ledger(recorded: 6, delivered: 4, dropped: ["withheld": 2]))
        }
    }

    private func spans() -> Data {
        let start = login.transaction.millisecondsSince1970
        func span(_ id: Int, _ name: String, parent: Int?, _ time: Int64) -> String {
            let parent = parent.map { #""parentSpanId":"000000000000000\#($0)","# } ?? ""
            let trace = "\(login.transaction)".replacing("-", with: "").lowercased()
            return """
                {"traceId":"\(trace)","spanId":"000000000000000\(id)",\(parent)"name":"\(name)","kind":1,\
                "startTimeUnixNano":"\(start + time)000000","endTimeUnixNano":"\(start + time + 5)000000",\
                "attributes":[{"key":"card","value":{"stringValue":"4111"}}]}
                """
        }
        let all = [span(1, "pay", parent: nil, 0), span(2, "charge", parent: 1, 1), span(3, "audit", parent: 1, 2)]
        let service = #"{"attributes":[{"key":"service.name","value":{"stringValue":"bank"}}]}"#
        return Data(
            #"{"resourceSpans":[{"resource":\#(service),"scopeSpans":[{"spans":[\#(all.joined(separator: ","))]}]}]}"#
                .utf8)
    }

    /// Breaks when spans bypass the hook, or an export still contains what the hook removed.
    @Test func spansAreChangedAndWithheldAsFactsAre() async throws {
        let hook: Hook = { draft in
            switch draft {
            case .event(let event) where event.name == "audit": return nil
            case .event(var event):
                event.attributes["card"] = nil
                return .event(event)
            case .opened(var opened):
                opened.attributes["card"] = nil
                return .opened(opened)
            case .closed(var closed):
                closed.attributes["card"] = nil
                return .closed(closed)
            default: return draft
            }
        }
        try await serving(hook) { server async throws in
            for _ in 0..<2 { try await send(spans(), to: server) }
            let ledger = try await self.ledger(server)
            #expect(ledger.dropped == ["withheld": 1])
            #expect(ledger.recorded == ledger.delivered + 1)
            #expect(drafts.withLock { Int64($0.count) } == ledger.recorded)
            let text = try await server.get("/v1/transactions/\(login.transaction)").text
            #expect(text.contains("charge"))
            let exports = try await server.get("/v1/export?format=otlp").text
            for text in [text, exports] { #expect(!text.contains("audit") && !text.contains("4111")) }
        }
    }

    private func send(_ spans: Data, to server: CollectorServer) async throws {
        let fields = ["Content-Type": "application/json"]
        let answer = try await RawClient.send("POST", "/v1/traces", to: server.port, headers: fields, body: spans)
        #expect(answer.status == 200 && !answer.text.contains("rejected"))
    }

    @Test func ofAWithheldRootSpanNothingIsStored() async throws {
        let hook: Hook = { draft in if case .opened = draft { nil } else { draft } }
        try await serving(hook) { server async throws in
            for _ in 0..<2 { try await send(spans(), to: server) }
            let ledger = try await self.ledger(server)
            #expect(ledger.dropped == ["withheld": ledger.recorded])
            #expect(try await server.get("/v1/transactions/\(login.transaction)").status == 404)
        }
    }

    /// Breaks when sets of version 0.0.1 bypass the hook.
    @Test func setsOf2015AreChangedAndWithheldAsFactsAre() async throws {
        let examples = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Schemas/examples")
        let body = try Data(contentsOf: examples.appending(path: "legacy/login.json").standardizedFileURL)
        let hook: Hook = { draft in
            guard case .event(var event) = draft else { return draft }
            if event.code == 0 { return nil }
            event.error?.text = nil
            return .event(event)
        }
        try await serving(hook) { server async throws in
            for _ in 0..<2 {
                let type = "application/vnd.fp.apptxnset-v0.0.1+json"
                #expect(try await server.post(body, type: type).status == 202)
            }
            #expect(try await ledger(server) == Ledger(recorded: 3, delivered: 2, dropped: ["withheld": 1]))
            let record: TransactionRecord = try await server.value(
                "/v1/transactions/586ab00b-f16e-4ae6-8a91-0210264925c7")
            #expect(record.timeline.map(\.label) == ["begun", "event 3"])
            #expect(record.timeline.last?.error == RecordedError(code: -1001))
            #expect(origins.withLock { $0.first?.app } == "apptxnset-v0.0.1")
        }
    }
}
#endif
