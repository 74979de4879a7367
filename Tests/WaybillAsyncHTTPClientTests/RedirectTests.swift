#if AsyncHTTPClient
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import TestSupport
import Testing
import Waybill
import WaybillAsyncHTTPClient
import WaybillCore
import WaybillQueries
import WaybillTesting

/// Redirects follow the rules of RFC 9110, and data meant for one host is sent to no other host.
@Suite(.timeLimit(.minutes(5))) struct RedirectTests {
    /// Both hosts are on the list, but the field still stays with its origin.
    let tx = TransactionManager.capturing(hosts: ["127.0.0.1", "localhost"], traceContext: .propagate)

    static let secrets = [
        "Authorization", "Cookie", "Proxy-Authorization", "X-Api-Key", "X-Auth-Token", "traceparent", "tracestate",
        "Waybill-Transaction",
    ]
    static let harmless = ["Accept", "User-Agent", "X-Own"]

    /// Sends a request in a transaction, reads the answer, and returns its status and body.
    @discardableResult
    private func send(
        _ request: HTTPClientRequest, redirects: Int = 5,
        _ configuration: HTTPClient.Configuration = .leavingRedirects
    ) async throws -> (status: UInt, body: String, url: URL?, hops: Int) {
        try await withClient(configuration) { client in
            try await tx.perform(Login.self) { _ in
                let response = try await client.execute(
                    request, timeout: .seconds(60), in: tx, redirects: redirects)
                let body = String(buffer: try await response.body.collect(upTo: 1000))
                return (response.status.code, body, response.url, response.history.count)
            }
        }
    }

    private func request(_ url: URL, _ method: HTTPMethod = .GET) -> HTTPClientRequest {
        var request = HTTPClientRequest(url, method)
        for name in Self.secrets.prefix(5) + Self.harmless { request.headers.add(name: name, value: "own") }
        return request
    }

    /// Returns a server that redirects requests for `/`, with one status.
    private func server(_ status: Int = 302, to url: @escaping @Sendable (LoopbackServer.Request) -> String) throws
        -> LoopbackServer
    {
        try LoopbackServer { request in
            request.path == "/"
                ? LoopbackServer.Response(status: status, headers: [("Location", url(request))]) : .text("there")
        }
    }

    @Test func aRedirectWithinAnOriginKeepsAllFields() async throws {
        let server = try server { _ in "/there?a=b" }
        let answer = try await send(request(server.url()))
        #expect(answer == (200, "there", server.url("/there?a=b"), 2))
        #expect(server.requests.map(\.path) == ["/", "/there?a=b"])
        for request in server.requests {
            for name in Self.secrets + Self.harmless { #expect(request.header(name) != nil, "\(name)") }
        }
        let exchange = try #require(try tx.exchange)
        #expect(exchange.transfer.redirects.map(\.status) == [302])
        #expect(exchange.transfer.redirects.map(\.url) == [server.url("/there?a=b").absoluteString])
        #expect((exchange.status, exchange.receivedByteCount, exchange.state) == (200, 5, .completed))
        #expect(Set(server.requests.map { $0.told?.exchange }) == [exchange.id.sequence])
    }

    /// Breaks when another server learns of the transaction, or gets the caller's credentials.
    @Test(arguments: ["localhost", "127.0.0.1"]) func aRedirectToAnotherHostOrPortCarriesNothing(host: String)
        async throws
    {
        let target = try LoopbackServer { _ in .text("there") }
        let url = target.url("/there", host: host)
        let server = try server { _ in url.absoluteString }
        var first = request(server.url())
        first.headers.add(name: "Host", value: "own.example")
        #expect(try await send(first).body == "there")
        let (here, there) = (try #require(server.requests.first), try #require(target.requests.first))
        for name in Self.secrets {
            #expect(here.header(name) != nil, "\(name)")
            #expect(there.header(name) == nil, "\(name)")
        }
        for name in Self.harmless { #expect(there.header(name) == "own", "\(name)") }
        #expect(here.header("Host") == "own.example")
        #expect(there.header("Host") == "\(host):\(target.port)")
    }

    @Test func whatAnotherHostHasLostDoesNotComeBackOnTheWayHome() async throws {
        let home = Locked<URL?>(nil)
        let other = try LoopbackServer { _ in
            home.withLock { $0 }.map { .redirect(to: $0) } ?? .text("nowhere")
        }
        let place = other.url(host: "localhost")
        let server = try server { _ in place.absoluteString }
        home.withLock { $0 = server.url("/home") }
        #expect(try await send(request(server.url())).url == server.url("/home"))
        #expect(server.requests.map { $0.told == nil } == [false, true])
        #expect(server.requests.map { $0.header("Authorization") } == ["own", nil])
    }

    @Test(arguments: [
        (301, HTTPMethod.POST, "GET", ""), (302, .POST, "GET", ""), (303, .POST, "GET", ""), (303, .PUT, "GET", ""),
        (307, .POST, "POST", "body"), (308, .POST, "POST", "body"), (301, .PUT, "PUT", "body"),
        (302, .DELETE, "DELETE", "body"), (302, .HEAD, "HEAD", ""), (303, .HEAD, "HEAD", ""), (303, .GET, "GET", ""),
    ]) func theMethodAndTheBodyAreWhatTheStatusAsksFor(
        status: Int, method: HTTPMethod, next: String, body: String
    ) async throws {
        let server = try server(status) { _ in "/there" }
        var request = HTTPClientRequest(server.url(), method)
        if ![.GET, .HEAD].contains(method) {
            request.body = .bytes(ByteBuffer(string: "body"))
            request.headers.add(name: "Content-Type", value: "text/plain")
        }
        try await send(request)
        let second = try #require(server.requests.last)
        #expect((second.path, second.method, second.body) == ("/there", next, Data(body.utf8)))
        #expect((second.header("Content-Type") != nil) == !body.isEmpty)
        #expect((second.header("Content-Length") ?? "0" == "0") == body.isEmpty)
        let sent = try tx.exchange?.sentByteCount ?? 0
        #expect(sent == ([.GET, .HEAD].contains(method) ? 0 : body.isEmpty ? 4 : 8), "each time it is sent")
    }

    @Test func aBodyThatCannotBeSentAgainIsNot() async throws {
        let server = try server(307) { _ in "/there" }
        var request = HTTPClientRequest(server.url(), .POST)
        request.body = .stream(Pieces(piece: ByteBuffer(string: "once"), count: 1), length: .unknown)
        #expect(try await send(request).status == 307)
        #expect(server.requests.count == 1)
        #expect(try tx.exchange?.status == 307)
        #expect(try tx.exchange?.transfer.redirects.isEmpty == true)
    }

    @Test func aCircleComesToAnEnd() async throws {
        let server = try LoopbackServer { _ in
            LoopbackServer.Response(status: 302, headers: [("Location", "/again")])
        }
        await #expect(throws: HTTPClientError.redirectLimitReached) {
            try await send(HTTPClientRequest(server.url()), redirects: 3)
        }
        #expect(server.requests.count == 4)
        #expect(try tx.exchange?.state == .failed)
        #expect(try tx.exchange?.error?.name == "redirectLimitReached")
        #expect(try tx.exchange?.transfer.redirects.count == 3)
    }

    @Test func noneIsFollowedWhereNoneIsAskedFor() async throws {
        let server = try server { _ in "/there" }
        #expect(try await send(HTTPClientRequest(server.url()), redirects: 0).status == 302)
        #expect(server.requests.count == 1)
    }

    @Test(arguments: ["ftp://127.0.0.1/x", "file:///etc/passwd", "unix:/x", "http://", "mailto:a@b.example", ""])
    func aPlaceThatIsNoneOfHTTPIsTheAnswer(place: String) async throws {
        let server = try server { _ in place.isEmpty ? "http:" : place }
        #expect(try await send(HTTPClientRequest(server.url())).status == 302)
        #expect(server.requests.count == 1)
    }

    @Test(arguments: [300, 304, 305]) func aStatusThatAsksForNothingIsTheAnswer(status: Int) async throws {
        let server = try server(status) { _ in "/there" }
        #expect(try await send(HTTPClientRequest(server.url())).status == UInt(status))
        #expect(server.requests.count == 1)
    }

    /// Breaks when a client that follows redirects to any host on its own, like `HTTPClient.shared`, is given the
    /// field.
    @Test func aClientThatFollowsByItselfGetsNoFieldAndThatIsSaid() async throws {
        let target = try LoopbackServer { _ in .text("there") }
        let url = target.url("/there", host: "localhost")
        let server = try server { _ in url.absoluteString }
        #expect(try await send(HTTPClientRequest(server.url()), HTTPClient.Configuration()).body == "there")
        for request in server.requests + target.requests {
            #expect(request.told == nil && request.header("traceparent") == nil)
        }
        #expect(target.requests.count == 1)
        #expect(tx.health.hints.contains { $0.contains("redirectConfiguration: .disallow") })
        let exchange = try #require(try tx.exchange)
        #expect(exchange.transfer.redirects.map(\.url) == [url.absoluteString])
        #expect((exchange.status, exchange.receivedByteCount, exchange.state) == (200, 5, .completed))
    }
}
#endif
