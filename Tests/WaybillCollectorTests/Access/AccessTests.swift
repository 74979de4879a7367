#if Collector
import Foundation
import HTTPTypes
import TestSupport
import Testing
@testable import WaybillCollector
import WaybillCore
import WaybillQueries
import WaybillTesting

/// Access by route, role and project.
@Suite(.timeLimit(.minutes(5))) struct AccessTests {
    private let folder: TemporaryDirectory
    private let file: TokenFile
    private let login = LoginHistory()

    init() throws {
        folder = try TemporaryDirectory()
        file = TokenFile(folder: folder.url)
    }

    private func header(_ role: Role, _ project: ProjectName = .standard) throws -> [String: String] {
        ["Authorization": try file.add(role: role, project: project).secret.fieldValue]
    }

    private func serving(_ body: (CollectorServer) async throws -> Void) async throws {
        try await CollectorServer.run(try Collector(folder: folder.url, access: .tokens), body)
    }

    /// Requests every route with every role: an allowed role gets neither 401 nor 403.
    @Test(arguments: Route.allCases, Role.allCases)
    func aRouteLetsThoseInWhoHaveItsRole(route: Route, role: Role) async throws {
        let header = try header(role)
        try await serving { server in
            let path = route.path.replacing("{id}", with: "\(login.transaction)")
            let isLetIn = ![401, 403].contains(
                try await RawClient.send(route.method.rawValue, path, to: server.port, headers: header, body: Data())
                    .status)
            #expect(isLetIn == (route.role == nil || route.role == role || role == .admin))
        }
    }

    @Test(arguments: Route.allCases)
    func withoutATokenOnlyTheProbesAreAnswered(route: Route) async throws {
        _ = try header(.admin)
        try await serving { server in
            let path = route.path.replacing("{id}", with: "\(login.transaction)")
            let none = try await RawClient.send(route.method.rawValue, path, to: server.port, body: Data())
            guard route.role != nil else { return #expect(none.text == #"{"status":"ok"}"#) }
            none.expectProblem(401, "Unauthorized")
            #expect(none.header("WWW-Authenticate") == "Bearer")
            for field in [
                "Bearer 0123456789abcdef", "Basic MDEyMzQ1Njc4OWFiY2RlZg==", "Bearer \(AccessToken.columns)", "",
            ] {
                let wrong = try await RawClient.send(
                    route.method.rawValue, path, to: server.port, headers: ["Authorization": field], body: Data())
                wrong.expectProblem(401, "Unauthorized")
                #expect(wrong.header("WWW-Authenticate") == #"Bearer error="invalid_token""#)
            }
        }
    }

    @Test func aRoleThatIsNotEnoughIsA403ThatSaysWhichIs() async throws {
        let header = try header(.ingest)
        try await serving { server in
            let answer = try await server.get("/v1/transactions", headers: header)
            answer.expectProblem(403, "Forbidden")
            #expect(answer.header("WWW-Authenticate") == #"Bearer error="insufficient_scope""#)
            #expect(answer.text.contains("role ingest, and this takes the role read"))
            #expect(answer.text.contains("`waybill token add FOLDER --role read`"))
        }
    }

    @Test func nothingOfAProjectIsVisibleToAnother() async throws {
        let shop = try #require(ProjectName("shop"))
        let (ours, theirs) = (try header(.admin), try header(.admin, shop))
        try await serving { server in
            let body = Data(login.clientSet().encoded())
            #expect(try await server.post(body, headers: ours).status == 200)
            for path in [
                "/v1/transactions", "/v1/sources", "/v1/names", "/v1/export", "/v1/transactions/\(login.transaction)",
                "/metrics",
            ] {
                let answer = try await server.get(path, headers: theirs)
                #expect(!answer.text.contains("\(login.transaction)") || answer.status == 404)
                #expect(!answer.text.contains("\(login.client.id)"))
                #expect(!answer.text.contains(#"project="waybill""#))
            }
            // The other project can't even tell that the set was received: the same facts are new to it.
            let receipt = try Receipt.decode(Array(try await server.post(body, headers: theirs).body))
            #expect(receipt.acceptedCount == 6)
            let erased = try await RawClient.send(
                "DELETE", "/v1/transactions?id=\(login.transaction)", to: server.port, headers: theirs)
            #expect(erased.text == #"{"fact_count":6,"transaction_count":1}"#)
            #expect(try await server.get("/v1/transactions/\(login.transaction)", headers: ours).status == 200)
        }
        #expect(try folder.names().filter { $0.hasSuffix(".sqlite") }.sorted() == ["shop.sqlite", "waybill.sqlite"])
    }

    @Test func tokensThatAreAddedAndRevokedAreNoticedByTheRunningCollector() async throws {
        let first = try file.add(role: .read, project: .standard)
        try await serving { server in
            let second = try file.add(role: .read, project: .standard)
            for token in [first, second] {
                #expect(
                    try await server.get("/v1/sources", headers: ["Authorization": token.secret.fieldValue]).status
                        == 200)
            }
            try file.revoke(first.token.id)
            #expect(
                try await server.get("/v1/sources", headers: ["Authorization": first.secret.fieldValue]).status == 401)
            #expect(
                try await server.get("/v1/sources", headers: ["Authorization": second.secret.fieldValue]).status == 200)
        }
    }

    @Test func aTokenThatHasEndedIsA401ThatSaysSo() async throws {
        let clock = ManualClock()
        let day = (clock.wallMicroseconds() / 86_400_000_000 + 2) * 86_400_000_000
        let secret = try file.add(role: .read, project: .standard, end: day).secret
        let headers = ["Authorization": secret.fieldValue]
        let collector = try Collector(folder: folder.url, access: .tokens, limits: CollectorLimits(), clock: clock)
        try await CollectorServer.run(collector) { server async throws in
            #expect(try await server.get("/v1/sources", headers: headers).status == 200)
            clock.advance(by: .seconds(2 * 86_400))
            let answer = try await server.get("/v1/sources", headers: headers)
            answer.expectProblem(401, "Unauthorized")
            #expect(answer.header("WWW-Authenticate") == #"Bearer error="invalid_token""#)
            #expect(answer.text.contains("This token ended on "))
        }
    }

    /// Breaks when a page of any other site can have the browser load recorded data.
    @Test(arguments: Route.allCases.filter { $0.role != .ingest })
    func whatThePageOfAnotherSiteAsksForIsA403(route: Route) async throws {
        var header = try header(.admin)
        header["Sec-Fetch-Site"] = "cross-site"
        try await serving { server in
            let path = route.path.replacing("{id}", with: "\(login.transaction)")
            try await RawClient.send(route.method.rawValue, path, to: server.port, headers: header, body: Data())
                .expectProblem(403, "Forbidden")
        }
    }

    /// Breaks when an app in a browser can't send its recordings.
    @Test(arguments: [Route.addSet, .addSpans])
    func aPageOfAnotherSiteMaySendWhatItRecordsWithAToken(route: Route) async throws {
        var header = try header(.ingest)
        let asked = [
            "Origin": "https://shop.example", "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization,content-type",
        ]
        header["Sec-Fetch-Site"] = "cross-site"
        try await serving { server in
            let answer = try await RawClient.send("OPTIONS", route.path, to: server.port, headers: asked)
            #expect(answer.status == 204)
            #expect(answer.header("Access-Control-Allow-Origin") == "*")
            #expect(answer.header("Access-Control-Allow-Methods") == "POST")
            #expect(answer.header("Access-Control-Allow-Headers")?.contains("authorization") == true)
            header["Content-Type"] =
                route == .addSet ? "application/vnd.waybill.transaction-set.v1+json" : "application/json"
            for token in [header["Authorization"], nil] {
                header["Authorization"] = token
                let sent = try await RawClient.send(
                    "POST", route.path, to: server.port, headers: header, body: Data("{}".utf8))
                #expect(sent.status == (token == nil ? 401 : route == .addSet ? 422 : 200))
                #expect(sent.header("Access-Control-Allow-Origin") == "*", "or the page does not learn why")
            }
        }
    }

    /// Without a token, any page that somebody opens could fill a collector with open access.
    @Test(arguments: [Route.addSet, .addSpans])
    func anOpenCollectorTakesNothingFromThePageOfAnotherSite(route: Route) async throws {
        let collector = try Collector(folder: folder.url, limits: CollectorLimits())
        try await CollectorServer.run(collector) { server async throws in
            let asked = ["Origin": "https://shop.example", "Access-Control-Request-Method": "POST"]
            try await RawClient.send("OPTIONS", route.path, to: server.port, headers: asked)
                .expectProblem(405, "Method Not Allowed")
            let fields = ["Sec-Fetch-Site": "cross-site", "Content-Type": "application/json"]
            let sent = try await RawClient.send(
                "POST", route.path, to: server.port, headers: fields, body: Data("{}".utf8))
            #expect(sent.status == 403)
            #expect(sent.header("Access-Control-Allow-Origin") == nil)
        }
    }

    /// Breaks when a page of another site can load an answer as a script or a picture.
    @Test func everyAnswerIsKeptFromOtherSites() async throws {
        let header = try header(.admin)
        try await serving { server in
            let set = try await server.post(Data(login.clientSet().encoded()), headers: header)
            let paths = [
                "/v1/transactions", "/v1/transactions/\(login.transaction)", "/v1/sources", "/v1/export", "/v1/names",
                "/metrics", "/v1/health", "/v1/ready", "/v1/nothing", "/v1/transactions?limit=x",
            ]
            var answers = [set, try await server.get("/v1/transactions")]
            for path in paths { answers.append(try await server.get(path, headers: header)) }
            for answer in answers {
                #expect(answer.header("X-Content-Type-Options") == "nosniff", "\(answer.text)")
                #expect(answer.header("Cross-Origin-Resource-Policy") == "same-origin", "\(answer.text)")
            }
        }
    }

    @Test func whoHasShownAValidTokenIsKnown() throws {
        let (secret, token) = try file.add(role: .ingest, project: .standard)
        let reader = try file.add(role: .read, project: .standard).secret
        let collector = try Collector(folder: folder.url, access: .tokens)
        func isKnown(_ fields: [String: String]) -> Bool {
            var request = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1", path: "/v1/health")
            for (name, value) in fields { HTTPField.Name(name).map { request.headerFields[$0] = value } }
            return collector.identity(of: request) != nil
        }
        let cookie = try collector.sessionCookie(reader)
        #expect(isKnown(["Authorization": secret.fieldValue]))
        #expect(isKnown(cookie))
        for fields in [
            [:], ["Authorization": "Bearer 0123456789abcdef"], ["Cookie": "waybill_session=\(secret.text)"],
        ] { #expect(!isKnown(fields)) }
        try file.revoke(token.id)
        #expect(!isKnown(["Authorization": secret.fieldValue]))
        let open = try Collector(folder: folder.url, access: .open)
        #expect(open.identity(of: HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/")) != nil)
    }

    /// The answer must not call the token wrong, because clients would then stop: the token may be valid.
    @Test func aTokenFileThatCannotBeReadIsA503() async throws {
        let header = try header(.read)
        try await serving { server in
            try Data("not a token\n".utf8).write(to: file.url)
            try await server.get("/v1/sources", headers: header).expectProblem(503, "Service Unavailable")
            #expect(try await server.get("/v1/health").status == 200)
        }
    }

    @Test func aTokenThatSendsTooManyRequestsIsA429WithWhenToComeAgain() async throws {
        let (busy, other) = (try header(.read), try header(.read))
        var limits = CollectorLimits()
        limits.requestsPerSecond = 2
        let clock = ManualClock()
        let collector = try Collector(folder: folder.url, access: .tokens, limits: limits, clock: clock)
        try await CollectorServer.run(collector) { server async throws in
            for _ in 0..<4 { #expect(try await server.get("/v1/sources", headers: busy).status == 200) }
            let answer = try await server.get("/v1/sources", headers: busy)
            answer.expectProblem(429, "Too Many Requests")
            #expect(answer.header("Retry-After") == "1")
            #expect(try await server.get("/v1/sources", headers: other).status == 200, "Each token has its own rate.")
            clock.advance(by: .seconds(1))
            #expect(try await server.get("/v1/sources", headers: busy).status == 200)
        }
    }
}
#endif
