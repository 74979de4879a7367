import Foundation
import TestSupport
import Waybill
import WaybillCore
import WaybillQueries
import WaybillStore

/// A store with exchanges of every state, with odd words, without responses, and with bodies. `make exports` exports it
/// and has other tools read the export.
struct SampleExchanges {
    private enum Upload: Int, UseCase {
        static let code = 9
        case done = 0
    }

    private let source = SourceIdentity(
        id: GUID(), app: "shop", appVersion: "4.2", device: "iPhone17,1", os: "iOS", osVersion: "18.5")
    private var facts: [Fact] = []
    private var time: Int64 = 1_000

    /// Writes the store, replacing an existing one.
    static func write(to folder: URL) async throws {
        try? FileManager.default.removeItem(at: folder)
        try await recordBodies(to: folder)
        var exchanges = SampleExchanges()
        exchanges.states()
        for text in HostileText.corpus { exchanges.odd(text) }
        let store = try Store(.folder(folder))
        let share = TransactionSet.Share(
            source: exchanges.source, clocks: [ClockAnchor(atMicroseconds: 0, offsetMicroseconds: ShopRecords.start)],
            hasEnded: false,
            names: [RecordedName(useCase: 0, name: "login")], ledger: Ledger(recorded: Int64(exchanges.facts.count)),
            facts: exchanges.facts)
        let receipt = try store.ingest(
            try TransactionSet.decode(TransactionSet(id: GUID(), sources: [share]).encoded()),
            receivedAt: ShopRecords.made)
        guard receipt.rejections.isEmpty else { throw WaybillError(.format, "\(receipt.rejections)") }
        try store.checkpoint()
    }

    /// Records a text, an image, and a text that is longer than the limit.
    private static func recordBodies(to folder: URL) async throws {
        var options = TransactionManager.Options()
        let pattern: TextPattern = .glob("*")
        var policy = BodyPolicy(contentTypes: [pattern])
        policy.maximumByteCount = 4_096
        options.network.bodies = policy
        let transactions = TransactionManager(store: .directory(folder)) { $0 = options }
        let bodies: [(String, String, Data)] = [
            ("text", "application/json; charset=utf-8", Data(#"{"name":"é \"漢字\"","list":[1,2,3]}"#.utf8)),
            ("image", "image/png", Data((0...255).map { UInt8($0) })),
            ("long", "text/plain", Data(String(repeating: "line of text\n", count: 1_000).utf8)),
        ]
        transactions.perform(Upload.self) { _ in
            for (name, type, body) in bodies {
                guard let url = URL(string: "https://api.example/bodies/\(name)") else { continue }
                let field = HeaderField(name: "Content-Type", value: type)
                let exchange = transactions.openExchange(
                    ExchangeRequest(method: "POST", url: url, headerFields: [field]))
                exchange.sent(body)
                exchange.responded(ExchangeResponse(status: 200, headerFields: [field], httpVersion: "1.1"))
                exchange.received(body)
                exchange.finish()
            }
        }
        // A read sees everything, including bodies that were still on their way.
        _ = try await transactions.exchanges(limit: 1)
        try await transactions.sync()
    }

    private mutating func states() {
        let part = add(.opened(Fact.Opened(transaction: GUID(), useCase: 0)))
        let transfer = Fact.Transfer(
            httpVersion: "2", receivedWireByteCount: 310, sentAtMicroseconds: time + 7_000,
            phases: Fact.Phases(lookupMicroseconds: 1_000, connectMicroseconds: 1_001, secureMicroseconds: 1_999),
            isConnectionReused: false,
            redirects: [Fact.Redirect(status: 302, url: "https://b.example/", atMicroseconds: time + 6_000)])
        let json = [HeaderField(name: "Content-Type", value: "application/json")]
        let items = open("GET", "/items", query: "a=1&b=%C3%A9+x&c", in: part)
        time += 10_000
        close(items, in: part) {
            ($0.status, $0.sentByteCount, $0.receivedByteCount, $0.headerFields) = (200, 0, 2_000, json)
            ($0.firstByteAtMicroseconds, $0.transfer) = (transfer.sentAtMicroseconds.map { $0 + 3_001 }, transfer)
        }
        close(open("POST", "/login", in: part), in: part) { $0.status = 503 }
        close(open("GET", "/mocked", in: part), in: part) {
            $0.status = 404
            $0.transfer = Fact.Transfer(isMocked: true, rule: "no such item")
        }
        close(open("HEAD", "/", in: part), in: part) { $0.status = 204 }
        close(open("GET", "/offline", in: 0), in: 0) {
            $0.state = .failed
            $0.error = RecordedError(domain: "NSURLErrorDomain", code: -1009)
        }
        close(open("PUT", "/left", in: 0), in: 0) { $0.state = .cancelled }
        _ = open("GET", "/running", in: part)
        _ = add(.exchangeOpened(Fact.ExchangeOpened(role: .server, method: "GET", path: "/as-a-server")), part: 0)
    }

    private mutating func odd(_ text: String) {
        let short = String(text.prefix(120))
        let opened = Fact.ExchangeOpened(
            method: "GET", scheme: "https", host: "odd.example", path: "/\(text.prefix(400))", query: short,
            headerFields: [HeaderField(name: short, value: text)])
        let sequence = add(.exchangeOpened(opened), part: 0)
        close(sequence, in: 0) {
            $0.status = 200
            $0.headerFields = [HeaderField(name: "X-Odd", value: text)]
            $0.error = RecordedError(domain: short, code: 1, text: text)
        }
    }

    private mutating func open(_ method: String, _ path: String, query: String? = nil, in part: Int64) -> Int64 {
        add(
            .exchangeOpened(
                Fact.ExchangeOpened(method: method, scheme: "https", host: "api.example", path: path, query: query)),
            part: part
        )
    }

    private mutating func close(_ exchange: Int64, in part: Int64, _ change: (inout Fact.ExchangeClosed) -> Void) {
        var closed = Fact.ExchangeClosed(exchange: exchange, state: .completed)
        change(&closed)
        _ = add(.exchangeClosed(closed), part: part)
    }

    private mutating func add(_ content: Fact.Content, part: Int64? = nil) -> Int64 {
        time += 2_503
        let sequence = Int64(facts.count + 1)
        facts.append(Fact(sequence: sequence, part: part ?? sequence, atMicroseconds: time, content: content))
        return sequence
    }
}
