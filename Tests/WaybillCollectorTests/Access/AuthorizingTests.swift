#if Collector
import Foundation
import HTTPTypes
import TestSupport
import Testing
@testable import WaybillCollector
import WaybillCore
import WaybillQueries
import WaybillTesting

/// A service with its own users decides who may do what. The tests send real requests.
@Suite(.timeLimit(.minutes(5))) struct AuthorizingTests {
    private struct Broken: Error, CustomStringConvertible {
        let description = "the password of the database is hunter2"
    }

    private let folder: TemporaryDirectory
    private let login = LoginHistory()
    private let calls = Locked<[HTTPRequest]>([])

    init() throws { folder = try TemporaryDirectory() }

    /// Authenticates users by a cookie or a field of the form `NAME.PROJECT.ROLE`.
    private var access: Access {
        .authorizing { [calls] request in
            calls.withLock { $0.append(request) }
            let cookie = request.headerFields[.cookie]?.split(separator: ";").map { $0.drop { $0 == " " } }
                .first { $0.hasPrefix("user=") }?.dropFirst(5)
            let field = HTTPField.Name("X-User").flatMap { request.headerFields[$0] }
            guard let user = field ?? cookie.map(String.init) else {
                throw Access.Refusal("Log in to the shop first.", headerFields: [.wwwAuthenticate: "Shop"])
            }
            if user == "banned" { throw Access.Refusal("Your account is closed.", status: .forbidden) }
            if user == "odd" { throw Access.Refusal("No.", status: .ok) }
            if user == "broken" { throw Broken() }
            let words = user.split(separator: ".").map(String.init)
            guard words.count == 3, let role = Role(rawValue: words[2]) else { throw Access.Refusal("Who are you?") }
            return try Access.Identity(name: words[0], project: words[1], role: role)
        }
    }

    private func serving(
        _ limits: CollectorLimits = CollectorLimits(), log: LogLines = LogLines(), clock: ManualClock = ManualClock(),
        _ body: (CollectorServer, Collector) async throws -> Void
    ) async throws {
        let collector = try Collector(folder: folder.url, access: access, limits: limits, clock: clock)
        try await CollectorServer.run(collector, logger: log.logger) { server async throws in
            try await body(server, collector)
        }
    }

    private func fields(_ name: String, _ project: String, _ role: Role) -> [String: String] {
        ["X-User": "\(name).\(project).\(role.rawValue)"]
    }

    private func fields(_ name: String, _ role: Role) -> [String: String] { fields(name, "shop", role) }

    /// Breaks when the collector admits a client that the service refuses, or doesn't tell the client what to do.
    @Test(arguments: Route.allCases) func aRefusedClientGetsTheSentence(route: Route) async throws {
        try await serving { server, _ async throws in
            let path = route.path.replacing("{id}", with: "\(login.transaction)")
            let answer = try await RawClient.send(route.method.rawValue, path, to: server.port, body: Data())
            guard route.role != nil else {
                #expect(answer.text == #"{"status":"ok"}"#)
                return #expect(calls.withLock { $0.isEmpty }, "probes have no identity")
            }
            #expect(answer.status == 401)
            #expect(answer.text.contains("Log in to the shop first."))
            #expect(answer.header("WWW-Authenticate") == "Shop")
            #expect(calls.withLock { $0.count } == 1)
        }
    }

    @Test func aRefusalHasItsStatusUnlessThatIsNoRefusal() async throws {
        try await serving { server, _ async throws in
            let banned = try await server.get("/v1/sources", headers: ["X-User": "banned"])
            banned.expectProblem(403, "Forbidden")
            #expect(banned.text.contains("Your account is closed."))
            let odd = try await server.get("/v1/sources", headers: ["X-User": "odd"])
            odd.expectProblem(401, "Unauthorized")
        }
    }

    /// Breaks when an error of the service, which may quote secrets, is sent to clients, or isn't logged.
    @Test func anErrorOfTheServiceIsInTheLogAlone() async throws {
        let log = LogLines()
        try await serving(log: log) { server, _ async throws in
            let answer = try await server.get("/v1/sources", headers: ["X-User": "broken"])
            answer.expectProblem(503, "Service Unavailable")
            #expect(answer.header("Retry-After") == "5")
            let page = try await server.get("/transactions", headers: ["X-User": "broken"])
            #expect(page.status == 503)
            let metrics = try await server.get("/metrics", headers: fields("ann", .read)).text
            #expect(metrics.contains(#"waybill_unknown_refusals_total{reason="host_failure"} 2"#))
            for text in [answer.text, page.text] {
                #expect(!text.contains("hunter2"))
                #expect(text.contains("check your access"))
            }
            #expect(log.all.count { $0.hasPrefix("error") && $0.contains("hunter2") } == 2)
        }
    }

    /// Breaks when a mistake of the service creates a file with an arbitrary name.
    @Test(arguments: ["Shop", "a/b", String(repeating: "a", count: 65), "-a"])
    func aProjectThatIsNoneIsAMistakeOfTheService(project: String) async throws {
        let log = LogLines()
        try await serving(log: log) { server, _ async throws in
            let answer = try await server.get("/v1/sources", headers: fields("ann", project, .read))
            #expect([401, 503].contains(answer.status))
            #expect(!answer.text.contains(project))
            #expect(log.all.contains { $0.hasPrefix("error") && $0.contains("is not the name of a project") })
        }
        #expect(try folder.names().isEmpty)
        for name in ["", "a\nb", String(repeating: "a", count: 129)] {
            #expect(throws: WaybillError.self) { try Access.Identity(name: name, role: .read) }
        }
    }

    /// Breaks when a user can read other users' data, or a new project needs a restart.
    @Test func aUserSeesTheirProjectAloneAndANewOneIsOpened() async throws {
        try await serving { server, _ async throws in
            let body = Data(login.clientSet().encoded())
            #expect(try await server.post(body, headers: fields("app", "first", .ingest)).status == 200)
            #expect(try await server.post(body, headers: fields("app", "second", .ingest)).status == 200)
            let path = "/v1/transactions/\(login.transaction)"
            #expect(try await server.get(path, headers: fields("ann", "first", .read)).status == 200)
            #expect(try await server.get(path, headers: fields("ann", "third", .read)).status == 404)
            let answer = try await server.get(path, headers: fields("app", "first", .ingest))
            answer.expectProblem(403, "Forbidden")
            #expect(answer.text.contains("You have the role ingest, and this takes the role read."))
            #expect(answer.header("WWW-Authenticate") == nil)
            let erased = try await RawClient.send(
                "DELETE", "/v1/transactions?id=\(login.transaction)", to: server.port,
                headers: fields("ann", "first", .read))
            #expect(erased.status == 403)
        }
        let names = try folder.names().filter { $0.hasSuffix(".sqlite") }.sorted()
        #expect(names == ["first.sqlite", "second.sqlite", "third.sqlite"])
        try await serving { _, collector async throws in
            #expect(
                Set(collector.projects.all.map(\.name.description)) == ["first", "second", "third"],
                "else no project keeps its limits until somebody asks for it")
        }
    }

    /// Breaks when one user can use up the request rate of all others at the same address.
    @Test func usersAtOneAddressHaveTheirOwnRate() async throws {
        var limits = CollectorLimits()
        limits.requestsPerSecond = 2
        try await serving(limits) { server, _ async throws in
            for _ in 0..<4 {
                #expect(try await server.get("/v1/sources", headers: fields("ann", .read)).status == 200)
            }
            let answer = try await server.get("/v1/sources", headers: fields("ann", .read))
            answer.expectProblem(429, "Too Many Requests")
            #expect(answer.text.contains("You send more requests than you may. Wait for 1 s."))
            #expect(try await server.get("/v1/sources", headers: fields("bob", .read)).status == 200)
            #expect(
                try await server.get("/v1/sources", headers: fields("ann", "other", .read)).status == 200,
                "users of two projects can have the same name")
        }
    }

    /// Breaks when one user's stalled bodies keep the collector from accepting other users' sets.
    @Test func oneUsersShareOfRoomDoesNotTakeAnothers() async throws {
        var limits = CollectorLimits()
        (limits.bodyByteCount, limits.decompressedByteCount, limits.pendingByteCount) = (4_000, 4_000, 16_000)
        try await serving(limits) { server, collector async throws in
            var head = fields("ann", .ingest)
            head["Content-Type"] = TransactionSet.mediaType
            var stalled: [RawClient] = []
            for count in 1...2 {
                let client = try RawClient(port: server.port)
                let start = RawClient.head("POST", "/v1/sets", headers: head, length: 4_000)
                try await client.send(start + Data(repeating: 32, count: 3_999))
                stalled.append(client)
                try await eventually("it is read") { collector.pendingBytes.count == count * 3_999 }
            }
            let body = Data(login.clientSet().encoded())
            #expect(try await server.post(body, headers: fields("ann", .ingest)).status == 503)
            #expect(try await server.post(body, headers: fields("bob", .ingest)).status == 200)
            withExtendedLifetime(stalled) {}
        }
    }

    /// Breaks when pages ask for a token that nobody has, or show a project to somebody who isn't logged in.
    @Test func pagesAreShownToTheUsersOfTheService() async throws {
        try await serving { server, _ async throws in
            #expect(
                try await server.post(Data(login.clientSet().encoded()), headers: fields("app", .ingest)).status == 200)
            let before = calls.withLock { $0.count }
            let page = try await server.get(
                "/transactions?outcome=failed", headers: ["Cookie": "theme=dark; user=ann.shop.read"])
            #expect(page.status == 200 && page.text.contains("login"))
            #expect(!page.text.contains("action=\"logout\"") && !page.text.contains("Log out"))
            let asked = try #require(calls.withLock { $0.count == before + 1 ? $0.last : nil })
            #expect(asked.path == "/transactions?outcome=failed" && asked.method == .get)
            #expect(asked.authority == "127.0.0.1")

            let unknown = try await server.get("/transactions")
            #expect(unknown.status == 401 && unknown.text.contains("Log in to the shop first."))
            #expect(unknown.header("WWW-Authenticate") == "Shop", "a browser can ask for a password")
            #expect(!unknown.text.contains("name=token"))
            let app = try await server.get("/transactions", headers: fields("app", .ingest))
            #expect(app.status == 403)
            #expect(try await server.get("/login").status == 404)
            let form = try await RawClient.send(
                "POST", "/login", to: server.port,
                headers: ["Origin": "http://127.0.0.1", "Content-Type": "application/x-www-form-urlencoded"],
                body: Data("token=0123456789abcdef".utf8))
            #expect(form.status == 404 && form.header("Set-Cookie") == nil)
        }
    }

    /// Breaks when a page of another site, whose requests carry the user's cookies, sends or reads anything.
    @Test(arguments: Route.allCases.filter { $0.role != nil })
    func theServiceIsNotAskedAboutThePageOfAnotherSite(route: Route) async throws {
        try await serving { server, _ async throws in
            var fields = ["Sec-Fetch-Site": "cross-site", "Cookie": "user=ann.shop.admin"]
            let path = route.path.replacing("{id}", with: "\(login.transaction)")
            let sent = try await RawClient.send(
                route.method.rawValue, path, to: server.port, headers: fields, body: Data())
            #expect(sent.status == 403)
            #expect(sent.header("Access-Control-Allow-Origin") == nil)
            fields["Access-Control-Request-Method"] = "POST"
            #expect(try await RawClient.send("OPTIONS", path, to: server.port, headers: fields).status == 405)
            #expect(calls.withLock { $0.isEmpty })
        }
    }

    /// Breaks when an unanswered call to the service keeps a server from shutting down.
    @Test func aQuestionWithoutAnAnswerEndsWithItsServer() async throws {
        let (asked, ended) = (Gate(), Gate())
        let access = Access.authorizing { _ in
            asked.open()
            defer { ended.open() }
            try await Task.sleep(for: .seconds(3_600))
            throw Access.Refusal("Too late.")
        }
        let collector = try Collector(folder: folder.url, access: access)
        try await CollectorServer.run(collector) { server async throws in
            let client = try RawClient(port: server.port)
            try await client.send(RawClient.head("GET", "/v1/sources"))
            await asked.opened()
        }
        #expect(ended.isOpen)
        #expect(collector.pendingBytes.count == 0)
    }

    @Test func userNamesAreInTheLogAndOldRatesAreForgotten() async throws {
        let log = LogLines()
        try await serving(log: log) { server, _ async throws in
            #expect(try await server.get("/v1/sources", headers: fields("ann", .read)).status == 200)
            #expect(log.all.contains { $0.contains("identity=ann") && $0.contains("project=shop") })
        }
        let rate = RateLimit(perSecond: 1)
        for number in 0..<30_000 { #expect(rate.secondsToWait("\(number)", now: Int64(number) * 2_000_000) == nil) }
        #expect(rate.count <= 10_001)
    }
}
#endif
