#if Collector
import Foundation
import TestSupport
import Testing
@testable import WaybillCollector
import WaybillCore
import WaybillInspector
import WaybillQueries
import WaybillStore

/// The pages about sources and delivery, for a collector and for a store in a file.
@Suite(.timeLimit(.minutes(5))) struct InspectorSourcesTests {
    private let folder: TemporaryDirectory
    private let login = LoginHistory()

    init() throws { folder = try TemporaryDirectory() }

    private func run(_ body: (CollectorServer) async throws -> Void) async throws {
        try await CollectorServer.run(try Collector(folder: folder.url), body)
    }

    @Test func theListHasALineForEachSourceAndLeadsToItsPage() async throws {
        try await run { server in
            _ = try await server.post(login.clientSet(1...2))
            _ = try await server.post(login.clientSet(5...6))
            _ = try await server.post(login.serverSet())
            let list = try await server.get("/sources").text
            #expect(list.contains("4 delivered, 2 missing in 1 gap"))
            #expect(list.contains("<b>app <u>1.2</u></b>") && list.contains("iPhone17,1 · iOS 18.1"))
            #expect(list.contains("aria-current=page>Sources</a>"))
            let ids = list.matches(of: #/<a href="sources/([^"]+)">/#).map { String($0.1) }
            #expect(
                ids == [login.server.id.description, login.client.id.description],
                "The one that was heard last is in front.")
            let page = try await server.get("/sources/\(login.client.id)").text
            #expect(page.contains("3 to 4<td class=n>2<td>"))
            #expect(page.contains("href=\"../transactions/\(login.transaction)\""))
            #expect(try await server.get("/sources/\(login.client.id.supportCode)").text.contains("3 to 4"))
        }
    }

    @Test func sourcesAreFilteredByTheAddress() async throws {
        try await run { server in
            _ = try await server.post(login.clientSet())
            _ = try await server.post(login.serverSet())
            let found = try await server.get("/sources?app=server&text=").text
            #expect(found.matches(of: #/<a href="sources\//#).count == 1, "\(found.suffix(1200))")
            #expect(found.contains("<option value=\"server\" selected>"))
            #expect(
                try await server.get("/sources?text=ios+18").text.contains("sources/\(login.client.id)"),
                "A form sends a space as a plus.")
            #expect(
                try await server.get("/transactions?filter=login+outcome%3Afailed").text.contains(
                    "transactions/\(login.transaction)"))
            let none = try await server.get("/sources?text=windows")
            #expect(none.status == 200 && none.text.contains("None of the 2 sources here passes the filter."))
            let first = try await server.get("/sources?limit=1").text
            let next = try #require(first.firstMatch(of: #/rel=next href="(\?[^"]+)"/#)?.1).replacing(
                "&amp;", with: "&")
            #expect(try await server.get("/sources\(next)").text.contains(login.client.id.description))
            for wrong in ["/sources?limit=0", "/sources?cursor=x", "/sources?sort=up", "/sources?colour=red"] {
                #expect(try await server.get(wrong).status == 400, "\(wrong)")
            }
            #expect(try await server.get("/sources/\(GUID())").status == 404)
            #expect(
                try await server.value("/v1/sources?sort=newest&app=app", as: RecordPage<SourceRecord>.self).rows.map(
                    \.id) == [
                        login.client.id
                    ])
        }
    }

    /// Breaks when nobody learns of rejected data before a user complains.
    @Test func whatACollectorRejectsIsToldWithTheReason() async throws {
        try await run { server in
            _ = try await server.post(login.clientSet())
            var set = login.clientSet(1...1)
            set.sources[0].facts = [
                Fact(sequence: 7, part: 1, atMicroseconds: 16_000, content: .closed(Fact.Closed(outcome: .succeeded)))
            ]
            #expect(try await server.post(set).rejections.count == 1)
            let page = try await server.get("/delivery").text
            #expect(page.contains("<b>the part is closed already by another fact</b> <span>1 fact, sequence 7</span>"))
            #expect(page.contains("<dt>Facts accepted<dd>6") && page.contains("<dt>Facts rejected<dd>1"))
            #expect(page.contains("6 new facts in 1 set in the last 48 hours"))
            let file = try await server.get("/delivery/rejections.json")
            #expect(file.header("Content-Disposition") == "attachment; filename=\"waybill-rejections.json\"")
            let groups = try #require(file.json?["groups"] as? [[String: Any]])
            #expect(groups.first?["source"] as? String == login.client.id.description)
            #expect(try await server.get("/delivery/quarantine.json").text == "[]")
            #expect(try await server.get("/delivery/nothing.json").status == 404)
        }
    }

    @Test func aNameThatChangedStandsBesideTheDelivery() async throws {
        try await run { server in
            _ = try await server.post(login.clientSet())
            var set = LoginHistory().clientSet()
            set.sources[0].source.appVersion = "1.3"
            set.sources[0].names = [RecordedName(useCase: 0, event: 1, name: "asked")]
            _ = try await server.post(set)
            let page = try await server.get("/delivery").text
            #expect(page.contains("event 1 of login"))
            #expect(page.contains("<u>then</u> <b>asked</b><td>app<td>1.3<td>2026-03-01"))
        }
    }

    @Test func aPhonesStoreShowsItsQuarantineAndWhatIsPending() async throws {
        let file = folder.url.appending(path: "phone.sqlite")
        do {
            let store = try Store(.file(file))
            try store.register(login.client)
            let anchor = ClockAnchor(atMicroseconds: 0, offsetMicroseconds: LoginHistory.begun)
            try store.append(RecordedBatch(source: login.client.id, facts: login.clientFacts, clocks: [anchor]))
            let set = try #require(
                try store.lease(
                    owner: GUID(), now: 0, expiresIn: 1000, limit: LeaseLimit(factCount: 4), isAlive: { _ in false }))
            let rejection = Receipt.Rejection(source: login.client.id, sequence: 2, index: 1, reason: "code unknown")
            #expect(try store.settle(set.id, rejections: [rejection], at: LoginHistory.begun))
        }
        try await CollectorServer.run(try Inspector(file: file).router()) { server in
            let list = try await server.get("/sources").text
            #expect(list.contains("3 delivered, 2 pending, 1 quarantined"))
            let page = try await server.get("/delivery").text
            #expect(page.contains("<dt>Pending<dd>2 facts") && page.contains("<dt>Delivered<dd>3 facts"))
            #expect(
                page.contains("<b>code unknown</b> <span>1 fact, sequence 2</span>")
                    && page.contains("<p><b>&quot;kind&quot;</b>: <i>&quot;event&quot;</i>,"))
            #expect(!page.contains("Since this collector was started"))
            #expect(try await server.get("/delivery/quarantine.json").text.contains("\"reason\":\"code unknown\""))
            #expect(try await server.get("/delivery/rejections.json").status == 404)
        }
    }

    @Test func withoutATokenThesePagesLeadToTheLoginAndBack() async throws {
        _ = try TokenFile(folder: folder.url).add(role: .read, project: .standard)
        try await CollectorServer.run(try Collector(folder: folder.url, access: .tokens)) { server in
            for (path, login) in [
                "/sources": "login?to=sources", "/delivery": "login?to=delivery",
                "/sources/x": "../login?to=sources%2Fx",
            ] {
                let response = try await server.get(path)
                #expect(response.status == 303 && response.header("Location") == login)
            }
            #expect(try await server.get("/delivery/quarantine.json").status == 401)
            for path in ["sources", "delivery", "sources/\(GUID())"] {
                #expect(try await server.get("/login?to=\(path)").text.contains("name=to value=\"\(path)\""))
            }
        }
    }
}
#endif
