import Foundation
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillExport
import WaybillQueries
import WaybillStore
import WaybillTesting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(5))) struct RecordedRuleTests {
    private func rule(
        body: ExchangeBody? = nil, _ change: (inout TransactionRecord.Exchange) -> Void = { _ in }
    ) -> NetworkRule? {
        NetworkRule(SampleExchange.record(.completed, change).exchange, body: body, number: 7)
    }

    /// Breaks when an app that replays its own recording gets another answer than it recorded.
    @Test func exportedRulesAnswerAsTheServerDid() async throws {
        let folder = try TemporaryDirectory()
        let recorded = ManualClock()
        let recorder = TransactionManager(store: .directory(folder.file("store"))) { options in
            options.clock = recorded
            options.network.bodies = BodyPolicy()
        }
        let url = try #require(URL(string: "https://api.example.com/orders?page=2"))
        let exchange = recorder.openExchange(ExchangeRequest(method: "PUT", url: url))
        recorded.advance(by: .milliseconds(250))
        let field = HeaderField(name: "Content-Type", value: "application/json")
        exchange.responded(ExchangeResponse(status: 409, headerFields: [field]))
        exchange.received(Data(#"{"left":0}"#.utf8))
        exchange.finish()
        let file = folder.file("rules.json")
        try await recorder.export(as: .rules, to: file)

        let clock = ManualClock()
        let transactions = TransactionManager.testing(clock: clock)
        try transactions.rules.add(json: Data(contentsOf: file))
        transactions.rules.add(NetworkRule("last", .fail(.resourceUnavailable)))
        transactions.rules.move(named: "last", by: 1)
        transactions.rules.isEnabled = true
        var request = URLRequest(url: url)
        request.httpMethod = "PUT"
        let (data, response) = try await transactions.session.data(for: request)
        #expect((response as? HTTPURLResponse)?.statusCode == 409)
        #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Content-Type") == "application/json")
        #expect(String(decoding: data, as: UTF8.self) == #"{"left":0}"#)
        #expect(clock.uptimeMicroseconds() == 250_000)
        await #expect(throws: URLError.self, "each rule answers one request") {
            try await transactions.session.data(for: request)
        }
    }

    @Test func aFailureIsTheRecordedOneAfterTheRecordedTime() {
        let timedOut = rule {
            ($0.state, $0.status) = (.failed, nil)
            $0.error = RecordedError(domain: NSURLErrorDomain, code: -1001)
        }
        #expect(timedOut?.action == .fail(.timedOut, after: .microseconds(100_001)))
        for error in [RecordedError(domain: "other", code: -1001), RecordedError(domain: NSURLErrorDomain, code: .max)]
        {
            #expect(
                rule { ($0.state, $0.error) = (.failed, error) }?.action
                    == .fail(.unknown, after: .microseconds(100_001)))
        }
        #expect(rule { $0.state = .cancelled }?.action == .fail(.cancelled, after: .microseconds(100_001)))
        #expect(
            rule { ($0.state, $0.closedMicroseconds) = (nil, nil) }?.action == .fail(.timedOut, after: .seconds(60)))
    }

    /// Breaks when a test passes or fails because of a body that nobody recorded.
    @Test func aMissingBodyIsAPlaceholderThatTheNameReports() throws {
        let missing = try #require(rule())
        #expect(missing.name.hasPrefix("7 POST (A body of 2.0 kB was not kept.) https://api.example.com/login?"))
        guard case .mock(let response) = missing.action else { throw CancellationError() }
        #expect(String(decoding: response.body, as: UTF8.self) == "placeholder: A body of 2.0 kB was not kept.")
        let cut = ExchangeBody(contentType: nil, bytes: Array("be".utf8), byteCount: 2000, omission: .limit)
        #expect(rule(body: cut)?.name.contains("(The first 2 B of 2.0 kB were kept.)") == true)
        #expect(rule(body: .whole(Array("all".utf8)))?.name.contains("(") == false)
        #expect(rule { $0.receivedByteCount = 0 }?.name.contains("(") == false)
    }

    /// Breaks when the rule waits for a request that contains a placeholder, and never applies.
    @Test func redactedAndLongPartsMatchAnything() throws {
        let pattern = try #require(
            rule { $0.url = "https://api.example.com/users/[redacted]/orders?token=[redacted]&page=1" }
        ).matching
        func matches(_ text: String) throws -> Bool {
            pattern.matches(ExchangeRequest(method: "POST", url: try #require(URL(string: text))))
        }
        #expect(try matches("https://api.example.com/users/ann/orders?token=s3cret&page=1"))
        #expect(try !matches("https://api.example.com/users/ann/orders?token=s3cret&page=2"))
        #expect(try !matches("https://api.example.com/users/ann/carts?token=s3cret&page=1"))
        #expect(try !matches("https://other.example/users/ann/orders?token=s3cret&page=1"))
        let long = try #require(rule { $0.url = "https://api.example.com/" + String(repeating: "a", count: 4000) })
        #expect(long.problems.isEmpty && long.name.unicodeScalars.count <= Limits.labelLength)
    }

    @Test func fieldsOfTheTransferAndSecretsAreLeftOut() throws {
        let names = ["Content-Length", "Content-Encoding", "Transfer-Encoding", "Set-Cookie", "X-Key", "ETag"]
        let rule = try #require(
            rule {
                $0.responseHeaderFields = names.map { name in
                    HeaderField(name: name, value: name == "X-Key" ? "[redacted]" : "7")
                }
            })
        guard case .mock(let response) = rule.action else { throw CancellationError() }
        #expect(response.headerFields.map(\.name) == ["ETag"])
    }

    @Test func aWebSocketThatOpenedHasNoRule() {
        #expect(rule { $0.transfer.webSocket = Fact.WebSocket() } == nil)
        #expect(rule { $0.status = 101 } == nil)
    }
}
