import Foundation
import TestSupport
import Testing

@testable import Waybill

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(5)))
struct RedirectTests {
    let http = HTTPSession(configuration: .ephemeral)
    let policy = RedirectPolicy.follow(droppingFieldsForOtherOrigins: ["Waybill-Transaction"])

    @Test func aRedirectToTheSameOriginKeepsTheFields() async throws {
        let server = try LoopbackServer { request in
            request.path == "/there"
                ? .text("there") : Self.redirect(to: "http://\(request.header("Host") ?? "")/there")
        }
        let (first, second) = try await followed(by: server, to: server)
        #expect(first.header("waybill-transaction") == "travels")
        #expect(second.header("waybill-transaction") == "travels")
        #expect(second.header("x-own") == "kept")
    }

    /// Breaks when another server on the same machine learns of the transaction.
    @Test(arguments: ["localhost", "127.0.0.1"]) func aRedirectToAnotherHostOrPortLosesTheNamedFieldsOnly(
        host: String
    ) async throws {
        let target = try LoopbackServer { _ in .text("there") }
        let url = target.url(host: host)
        let (first, second) = try await followed(by: LoopbackServer { _ in .redirect(to: url) }, to: target)
        #expect(first.header("waybill-transaction") == "travels")
        #expect(second.header("waybill-transaction") == nil)
        #expect(second.header("x-own") == "kept")
    }

    /// Breaks when the field reaches an unintended server, above all unencrypted after an encrypted first request, or
    /// when it is lost although the server is the same.
    @Test(arguments: [
        ("https://a.example/x", "https://A.EXAMPLE:443/y", true),
        ("http://a.example/x", "http://a.example:80/y", true),
        ("http://a.example/x", "https://a.example/x", true),
        ("https://a.example/x", "http://a.example/x", false),
        ("https://a.example:443/x", "http://a.example:443/x", false),
        ("https://a.example/x", "https://a.example:8443/x", false),
        ("http://a.example:8080/x", "https://a.example/x", false),
        ("http://a.example/x", "http://b.a.example/x", false),
        ("http://a.example/x", "http://a.example@b.example/x", false),
    ]) func theFieldStaysWithItsOrigin(from: String, to: String, isKept: Bool) throws {
        var first = URLRequest(url: try #require(URL(string: from)))
        first.setValue("travels", forHTTPHeaderField: "Waybill-Transaction")
        var next = first
        next.url = URL(string: to)
        let sent = try #require(policy.request(after: next, of: first))
        #expect(sent.url == next.url)
        #expect((sent.value(forHTTPHeaderField: "Waybill-Transaction") != nil) == isKept)
    }

    @Test(arguments: [301, 302, 303, 307, 308]) func aRefusedRedirectIsTheAnswer(status: Int) async throws {
        let elsewhere = try LoopbackServer { _ in .text("never asked") }
        let url = elsewhere.url()
        let server = try LoopbackServer { _ in .redirect(to: url, status: status) }
        let (_, response) = try await http.data(for: URLRequest(url: server.url()), redirects: .refuse)
        #expect(response.status == status)
        #expect(response.url == server.url())
        #expect(elsewhere.requests.isEmpty)
    }

    @Test func aRefusedRedirectOfAnUploadIsTheAnswer() async throws {
        let elsewhere = try LoopbackServer { _ in .text("never asked") }
        let url = elsewhere.url()
        let server = try LoopbackServer { _ in .redirect(to: url, status: 307) }
        var request = URLRequest(url: server.url())
        request.httpMethod = "POST"
        let (_, response) = try await http.data(for: request, uploading: Data("body".utf8), redirects: .refuse)
        #expect(response.status == 307)
        #expect(elsewhere.requests.isEmpty)
    }

    @Test func a307KeepsTheBody() async throws {
        let target = try LoopbackServer { _ in .text("there") }
        let url = target.url()
        let server = try LoopbackServer { _ in .redirect(to: url, status: 307) }
        var request = URLRequest(url: server.url())
        request.httpMethod = "POST"
        _ = try await http.data(for: request, uploading: Data("body".utf8), redirects: policy)
        #expect(target.requests.map(\.method) == ["POST"])
        // swift-corelibs-foundation builds the second request itself and sends it without the body.
        #if !canImport(FoundationNetworking)
        #expect(target.requests.map(\.body) == [Data("body".utf8)])
        #endif
    }

    /// The requests that a server and its redirect's target received.
    private func followed(
        by server: LoopbackServer, to target: LoopbackServer
    ) async throws -> (LoopbackServer.Request, LoopbackServer.Request) {
        var request = URLRequest(url: server.url())
        request.setValue("travels", forHTTPHeaderField: "Waybill-Transaction")
        request.setValue("kept", forHTTPHeaderField: "X-Own")
        let (data, _) = try await http.data(for: request, redirects: policy)
        #expect(data == Data("there".utf8))
        return (try #require(server.requests.first), try #require(target.requests.last))
    }

    private static func redirect(to url: String) -> LoopbackServer.Response {
        .init(status: 302, headers: [("Location", url)])
    }
}
