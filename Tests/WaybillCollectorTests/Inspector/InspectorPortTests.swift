#if Collector
import Foundation
import Hummingbird
import TestSupport
import Testing
import Waybill
@testable import WaybillCollector
import WaybillCore
import WaybillInspector
import WaybillQueries
import WaybillTesting
import WaybillUI

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Compares the inspector without a server to the same inspector behind Hummingbird.
@Suite(.timeLimit(.minutes(5))) struct InspectorPortTests {
    private let folder: TemporaryDirectory
    private let login = LoginHistory()
    private let clock = ManualClock()

    init() throws { folder = try TemporaryDirectory() }

    /// Returns addresses for each route: existing, missing and malformed ones.
    private func addresses(of route: InspectorRoute) -> [String] {
        let (transaction, exchange) = ("\(login.transaction)", "\(login.client.id):3")
        return switch route {
        case .home: ["/"]
        case .listTransactions:
            [
                "/transactions", "/transactions?outcome=succeeded", "/transactions?text=a+b%22%3E&since=",
                "/transactions?limit=1",
                "/transactions?outcome=lost", "/transactions?filter=login%20outcome:lost", "/transactions?cursor=x",
                "/transactions?colour=red", "//transactions//",
            ]
        case .showTransaction:
            [
                "/transactions/\(transaction)", "/transactions/\(SupportCode(login.transaction))",
                "/transactions/\(transaction)?clocks=raw", "/transactions/\(transaction)?clocks=none",
                "/transactions/\(GUID())",
                "/transactions/x", "/transactions/%3Cscript%3E", "/transactions/%FF",
            ]
        case .downloadTransactions:
            ["/transactions.html", "/transactions.html?outcome=failed", "/transactions.html?outcome=lost"]
        case .downloadTransaction:
            ["html", "json", "har", "otlp", "pdf", "%2e%2e"].map { "/transactions/\(transaction)/\($0)" }
        case .compareTransactions:
            [
                "/beside", "/beside?a=\(transaction)", "/beside?a=\(transaction)&b=\(transaction)",
                "/beside?a=\(transaction)&b=before",
                "/beside?a=\(transaction)&b=x", "/beside?a=x",
            ]
        case .listSessions:
            [
                "/sessions", "/sessions?filter=source:\(login.client.id)", "/sessions?filter=source:x",
                "/sessions?limit=x",
            ]
        case .listExchanges: ["/network", "/network?method=get", "/network?status=x", "/network?filter=status:5xx"]
        case .showExchange: ["/network/\(exchange)", "/network/\(GUID()):1", "/network/x"]
        case .downloadExchange:
            ["har", "curl", "text", "json", "request-body", "response-body", "pdf"].map { "/network/\(exchange)/\($0)" }
        case .listEndpoints: ["/endpoints", "/endpoints?sort=p99", "/endpoints?sort=x", "/endpoints?filter=x:y"]
        case .downloadEndpoints: ["/endpoints.csv", "/endpoints.csv?sort=x"]
        case .showEndpoint: ["/endpoint", "/endpoint?role=client&method=POST&host=api.example.com&path=%2Flogin"]
        case .listTerms: ["/terms", "/terms?about=exchanges", "/terms?use_case=0"]
        case .listUseCases: ["/use-cases", "/use-cases?since=someday"]
        case .downloadUseCases: ["/use-cases.csv", "/use-cases.csv?since=someday"]
        case .showUseCase: ["/use-cases/login", "/use-cases/0", "/use-cases/logout", "/use-cases/login?limit=5"]
        case .askUseCase:
            [
                "duration", "funnel", "dropoff", "legs", "compare", "compare?a=48h..24h&b=24h..0h",
                "compare?a=48h..24h", "duration?last=1",
                "funnel?step=%5E&step=nothing", "outcomes.csv", "duration.csv", "compare.csv", "why", "why.csv",
                "why?outcome=succeeded", "nothing", "nothing.csv",
            ].map { "/use-cases/login/\($0)" }
        case .listErrors: ["/errors", "/errors?sort=new&new_since=7d", "/errors?sort=up", "/errors?new_since=soon"]
        case .downloadErrors: ["/errors.csv", "/errors.csv?sort=last&use_case=login"]
        case .listSources: ["/sources", "/sources?app=server", "/sources?sort=up"]
        case .showSource:
            ["/sources/\(login.client.id)", "/sources/\(login.client.id.supportCode)", "/sources/\(GUID())"]
        case .showDelivery: ["/delivery"]
        case .downloadDelivery: ["/delivery/quarantine.json", "/delivery/rejections.json", "/delivery/nothing"]
        case .loadAsset: [InspectorAsset.style, .script, .icon].map { "/assets/\($0.name)" } + ["/assets/nothing"]
        case .askToken: ["/login", "/login?to=network%2Fx%3A1", "/login?to=//evil.example"]
        // Collectors and files offer no changes.
        case .showControls, .change: ["/controls"]
        case .newRule, .addRule: ["/controls/rule"]
        case .editRule, .saveRule: ["/controls/rule/x"]
        case .follow, .logIn, .logOut: []
        }
    }

    /// Sends a request to a server and to an inspector, and compares the responses.
    private func compare(_ request: InspectorRequest, _ inspector: Inspector, _ server: CollectorServer) async throws {
        let own = await inspector.respond(to: request)
        let path = request.root + request.path + (request.query.isEmpty ? "" : "?\(request.query)")
        let client = try RawClient(port: server.port)
        let form = request.method == "POST" ? Data(request.form.utf8) : nil
        let others = request.fields.filter { $0.key != "host" }
        try await client.send(
            RawClient.head(request.method, path, headers: others, length: form?.count) + (form ?? Data()))
        let served = try await client.response(hasBody: request.method != "HEAD")
        #expect(served.status == own.status, "\(request.method) \(path)")
        let fields = served.headers.map { (name: $0.name.lowercased(), value: $0.value) }
            .filter { !["content-length", "date", "server"].contains($0.name) }
        // Every login begins its own session.
        func line(_ name: String, _ value: String) -> String {
            "\(name.lowercased()): \(value.replacing(#/waybill_session=[A-Za-z0-9_-]+/#, with: "waybill_session=..."))"
        }
        #expect(
            fields.map { line($0.name, $0.value) }.sorted() == own.fields.map { line($0.key, $0.value) }.sorted(),
            "\(request.method) \(path)")
        guard case .bytes(let bytes) = own.body else {
            Issue.record("\(path) is a stream.")
            return
        }
        #expect(served.header("Content-Length") == "\(bytes.count)", "\(request.method) \(path)")
        #expect(Array(served.body) == (request.method == "HEAD" ? [] : bytes), "\(request.method) \(path)")
        #expect(own.failure == nil)
    }

    private func request(_ address: String, method: String = "GET", cookie: String? = nil, root: String = "")
        -> InspectorRequest
    {
        let path = address.prefix { $0 != "?" }
        var request = InspectorRequest(
            method: method, path: String(path), query: String(address.dropFirst(path.count + 1)),
            fields: ["Host": "127.0.0.1", "Accept": "text/html"], root: root)
        request.fields["cookie"] = cookie.map { "a=b; waybill_session=\($0)" }
        return request
    }

    private func collector(_ access: Access) throws -> Collector {
        try Collector(folder: folder.url, access: access, limits: CollectorLimits(), clock: clock)
    }

    private func fill() async throws {
        try await CollectorServer.run(try collector(.open)) { server in
            _ = try await server.post(login.clientSet())
            _ = try await server.post(login.serverSet())
        }
    }

    @Test func everyRouteGivesTheSameBytesStatusAndFieldsWithAServerAndWithout() async throws {
        try await fill()
        let collector = try collector(.open)
        try await CollectorServer.run(collector) { server in
            for route in collector.inspector.routes {
                for address in addresses(of: route) {
                    try await compare(request(address), collector.inspector, server)
                    try await compare(request(address, method: "HEAD"), collector.inspector, server)
                }
            }
            for address in ["/nothing", "/nothing/", "/transactions/a/b/c", "/v1/%3Cscript%3E", "/controls"] {
                try await compare(request(address), collector.inspector, server)
            }
        }
    }

    @Test func withTokensItIsTheSameForThoseWhoHaveNoneAWrongOneAndARightOne() async throws {
        try await fill()
        let tokens = TokenFile(folder: folder.url)
        let secret = try tokens.add(role: .read, project: .standard).secret
        let right = secret.text
        let wrong = try tokens.add(role: .ingest, project: .standard).secret.text
        let collector = try collector(.tokens)
        func session() throws -> String? {
            collector.access.beginSession(of: try collector.access.identity(fieldValue: secret.fieldValue))
        }
        try await CollectorServer.run(collector) { server in
            for route in collector.inspector.routes {
                for address in addresses(of: route).prefix(2) {
                    for cookie in [nil, wrong, "waybill_1234567890123456", right, try session()] {
                        try await compare(request(address, cookie: cookie), collector.inspector, server)
                    }
                }
            }
            for origin in [nil, "https://127.0.0.1", "http://127.0.0.1", "https://evil.example"] {
                for form in [
                    "token=\(right)&to=network%3Fa%3Db", " token=\(wrong)", "token=x", "",
                    "to=//evil.example&token=+\(right)+",
                ] {
                    var logIn = request("/login", method: "POST")
                    (logIn.form, logIn.fields["origin"]) = (form, origin)
                    try await compare(logIn, collector.inspector, server)
                }
                var logOut = request("/logout", method: "POST", cookie: try session())
                logOut.fields["origin"] = origin
                try await compare(logOut, collector.inspector, server)
            }
        }
    }

    @Test func belowAPathOfTheServersOwnItIsTheSame() async throws {
        try await fill()
        let collector = try collector(.open)
        let router = Router()
        collector.inspector.addRoutes(to: router.group("tools/waybill"))
        try await CollectorServer.run(router) { server in
            for route in collector.inspector.routes {
                for address in addresses(of: route).prefix(1) where address.hasPrefix("/") {
                    let own = address == "/" ? "" : address
                    try await compare(request(own, root: "/tools/waybill"), collector.inspector, server)
                }
            }
            #expect(try await server.get("/tools/waybill").header("Location") == "/tools/waybill/transactions")
        }
    }

    @Test func aStoreInAFileIsShownWithoutAServer() async throws {
        try await fill()
        let inspector = try Inspector(file: folder.url.appending(path: "waybill.sqlite"), clock: clock)
        try await CollectorServer.run(inspector.router()) { server in
            for route in inspector.routes {
                for address in addresses(of: route).prefix(2) { try await compare(request(address), inspector, server) }
            }
        }
        var foreign = request("/transactions")
        foreign.fields["host"] = "evil.example"
        #expect(await inspector.respond(to: foreign).status == 403)
        foreign.fields["host"] = nil
        #expect(await inspector.respond(to: foreign).status == 403)
    }

    /// Breaks when a web view in an app shows other bytes than a browser, or follows links to other places.
    @Test func aWebViewIsGivenWhatABrowserGets() async throws {
        try await fill()
        let collector = try collector(.open)
        try await CollectorServer.run(collector) { server in
            var replies = (pages: 0, loads: 0, files: 0)
            for route in collector.inspector.routes {
                for address in addresses(of: route) where !address.hasPrefix("//") {
                    let url = try #require(URL(string: "waybill://inspector\(address)"))
                    let reply = await InspectorReply(to: URLRequest(url: url), from: collector.inspector)
                    let served = try await RawClient.send("GET", address, to: server.port)
                    switch reply {
                    case .page(let head, let body):
                        replies.pages += 1
                        #expect(head.statusCode == served.status && body == served.body, "\(address)")
                        let fields = served.headers.filter {
                            !["content-length", "date", "server"].contains($0.name.lowercased())
                        }
                        for field in fields {
                            #expect(head.value(forHTTPHeaderField: field.name) == field.value, "\(address)")
                        }
                        #expect(head.allHeaderFields.count == fields.count, "\(address)")
                    case .load(let place):
                        replies.loads += 1
                        let location = try #require(served.header("Location"))
                        #expect(served.status == 303 && place.host() == "inspector", "\(address)")
                        #expect(place == URL(string: location, relativeTo: url)?.absoluteURL, "\(address)")
                    case .share(let file):
                        replies.files += 1
                        let disposition = "attachment; filename=\"\(file.name)\""
                        #expect(served.header("Content-Disposition") == disposition, "\(address)")
                        #expect(file.bytes == Array(served.body), "\(address)")
                    case .none:
                        Issue.record("\(address) has no answer.")
                    }
                }
            }
            #expect(replies.pages > 60 && replies.loads > 0 && replies.files > 8, "\(replies)")
        }
    }

    /// Breaks when a server accepts a request that the inspector refuses, or withholds information that the inspector
    /// needs: long forms, their origin, and the host name of the request.
    @Test func theControlsOfAnAppAreTheSame() async throws {
        let inspector = Inspector(TransactionManager.testing(clock: clock), hasControls: true)
        func post(_ address: String, _ form: String, origin: String? = nil) -> InspectorRequest {
            var post = request(address, method: "POST")
            (post.form, post.fields["origin"]) = (form, origin)
            return post
        }
        let long =
            "rule=%7B%22name%22:%22long%22,%22mock%22:%7B%22text%22:%22" + String(repeating: "%C3%A4", count: 20_000)
            + "%22%7D%7D"
        try await CollectorServer.run(inspector.router()) { server in
            for address in ["/controls", "/controls/rule", "/controls/rule/x"] {
                try await compare(request(address), inspector, server)
                try await compare(request(address, method: "HEAD"), inspector, server)
            }
            for origin in [nil, "http://127.0.0.1", "https://evil.example", "waybill://app", "null"] {
                try await compare(post("/controls", "change=obey-rules", origin: origin), inspector, server)
                try await compare(
                    post("/controls/rule", "rule=%7B%22cut%22:%7B%7D%7D", origin: origin), inspector, server)
            }
            try await compare(post("/controls", "change=nothing"), inspector, server)
            try await compare(post("/controls/rule/x", "rule=%7B%7D"), inspector, server)
            let added = try await RawClient.send("POST", "/controls/rule", to: server.port, body: Data(long.utf8))
            #expect(added.status == 303 && added.header("Location")?.hasPrefix("/controls#") == true)
            #expect(try await server.get("/controls").text.contains("are answered with 200 and 40"))
            try await compare(post("/controls/rule", long), inspector, server)
        }
    }

    @Test func aLiveListIsTheSameStream() async throws {
        try await fill()
        let collector = try collector(.open)
        try await CollectorServer.run(collector) { server in
            let response = await collector.inspector.respond(to: request("/live?version=0"))
            guard case .stream(let stream) = response.body else {
                Issue.record("It is no stream.")
                return
            }
            var pieces = stream.makeAsyncIterator()
            let own = [try await pieces.next(), try await pieces.next()].map {
                String(decoding: $0 ?? [], as: UTF8.self)
            }
            let client = try RawClient(port: server.port)
            try await client.send(RawClient.head("GET", "/live?version=0"))
            let served = try await client.receive(until: own[1]).lowercased()
            #expect(
                own[0] == "retry: 2000\n\n" && own[1].hasPrefix("event: changed\ndata: ") && served.contains(own[0]))
            for (name, value) in response.fields { #expect(served.contains("\(name): \(value)\r\n".lowercased())) }
        }
    }
}
#endif
