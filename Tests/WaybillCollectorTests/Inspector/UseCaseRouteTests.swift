#if Collector
import Foundation
import TestSupport
import Testing
@testable import WaybillCollector
import WaybillCore
@testable import WaybillInspector

/// The pages of use cases over HTTP.
@Suite(.timeLimit(.minutes(5))) struct UseCaseRouteTests {
    private let folder: TemporaryDirectory
    private let login = LoginHistory()

    init() throws { folder = try TemporaryDirectory() }

    private func run(_ sets: [TransactionSet], _ body: (CollectorServer) async throws -> Void) async throws {
        try await CollectorServer.run(try Collector(folder: folder.url)) { server in
            for set in sets { _ = try await server.post(set) }
            try await body(server)
        }
    }

    private static let views = ["", "/duration", "/funnel", "/dropoff", "/legs", "/compare", "/why"]

    @Test func anEmptyStoreSaysThatItIsEmpty() async throws {
        try await run([]) { server in
            let list = try await server.get("/use-cases")
            #expect(list.status == 200)
            #expect(list.text.contains("No use cases") && !list.text.contains("<ol class=cases>"))
            #expect(try await server.get("/use-cases/login").status == 404)
            for view in Self.views {
                let page = try await server.get("/use-cases/0\(view)")
                #expect(page.status == 200, "\(view)")
                #expect(page.text.contains("class=none"), "\(view)")
            }
        }
    }

    @Test func oneTransactionIsOnEveryPage() async throws {
        try await run([login.clientSet(), login.serverSet()]) { server in
            let list = try await server.get("/use-cases").text
            #expect(list.contains("<h2><a href=\"use-cases/login\">login</a></h2>"))
            #expect(list.contains("href=\"transactions?use_case=login&amp;outcome=failed\""))
            #expect(list.contains("p50 succeeded<dd>"))
            let texts = [
                ">LoginError 3</a>", "<dt>Transactions<dd>1</div>",
                "<td data-label=\"Reached\">1<td data-label=\"Of all\">100.0 %",
                "1 transaction</a> did not finish",
                "<td data-label=\"Of all time\">60.0 %<td data-label=\"Transactions\">1<td data-label=\"p50\">9.00 ms",
                "<b>What is to be compared?</b>", "so there are no others",
            ]
            for (view, text) in zip(Self.views, texts) {
                let page = try await server.get("/use-cases/login\(view)\(view == "/dropoff" ? "?outcome=failed" : "")")
                #expect(page.status == 200)
                #expect(page.text.contains(text), "\(view): \(text)")
                #expect(!page.text.contains("style="))
            }
        }
    }

    @Test func everyLinkLeadsToAPageThatIsThere() async throws {
        try await run([login.clientSet(), login.serverSet()]) { server in
            for path in ["/use-cases"] + Self.views.map({ "/use-cases/login\($0)?since=2026-01-01&filter=variant" }) {
                let page = try await server.get(path)
                let base = try #require(URL(string: "http://waybill\(path)"))
                let links = Set(
                    page.text.matches(of: #/ href="([^"#]+)"/#).map { String($0.1).replacing("&amp;", with: "&") })
                #expect(links.count > 8)
                for link in links {
                    let url = try #require(URL(string: link, relativeTo: base)?.absoluteURL)
                    let answer = try await server.get(
                        "\(url.path(percentEncoded: true))\(url.query(percentEncoded: true).map { "?\($0)" } ?? "")")
                    #expect(answer.status == 200, "\(path) leads to \(link)")
                }
            }
        }
    }

    @Test(arguments: [
        ("/use-cases?since=someday", "“someday” is no time"),
        ("/use-cases?filter=outcome:lost", "Character 9 of the filter: "),
        ("/use-cases?colour=red", "There is no parameter “colour”"),
        ("/use-cases/login?limit=5", "There is no parameter “limit”"),
        ("/use-cases/login/duration?from=requestSend", "did you mean “requestSent”?"),
        ("/use-cases/login/duration?last=1", "give yes"),
        ("/use-cases/login/funnel?step=%5E&step=nothing", "No event here is called “nothing”"),
        ("/use-cases/login/funnel?within=soon", "“soon” is no length of time"),
        ("/use-cases/login/legs?from=x", "There is no parameter “from”"),
        ("/use-cases/login/compare?a=1h..0h", "give A and B"),
        ("/use-cases/login/compare?a=x&b=y", "“x” is no stretch of time"),
        ("/use-cases/login/compare?by=token&a=x&b=y", "Values under the name of a secret"),
        ("/use-cases/login/duration?by=token", "Values under the name of a secret"),
        ("/use-cases/login/duration?by=nothing", "No transaction here has an attribute “nothing”"),
        ("/use-cases/login/compare?by=nothing&a=x&b=y", "No transaction here has an attribute “nothing”"),
    ])
    func whatCannotBeAnsweredIsOneSentence(path: String, sentence: String) async throws {
        try await run([login.clientSet()]) { server in
            let page = try await server.get(path)
            #expect(page.status == 400)
            #expect(page.text.contains(sentence))
            #expect(page.text.contains("<form class=find"), "It can be put right.")
        }
    }

    @Test func aMistakeInTheFilterLeadsToWhatWasMeant() async throws {
        try await run([login.clientSet(), login.serverSet()]) { server in
            for (path, link) in [
                (
                    "/transactions?since=2026-01-01&filter=took%3E1us%20outcome:faild",
                    "?since=2026-01-01&amp;filter=took%3E1us%20outcome%3Afailed"
                ),
                ("/transactions?filter=-event:requestSend", "?filter=-event%3ArequestSent"),
                ("/transactions?filter=url%3Dhttp://a", "?filter=attribute%3Aurl%3Dhttp%3A%2F%2Fa"),
                ("/network?filter=statu:4xx", "?filter=status%3A4xx"),
                ("/use-cases?filter=versio:1", "?filter=version%3A1"),
                ("/use-cases/login/duration?filter=outcom:failed", "?filter=outcome%3Afailed"),
            ] {
                let page = try await server.get(path)
                #expect(page.status == 400)
                #expect(page.text.contains("<a class=chip href=\"\(link)\">"), "\(path)")
                let corrected = try await server.get(
                    "\(path.prefix { $0 != "?" })\(link.replacing("&amp;", with: "&"))")
                #expect(corrected.status == 200, "\(link)")
            }
            #expect(
                try await !server.get("/transactions?filter=outcome:zzzzzzzzz").text.contains("Show outcome"),
                "Nothing is near.")
        }
    }

    @Test func anAttributeIsFoundAsItIsShown() async throws {
        try await run([login.clientSet()]) { server in
            let list = try await server.get("/transactions").text
            #expect(list.contains("variant=B"), "The page prints it.")
            for filter in ["variant%3DB", "VARIANT%3Db", "attribute:variant%3DB"] {
                #expect(try await server.get("/transactions?filter=\(filter)").text.contains("<li id="), "\(filter)")
            }
            #expect(try await !server.get("/transactions?filter=variant%3DA").text.contains("<li id="))
            let terms = try await server.get("/terms").text
            for term in ["outcome:failed", "useCase:login", "event:requestSent", "attribute:variant=B", "app:"] {
                #expect(terms.contains("\"\(term)"), "\(term) is offered.")
            }
        }
    }

    @Test func whatSetsGroupsApartIsEnoughToCompareTheMostFrequent() async throws {
        var other = LoginHistory().clientSet()
        for index in other.sources[0].facts.indices {
            if case .opened(var opened) = other.sources[0].facts[index].content, opened.attributes["variant"] != nil {
                opened.attributes["variant"] = "A"
                other.sources[0].facts[index].content = .opened(opened)
            }
        }
        try await run([login.clientSet(), other]) { server in
            let page = try await server.get("/use-cases/login/compare?by=variant")
            #expect(page.status == 200)
            #expect(page.text.contains("<h2>A and B</h2>"))
            let chosen = ["A", "B"].map { "<option value=\"\($0)\" selected>" }
            #expect(chosen.allSatisfy(page.text.contains), "The form says what is compared.")
            #expect(try await server.get("/use-cases/login/compare.csv?by=variant").status == 200)
        }
    }

    @Test func aHostileNameLeadsToItsOwnPageAndFiles() async throws {
        for name in ["a/../b?c#d&e=\"<script>", "100%", "漢字 %2F", "..", "", "7"] {
            let folder = try TemporaryDirectory()
            try await CollectorServer.run(try Collector(folder: folder.url)) { server in
                var set = login.clientSet()
                set.sources[0].names = [
                    RecordedName(useCase: 0, name: name), RecordedName(useCase: 0, event: 1, name: name),
                ]
                _ = try await server.post(set)
                let list = try await server.get("/use-cases").text
                let link = try #require(list.firstMatch(of: #/<h2><a href="([^"]+)"/#)?.1)
                #expect(!link.contains("&") && !link.contains("<"))
                let page = try await server.get("/\(link)/dropoff?outcome=failed")
                #expect(page.status == 200, "\(name)")
                #expect(page.text.contains("1 transaction</a> did not finish"), "\(name)")
                let file = try await server.get("/\(link)/duration.csv")
                #expect(file.text.hasPrefix("segment,start,count,"), "\(name)")
                #expect(file.header("Content-Disposition") == "attachment; filename=\"waybill-duration.csv\"")
                #expect(file.header("Content-Type") == "text/csv; charset=utf-8; header=present")
            }
        }
    }

    @Test func filesOfTheOverviewHaveWhatThePageShows() async throws {
        try await run([login.clientSet()]) { server in
            #expect(
                try await server.get("/use-cases/login/errors.csv").text
                    == "domain,code,count,name\r\nLoginError,3,1,\r\n")
            let outcomes = try await server.get("/use-cases/login/outcomes.csv").text
            #expect(
                outcomes == "start,end,runs,open,succeeded,failed,cancelled,abandoned,interrupted,timed_out\r\n"
                    + "2026-03-01T12:00:00.000000Z,2026-03-01T12:00:01.000000Z,1,0,0,1,0,0,0,0\r\n",
                "One transaction is of one second.")
            #expect(try await server.get("/use-cases/login/nothing.csv").status == 404)
            #expect(try await server.get("/use-cases/login/nothing").status == 404)
            #expect(try await server.get("/use-cases/login/.csv").status == 404)
            #expect(try await server.get("/use-cases/login/compare.csv").status == 400)
            #expect(try await server.get("/use-cases/login/outcomes.csv?since=1h").text.hasPrefix("start,end,runs,"))
        }
    }

    @Test func theUsualOrderIsThatOfMost() {
        let histories = [["a", "b", "a", "c"], ["b", "a", "c"], ["a", "b", "rare"], ["a", "b", "c"]]
        #expect(TypicalOrder(of: histories).names == ["a", "b", "c"])
        #expect(TypicalOrder(of: []).names.isEmpty)
        #expect(TypicalOrder(of: [(0..<30).map { "event \($0)" }]).names.count == 8)
    }
}
#endif
