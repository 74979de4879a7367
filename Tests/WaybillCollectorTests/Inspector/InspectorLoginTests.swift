#if Collector
import Foundation
import TestSupport
import Testing
@testable import WaybillCollector
import WaybillCore
import WaybillInspector
import WaybillQueries
import WaybillTesting

/// Logging in to the pages.
@Suite(.timeLimit(.minutes(5))) struct InspectorLoginTests {
    private let folder: TemporaryDirectory
    private let tokens: TokenFile

    init() throws {
        folder = try TemporaryDirectory()
        tokens = TokenFile(folder: folder.url)
    }

    private func run(_ body: (CollectorServer) async throws -> Void) async throws {
        try await CollectorServer.run(try Collector(folder: folder.url, access: .tokens), body)
    }

    /// Logs in and returns the cookie field that a browser would send.
    private func cookie(_ server: CollectorServer, _ token: BearerToken) async throws -> [String: String] {
        let set = try #require(try await logIn(server, token.text).header("Set-Cookie"))
        return ["Cookie": String(set.prefix { $0 != ";" })]
    }

    private func logIn(
        _ server: CollectorServer, _ token: String, to: String = "transactions", headers: [String: String] = [:]
    ) async throws -> RawClient.Response {
        var headers = headers
        headers["Content-Type"] = "application/x-www-form-urlencoded"
        let form = "token=\(token)&to=\(to.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"
        return try await RawClient.send("POST", "/login", to: server.port, headers: headers, body: Data(form.utf8))
    }

    @Test func withoutATokenEveryPageLeadsToTheLoginAndBack() async throws {
        _ = try tokens.add(role: .read, project: .standard)
        try await run { server in
            let asked = [
                "/transactions": "login?to=transactions",
                "/transactions?text=a%20b": "login?to=transactions%3Ftext%3Da%2520b",
                "/transactions/K7QD-3M2X": "../login?to=transactions%2FK7QD-3M2X", "/network": "login?to=network",
            ]
            for (path, login) in asked {
                let response = try await server.get(path)
                #expect(response.status == 303)
                #expect(response.header("Location") == login)
            }
            #expect(try await server.get("/live").status == 401)
            #expect(try await server.get("/transactions/\(GUID())/har").status == 401)
            let form = try await server.get("/login?to=network%2Fx%3A1")
            #expect(form.status == 200)
            #expect(form.text.contains("name=to value=\"network/x:1\""))
        }
    }

    @Test func aReadTokenIsKeptWhereNoScriptAndNoOtherSiteCanUseIt() async throws {
        let token = try tokens.add(role: .read, project: .standard).secret
        try await run { server in
            let response = try await logIn(server, token.text, to: "network")
            #expect(response.status == 303)
            #expect(response.header("Location") == "network")
            let cookie = try #require(response.header("Set-Cookie"))
            #expect(cookie.contains("HttpOnly"))
            #expect(cookie.contains("SameSite=Strict"))
            #expect(!cookie.contains("Secure"))
            #expect(!cookie.contains("Path"), "It holds for the folder of the login alone.")
            #expect(!cookie.contains(token.text) && !cookie.contains(token.text.dropFirst("waybill_".count)))
            let sent = String(cookie.prefix { $0 != ";" })
            #expect(try await server.get("/transactions", headers: ["Cookie": sent]).status == 200)
            #expect(
                try await server.get("/v1/transactions", headers: ["Cookie": sent]).status == 401,
                "The API takes no cookie.")
        }
    }

    @Test func aBrowserThatCameByHTTPSKeepsTheCookieToIt() async throws {
        let token = try tokens.add(role: .read, project: .standard).secret
        try await run { server in
            let response = try await logIn(server, token.text, headers: ["Origin": "https://127.0.0.1"])
            #expect(try #require(response.header("Set-Cookie")).contains("Secure"))
        }
    }

    @Test func aTokenThatIsUnknownOrMayNotReadIsRefused() async throws {
        let ingest = try tokens.add(role: .ingest, project: .standard).secret
        try await run { server in
            let refused = try await logIn(server, ingest.text)
            #expect(refused.status == 403)
            #expect(refused.header("Set-Cookie") == nil)
            #expect(refused.text.contains("This token has the role ingest"))
            #expect(try await logIn(server, "waybill_1234567890123456").status == 401)
            #expect(try await logIn(server, "").status == 401)
        }
    }

    @Test func aTokenThatIsRevokedShowsNothingFromThenOn() async throws {
        let (secret, token) = try tokens.add(role: .read, project: .standard)
        try await run { server in
            let cookie = try await cookie(server, secret)
            #expect(try await server.get("/network", headers: cookie).status == 200)
            try tokens.revoke(token.id)
            #expect(try await server.get("/network", headers: cookie).status == 303)
        }
    }

    /// Breaks when a browser can lose the token itself, which opens the API and never expires.
    @Test func theTokenIsNoSession() async throws {
        let secret = try tokens.add(role: .read, project: .standard).secret
        try await run { server in
            for name in ["waybill_session", "waybill_token"] {
                let cookie = ["Cookie": "\(name)=\(secret.text)"]
                #expect(try await server.get("/network", headers: cookie).status == 303)
            }
            let session = try await cookie(server, secret)["Cookie"]?.split(separator: "=").last ?? ""
            let asToken = ["Authorization": "Bearer \(session)"]
            #expect(try await server.get("/v1/transactions", headers: asToken).status == 401)
        }
    }

    @Test func aSessionEndsWithItsTimeAndWithItsToken() async throws {
        let clock = ManualClock()
        let end = clock.wallMicroseconds() + 3600 * 1_000_000
        let lasting = try tokens.add(role: .read, project: .standard).secret
        let ending = try tokens.add(role: .read, project: .standard, end: end).secret
        var limits = CollectorLimits()
        limits.sessionDuration = .seconds(2 * 3600)
        let collector = try Collector(folder: folder.url, access: .tokens, limits: limits, clock: clock)
        try await CollectorServer.run(collector) { server async throws in
            let cookies = [try await cookie(server, lasting), try await cookie(server, ending)]
            func statuses() async throws -> [Int] {
                var statuses: [Int] = []
                for cookie in cookies { statuses.append(try await server.get("/network", headers: cookie).status) }
                return statuses
            }
            #expect(try await statuses() == [200, 200])
            clock.advance(by: .seconds(3600))
            #expect(try await statuses() == [200, 303])
            clock.advance(by: .seconds(3600))
            #expect(try await statuses() == [303, 303])
        }
    }

    @Test func loggingOutEndsTheSessionAndNoOther() async throws {
        let secret = try tokens.add(role: .read, project: .standard).secret
        try await run { server in
            let (one, other) = (try await cookie(server, secret), try await cookie(server, secret))
            #expect(one != other)
            #expect(try await RawClient.send("POST", "/logout", to: server.port, headers: one).status == 303)
            #expect(try await server.get("/network", headers: one).status == 303, "a copy of the cookie opens nothing")
            #expect(try await server.get("/network", headers: other).status == 200)
        }
    }

    /// A browser may follow a link from another site, but a page there may not load anything without the user.
    @Test(arguments: [
        ("/transactions", "navigate", "document", 303), ("/login", "navigate", "document", 200),
        ("/transactions", "navigate", "iframe", 403), ("/transactions", "no-cors", "script", 403),
        ("/live", "cors", "empty", 403), ("/live", "navigate", "document", 403),
        ("/assets/inspector.css", "no-cors", "style", 403),
    ])
    func whatThePageOfAnotherSiteLoadsIsRefused(path: String, mode: String, kind: String, status: Int) async throws {
        _ = try tokens.add(role: .read, project: .standard)
        try await run { server async throws in
            let fields = ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": kind]
            #expect(try await server.get(path, headers: fields).status == status)
        }
    }

    @Test func aTokenShowsItsOwnProjectAlone() async throws {
        let login = LoginHistory()
        let other = try #require(ProjectName("other"))
        let (ingest, mine) = (
            try tokens.add(role: .ingest, project: .standard).secret,
            try tokens.add(role: .read, project: .standard).secret
        )
        let others = try tokens.add(role: .read, project: other).secret
        try await run { server in
            let sent = try await server.post(
                Data(login.clientSet().encoded()), headers: ["Authorization": ingest.fieldValue])
            #expect(sent.status == 200)
            let path = "/transactions/\(login.transaction)"
            #expect(try await server.get(path, headers: cookie(server, mine)).status == 200)
            #expect(try await server.get(path, headers: cookie(server, others)).status == 404)
        }
    }

    @Test(arguments: [
        ["Sec-Fetch-Site": "cross-site"], ["Sec-Fetch-Site": "same-site"], ["Origin": "https://evil.example"],
        ["Origin": "null"],
    ])
    func aFormOfAnotherSiteIsRefused(headers: [String: String]) async throws {
        let token = try tokens.add(role: .read, project: .standard).secret
        try await run { server in
            let response = try await logIn(server, token.text, headers: headers)
            #expect(response.status == 403)
            #expect(response.header("Set-Cookie") == nil)
            #expect(try await RawClient.send("POST", "/logout", to: server.port, headers: headers).status == 403)
        }
    }

    @Test(arguments: [
        "https://evil.example/", "//evil.example", "/\\evil.example", "transactions:evil", "javascript:alert(1)",
        "network/../../evil",
        "transactions/a\r\nX: y", "", "\\\\evil.example", "\\evil.example", "%2F%2Fevil.example", "%5C%5Cevil.example",
        "/%2F/evil.example",
        "/transactions", "transactions//evil.example", "transactions/..//evil.example", "http:transactions",
        " transactions",
        "\t//evil.example", "transactions@evil.example", "login?to=//evil.example", "v1/transactions", "metrics",
        "logout",
    ])
    func aLoginLeadsNowhereElse(to: String) async throws {
        let token = try tokens.add(role: .read, project: .standard).secret
        try await run { server in
            let response = try await logIn(server, token.text, to: to)
            #expect(response.status == 303)
            #expect(response.header("Location") == "transactions")
            #expect(response.header("X") == nil)
        }
    }

    @Test func loggingOutTakesTheCookieAway() async throws {
        _ = try tokens.add(role: .read, project: .standard)
        try await run { server in
            let response = try await RawClient.send(
                "POST", "/logout", to: server.port, headers: ["Sec-Fetch-Site": "same-origin"])
            #expect(response.status == 303)
            let cookie = try #require(response.header("Set-Cookie"))
            #expect(cookie.hasPrefix("waybill_session=;"))
            #expect(cookie.contains("Max-Age=0"))
        }
    }

    @Test func aStoreInOneFileIsShownToThisMachineAlone() async throws {
        let login = LoginHistory()
        try await CollectorServer.run(try Collector(folder: folder.url)) { server in
            _ = try await server.post(login.clientSet())
        }
        let inspector = try Inspector(file: folder.url.appending(path: "waybill.sqlite"))
        try await CollectorServer.run(inspector.router()) { server in
            #expect(try await server.get("/transactions/\(login.transaction)").status == 200)
            let client = try RawClient(port: server.port)
            try await client.send(Data("GET /transactions HTTP/1.1\r\nHost: evil.example\r\n\r\n".utf8))
            #expect(try await client.response().status == 403)
            #expect(try await server.get("/v1/transactions").status == 404, "There is no API.")
        }
    }
}
#endif
