#if Collector
import Foundation
import TestSupport
import Testing
@testable import WaybillCollector
import WaybillCore
import WaybillInspector

/// Who sees the pages.
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
            let cookie = ["Cookie": "waybill_token=\(secret.text)"]
            #expect(try await server.get("/network", headers: cookie).status == 200)
            try tokens.revoke(token.id)
            #expect(try await server.get("/network", headers: cookie).status == 303)
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
            #expect(try await server.get(path, headers: ["Cookie": "waybill_token=\(mine.text)"]).status == 200)
            #expect(try await server.get(path, headers: ["Cookie": "waybill_token=\(others.text)"]).status == 404)
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
            #expect(cookie.hasPrefix("waybill_token=;"))
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
