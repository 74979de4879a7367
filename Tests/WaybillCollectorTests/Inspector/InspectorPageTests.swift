#if Collector
import Foundation
import TestSupport
import Testing
@testable import WaybillCollector
import WaybillCore
import WaybillInspector
import WaybillQueries

/// The contents of the pages for a store.
@Suite(.timeLimit(.minutes(5))) struct InspectorPageTests {
    private let folder: TemporaryDirectory
    private let login = LoginHistory()

    init() throws { folder = try TemporaryDirectory() }

    private func run(_ body: (CollectorServer) async throws -> Void) async throws {
        try await CollectorServer.run(try Collector(folder: folder.url)) { server in
            _ = try await server.post(login.clientSet())
            _ = try await server.post(login.serverSet())
            try await body(server)
        }
    }

    @Test func thePagesAreNoPartOfTheAPI() {
        let pages = Set(InspectorRoute.allCases.map(\.path))
        #expect(pages.isDisjoint(with: Route.allCases.map(\.path)))
        #expect(Route.allCases.allSatisfy { $0.path.hasPrefix("/v1/") || $0 == .readMetrics })
    }

    @Test func everyAnswerForbidsWhatIsNotItsOwn() async throws {
        try await run { server in
            let transaction = "/transactions/\(login.transaction)"
            for path in [
                "/transactions", "/network", "/login", "/transactions/x", "/transactions?outcome=x", "/", "/assets/x",
                transaction,
                "\(transaction)/json", "\(transaction)/har", "\(transaction)/otlp", "/network/\(login.client.id):3",
            ] {
                let response = try await server.get(path)
                let policy = try #require(response.header("Content-Security-Policy"))
                #expect(policy.hasPrefix("default-src 'none'; style-src 'self'; script-src 'self';"))
                #expect(!policy.contains("unsafe"))
                #expect(policy.contains("frame-ancestors 'none'"))
                #expect(response.header("X-Content-Type-Options") == "nosniff")
                #expect(response.header("Cache-Control") == "no-store")
                #expect(response.header("Referrer-Policy") == "same-origin")
                #expect(response.header("Cross-Origin-Opener-Policy") == "same-origin")
                #expect(response.header("Cross-Origin-Resource-Policy") == "same-origin")
                for directive in ["base-uri 'none'", "form-action 'self'", "connect-src 'self'"] {
                    #expect(policy.contains(directive), "\(policy)")
                }
            }
        }
    }

    /// Breaks when pages load slowly on a slow network, or a browser that can't decompress them shows noise.
    @Test func pagesAreCompressedForBrowsersThatAskForIt() async throws {
        try await run { server in
            for (coding, isCompressed) in [("gzip, br", true), ("identity", false), ("gzip;q=0", false)] {
                let response = try await server.get("/transactions", headers: ["Accept-Encoding": coding])
                #expect((response.header("Content-Encoding") == "gzip") == isCompressed, "\(coding)")
                #expect(Array(response.body).starts(with: [0x1F, 0x8B]) == isCompressed)
                #expect(!isCompressed || response.header("Vary") == "Accept-Encoding")
            }
            let short = try await server.get("/", headers: ["Accept-Encoding": "gzip"])
            #expect(short.header("Content-Encoding") == nil)
        }
    }

    @Test func aBrowserIsToldThatThereIsNothingOnAPage() async throws {
        try await run { server in
            let browser = ["Accept": "text/html,application/xhtml+xml,*/*;q=0.8"]
            for (path, root) in [
                ("/nothing", ""), ("/nothing/at/all", "../../"), ("/nothing/", "../"), ("/v1/%3Cscript%3E", "../"),
            ] {
                let page = try await server.get(path, headers: browser)
                #expect(page.status == 404)
                #expect(page.header("Content-Type") == "text/html; charset=utf-8")
                #expect(page.header("Content-Security-Policy")?.hasPrefix("default-src 'none'") == true)
                #expect(page.text.contains("<h1>Not Found</h1>") && page.text.contains("There is nothing at /"))
                #expect(page.text.contains("<a href=\"\(root)transactions\">"), "\(path) leads back.")
                #expect(page.text.contains("href=\"\(root)assets/waybill-"), "\(path) has its stylesheet.")
                #expect(!page.text.contains("<script>"))
                let document = try await server.get(path, headers: ["Accept": "*/*"])
                #expect(
                    document.status == 404 && document.header("Content-Type") == "application/problem+json",
                    "A program gets a document.")
            }
            let known = try await server.get("/v1/transactions/x", headers: browser)
            #expect(
                known.header("Content-Type") == "application/problem+json", "The API answers as it says, whoever asks.")
        }
        let file = folder.url.appending(path: "waybill.sqlite")
        try await CollectorServer.run(try Inspector(file: file).router()) { server in
            let page = try await server.get("/nothing", headers: ["Accept": "text/html"])
            #expect(page.status == 404 && page.text.contains("<h1>Not Found</h1>"))
        }
    }

    @Test func theListHasALineForEachTransaction() async throws {
        try await run { server in
            let page = try await server.get("/transactions").text
            for text in [
                "href=\"transactions/\(login.transaction)\"", "<b>login</b>", "<em>failed</em>",
                "LoginError 3 · variant=B", "2 sources",
                "1 request", "1 error", "<data>15.0 ms</data>", SupportCode(login.transaction).description,
            ] { #expect(page.contains(text), "\(text)") }
            #expect(!page.contains("style="), "The policy refuses styles of elements.")
            #expect(!page.contains("<script>"))
        }
    }

    @Test func theFilterStandsInTheAddressAndInTheForm() async throws {
        try await run { server in
            let none = try await server.get("/transactions?outcome=succeeded&use_case=login&text=&since=")
            #expect(none.status == 200)
            #expect(none.text.contains("No transactions"))
            #expect(none.text.contains("<option value=\"login\" selected>"))
            #expect(none.text.contains("name=\"outcome\" value=\"succeeded\""))
            let found = try await server.get("/transactions?outcome=failed&text=K%22%3E")
            #expect(found.text.contains("value=\"K&quot;&gt;\""))
            #expect(
                try await server.get("/transactions?outcome=failed").text.contains("transactions/\(login.transaction)"))
            let mistaken = try await server.get("/transactions?filter=login%20outcome:lost")
            #expect(mistaken.status == 400)
            #expect(mistaken.text.contains("Character 15 of the filter: "))
            let wrong = try await server.get("/transactions?outcome=lost")
            #expect(wrong.status == 400)
            #expect(wrong.text.contains("“lost” is no outcome"))
        }
    }

    @Test func pagesFollowEachOtherByCursor() async throws {
        try await run { server in
            for _ in 0..<2 { _ = try await server.post(LoginHistory().clientSet()) }
            let first = try await server.get("/transactions?limit=2").text
            #expect(first.contains("data-live"))
            let next = try #require(first.firstMatch(of: #/rel=next href="(\?[^"]+)"/#)?.1).replacing(
                "&amp;", with: "&")
            let second = try await server.get("/transactions\(next)").text
            #expect(second.matches(of: #/<li id="t-/#).count == 1)
            #expect(!second.contains("data-live"), "Only the first page is live.")
            let ids = Set((first + second).matches(of: #/<li id="(t-[^"]+)"/#).map(\.1))
            #expect(ids.count == 3)
        }
    }

    @Test func aTransactionShowsBothSidesAndLeadsToItsRequest() async throws {
        try await run { server in
            let page = try await server.get("/transactions/\(SupportCode(login.transaction))").text
            #expect(page.contains("<li class=\"x d1\" id=\"x0-3\"><details><summary><span title="))
            #expect(
                page.contains("<li class=\"p l1 d2\" id=\"x1-1\"><details open><summary><span>server</span>"),
                "The server's part stands inside the request that caused it.")
            #expect(page.contains("server 9.00 ms"))
            let ids = page.matches(of: #/<li [^>]*id="([^"]+)"/#).map(\.output.1)
            #expect(ids.contains("bx0-1") && Set(ids).count == ids.count, "\(ids)")
            let request = try await server.get("/network/\(FactID(source: login.client.id, sequence: 3))").text
            #expect(request.contains("href=\"../transactions/\(login.transaction)?at=x0-3#x0-3\""))
            #expect(try await server.get("/network").text.contains("href=\"network/\(login.client.id):3\""))
        }
    }

    @Test func whatIsNotThereIsAPageThatSaysSo() async throws {
        try await run { server in
            for path in [
                "/transactions/\(GUID())", "/transactions/nonsense", "/network/nonsense",
                "/transactions/\(login.transaction)/zip",
            ] {
                let response = try await server.get(path)
                #expect(response.status == 404)
                #expect(response.header("Content-Type") == "text/html; charset=utf-8")
            }
            let home = try await server.get("/")
            #expect(home.status == 303)
            #expect(home.header("Location") == "/transactions")
            #expect(try await server.get("//").header("Location") == "/transactions")
        }
    }

    @Test func aTransactionCanBeTakenAway() async throws {
        try await run { server in
            let path = "/transactions/\(login.transaction)"
            let json = try await server.get("\(path)/json")
            #expect(try JSONDecoder.waybill().decode(TransactionRecord.self, from: json.body).parts.count == 2)
            let har = try await server.get("\(path)/har")
            let log = try #require(har.json?["log"] as? [String: Any])
            #expect((log["entries"] as? [Any])?.count == 1)
            #expect(
                har.header("Content-Disposition")
                    == "attachment; filename=\"waybill-\(SupportCode(login.transaction)).har\"")
            let html = try await server.get("\(path)/html")
            #expect(
                html.header("Content-Disposition")
                    == "attachment; filename=\"waybill-\(SupportCode(login.transaction)).html\"")
            #expect(html.text.contains("<h1>login \(SupportCode(login.transaction))</h1>"))
            #expect(html.text.contains("POST /login"))
            let otlp = try await server.get("\(path)/otlp").text
            #expect(otlp.matches(of: #/"spanId"/#).count == 3, "Two parts and a request.")
        }
    }

    @Test func whatComesBeforeAndAfterIsOfTheSameSource() async throws {
        let source = login.client
        func share(_ transactions: [GUID]) -> TransactionSet {
            let facts = transactions.enumerated().map { index, id in
                Fact(
                    sequence: Int64(index + 7), part: Int64(index + 7), atMicroseconds: Int64(20_000 * (index + 1)),
                    content: .opened(Fact.Opened(transaction: id, useCase: 0)))
            }
            let clock = ClockAnchor(atMicroseconds: 0, offsetMicroseconds: LoginHistory.begun)
            let ledger = Ledger(recorded: 8, pending: 8)
            return TransactionSet(
                id: GUID(),
                sources: [
                    TransactionSet.Share(
                        source: source, clocks: [clock], names: [], ledger: ledger, facts: facts,
                        sourceProof: IdentityProof("the secret of source \(source.id)"))
                ])
        }
        let (second, third) = (GUID(), GUID())
        try await run { server in
            _ = try await server.post(share([second, third]))
            let page = try await server.get("/transactions/\(second)").text
            #expect(page.contains("<a rel=prev class=failed href=\"\(login.transaction)\">"))
            #expect(
                page.matches(of: #/<a rel=next class=\w+ href="([^"]+)"/#).map { String($0.1) } == [third.description])
            #expect(try await server.get("/transactions/\(third)").text.contains("nothing after"))
        }
    }

    @Test func theFirstPageAndAllThatItLoadsAreUnderAHundredKilobytes() async throws {
        try await run { server in
            for _ in 0..<60 { _ = try await server.post(LoginHistory().clientSet()) }
            let page = try await server.get("/transactions")
            #expect(page.text.matches(of: #/<li id="t-/#).count == 50)
            var byteCount = page.body.count
            let assets = Set(page.text.matches(of: #/"(assets/[^"]+)"/#).map { String($0.1) })
            #expect(assets.count == 3)
            for asset in assets {
                let response = try await server.get("/\(asset)")
                #expect(response.header("Cache-Control") == "public, max-age=31536000, immutable")
                byteCount += response.body.count
            }
            #expect(byteCount < 100_000, "\(byteCount)")
        }
    }

    @Test func whoeverFollowsIsToldOfACommit() async throws {
        try await run { server in
            let client = try RawClient(port: server.port)
            try await client.send(RawClient.head("GET", "/live"))
            let begun = try await client.receive(until: "retry: ")
            #expect(begun.contains("text/event-stream"))
            _ = try await server.post(LoginHistory().clientSet())
            let told = try await client.receive(until: "event: changed")
            #expect(told.contains("event: changed"))
        }
    }
}
#endif
