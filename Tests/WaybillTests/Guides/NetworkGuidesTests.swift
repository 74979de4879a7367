import Foundation
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The snippets of the guides on filters and rules, as they stand there.
@Suite(.timeLimit(.minutes(5))) struct NetworkGuidesTests {
    private func guide(_ name: String) throws -> String {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../../Sources/Waybill/Waybill.docc")
        return try String(contentsOf: folder.appending(path: "\(name).md"), encoding: .utf8)
    }

    @Test func oneRule() async throws {
        let transactions = TransactionManager.testing()
        transactions.rules.add(
            NetworkRule(
                "login is down", matching: RequestPattern(method: "POST", path: .glob("/v*/login")),
                .mock(.text(#"{"error":"maintenance"}"#, status: 503, delay: .milliseconds(250)))))
        transactions.rules.isOn = TransactionManager.isDebugBuild

        transactions.rules.isOn = true
        var request = URLRequest(url: try refusedURL("/v2/login"))
        request.httpMethod = "POST"
        let (data, response) = try await transactions.session.data(for: request)
        #expect(response.status == 503)
        #expect(data == Data(#"{"error":"maintenance"}"#.utf8))
        #expect(transactions.rules.hits == ["login is down": 1])
        print(transactions.rules.hits)
        transactions.rules.setEnabled(false, named: "login is down")
        transactions.rules.remove(named: "login is down")
        #expect(transactions.rules.all.isEmpty)
    }

    @Test func firstThisThenThatAndDelays() async throws {
        let transactions = TransactionManager.testing()
        transactions.rules.add(
            NetworkRule("a bad network", .throttle(.init(latency: .milliseconds(100), longestLatency: .seconds(2)))))
        transactions.rules.add([
            NetworkRule(
                "down", matching: RequestPattern(path: "/orders"), .mock(.init(status: 503)), times: 2),
            NetworkRule("up", matching: RequestPattern(path: "/orders"), .mock(.text("[]"))),
        ])
        transactions.rules.isOn = true
        var statuses: [Int?] = []
        for _ in 0..<3 {
            statuses.append(try await transactions.session.data(for: URLRequest(url: refusedURL("/orders"))).1.status)
        }
        #expect(statuses == [503, 503, 200])
        let tested = Set(
            try String(contentsOf: URL(filePath: #filePath), encoding: .utf8).split(separator: "\n").map {
                $0.trimmingCharacters(in: .whitespaces)
            })
        let sections = try #require(
            guide("MockAndThrottle").components(separatedBy: "## First this").last?
                .components(separatedBy: "## From JSON").first)
        let snippets = sections.components(separatedBy: "```").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
        #expect(snippets.count == 2)
        for line in snippets.flatMap({ $0.split(separator: "\n").dropFirst() }) {
            let code = line.trimmingCharacters(in: .whitespaces)
            #expect(tested.contains(code), "\(code)")
        }
    }

    @Test func rulesFromJSON() throws {
        let blocks = try guide("MockAndThrottle").components(separatedBy: "```json\n").dropFirst()
        let json = try #require(blocks.first?.components(separatedBy: "```").first)
        let (transactions, folder) = (TransactionManager.testing(), try TemporaryDirectory())
        let (rules, file) = (transactions.rules, folder.file("rules.json"))
        try Data(json.utf8).write(to: file)
        try transactions.rules.add(json: Data(contentsOf: file))
        #expect(
            rules.all.map(\.name) == ["login is down", "no advertisements", "slow", "down twice", "films break off"])
        #expect(rules.all.map(\.isEnabled) == [true, true, false, true, true])
    }

    @Test func whatTheGuideSaysOfAMistake() {
        let rules = TransactionManager.testing().rules
        let error = #expect(throws: WaybillError.self) {
            try rules.add(json: Data(#"{"rules":[{"name":"a","match":{"methd":"GET"},"mock":{}}]}"#.utf8))
        }
        #expect(
            error?.message == "/rules/0/match/methd: unknown name; use one of method, url, host, path, headers, body")
    }

    @Test func filters() throws {
        var options = TransactionManager.Options()
        options.network.include = [RequestPattern(host: .glob("*.example.com"))]
        options.network.exclude = [RequestPattern(path: "/health"), RequestPattern(method: "HEAD")]
        options.network.shouldLog = { request in request.url.query() == nil }
        options.network.headers = HeaderPolicy(["User-Agent": .skip, "X-Device-Name": .mask])
        #expect(options.network.headers == HeaderPolicy(["user-agent": .skip, "x-device-name": .mask]))
        options.network.headers = HeaderPolicy(["Content-Type": .keep, "ETag": .keep], others: .skip)
        do {
            let transactions = TransactionManager { $0 = options }
            #expect(transactions.recording == .on)
        }
        let transactions = TransactionManager.testing { $0 = options }
        for (url, isRecorded) in [
            ("https://api.example.com/a", true), ("https://api.example.com/health", false),
            ("https://api.example.com/a?b", false),
            ("https://elsewhere.example/a", false),
        ] {
            let exchange = transactions.openExchange(ExchangeRequest(url: try #require(URL(string: url))))
            exchange.finish()
            #expect(exchange.isRecorded == isRecorded, "\(url)")
        }
    }
}
