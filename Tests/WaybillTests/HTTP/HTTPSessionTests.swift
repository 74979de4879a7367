import Foundation
import TestSupport
import Testing

@testable import Waybill

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The result of a request, whatever the other side does.
@Suite(.timeLimit(.minutes(5)))
struct HTTPSessionTests {
    let http = HTTPSession(configuration: .ephemeral)

    @Test func theAnswerHasStatusFieldsAndTheWholeBody() async throws {
        let server = try LoopbackServer { _ in
            LoopbackServer.Response.text("not here", status: 404, type: "text/teapot")
        }
        let (data, response) = try await http.data(for: URLRequest(url: server.url("/a?b=c")))
        #expect(data == Data("not here".utf8))
        #expect(response.status == 404)
        #expect(throws: RecordedError(domain: "HTTP", code: Int64(response.status))) { try response.require(200..<300) }
        #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "content-type") == "text/teapot")
        #expect(server.requests.map(\.path) == ["/a?b=c"])
    }

    @Test func aBodyInChunksArrivesWhole() async throws {
        let body = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
        let server = try LoopbackServer { _ in LoopbackServer.Response(body: body).chunked }
        #expect(try await http.data(for: URLRequest(url: server.url())).0 == body)
    }

    @Test(arguments: [0, 1, 5_000, 2_000_000]) func anUploadedBodyArrivesIntact(byteCount: Int) async throws {
        let server = try LoopbackServer { request in LoopbackServer.Response(body: Data("\(request.body.count)".utf8)) }
        let body = Data((0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        var request = URLRequest(url: server.url())
        request.httpMethod = "POST"
        let (data, response) = try await http.data(for: request, uploading: body)
        try response.require(200..<300)
        #expect(data == Data("\(byteCount)".utf8))
        #expect(server.requests.map(\.body) == [body])
        #expect(server.requests.map(\.method) == ["POST"])
    }

    @Test func theRequestsOwnBodyArrivesToo() async throws {
        let server = try LoopbackServer { _ in LoopbackServer.Response() }
        var request = URLRequest(url: server.url())
        request.httpMethod = "PUT"
        request.httpBody = Data("hello".utf8)
        _ = try await http.data(for: request)
        #expect(server.requests.map(\.body) == [Data("hello".utf8)])
    }

    @Test func aRefusedConnectionIsAnError() async throws {
        let request = URLRequest(url: try refusedURL())
        let error = await #expect(throws: URLError.self) { try await http.data(for: request) }
        #expect(error?.code == .cannotConnectToHost)
    }

    @Test func hangingUpWithoutAnAnswerIsAnError() async throws {
        let server = try LoopbackServer { _ in .closed }
        await #expect(throws: URLError.self) { try await http.data(for: URLRequest(url: server.url())) }
    }

    @Test func hangingUpInTheMiddleOfTheBodyIsAnError() async throws {
        let server = try LoopbackServer { _ in LoopbackServer.Response.text("0123456789").cutShort }
        await #expect(throws: URLError.self) { try await http.data(for: URLRequest(url: server.url())) }
    }

    @Test func anExchangeEndsAtItsDeadlineAlsoWhereNobodyAnswers() async throws {
        let server = try LoopbackServer { _ in .never }
        let request = URLRequest(url: server.url())
        let error = await #expect(throws: URLError.self) {
            try await http.data(for: request, deadline: .milliseconds(30))
        }
        #expect(error?.code == .timedOut)
    }

    @Test func anAnswerInTimeIsNotTouchedByTheDeadline() async throws {
        let server = try LoopbackServer { _ in .text("in time") }
        let (data, _) = try await http.data(for: URLRequest(url: server.url()), deadline: .seconds(30))
        #expect(data == Data("in time".utf8))
    }

    @Test(arguments: ["Bearer", "Basic realm=\"place\"", "Digest realm=\"place\", nonce=\"1\"", "Negotiate"])
    func aChallengeIsAnAnswerToASessionOfOurOwn(field: String) async throws {
        let server = try LoopbackServer { _ in .init(status: 401, headers: [("WWW-Authenticate", field)]) }
        let (_, response) = try await http.data(for: URLRequest(url: server.url()), deadline: .seconds(30))
        #expect(response.status == 401)
        #expect(server.requests.count == 1)
    }

    @Test func theBodyOfAChallengeIsTheAnswersBody() async throws {
        let server = try LoopbackServer { _ in
            .init(
                status: 401, headers: [("WWW-Authenticate", "Basic realm=\"place\"")], body: Data("who are you?".utf8))
        }
        let (data, _) = try await http.data(for: URLRequest(url: server.url()), deadline: .seconds(30))
        #expect(data == Data("who are you?".utf8))
    }

    @Test func theCallersConfigurationIsLeftAsItWas() {
        let configuration = URLSessionConfiguration.default
        let made = HTTPSession(configuration: configuration)
        withExtendedLifetime(made) { #expect(configuration.urlCache != nil) }
    }

    @Test func aSessionThatIsLetGoOfEndsWhatIsUnderWay() async throws {
        let arrived = Gate()
        let mayAnswer = Gate()
        let server = try LoopbackServer { _ in
            arrived.open()
            return .text("late").after(mayAnswer)
        }
        let request = URLRequest(url: server.url())
        let task = Task { try await HTTPSession(configuration: .ephemeral).data(for: request) }
        await arrived.opened()
        mayAnswer.open()
        #expect(try await task.value.0 == Data("late".utf8))
    }

    @Test func anAnswerThatIsNotHTTPHasNoStatus() {
        let response = URLResponse(
            url: URL(filePath: "/"), mimeType: nil, expectedContentLength: 0, textEncodingName: nil)
        #expect(response.status == 0)
        #expect(throws: RecordedError(domain: "HTTP", code: Int64(response.status))) { try response.require(200..<300) }
    }

    @Test(arguments: [(199, false), (200, true), (204, true), (299, true), (300, false)])
    func aStatusOutsideTheRequiredOnesIsThrown(status: Int, isSuccess: Bool) throws {
        let url = try refusedURL()
        let response = try #require(HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: nil))
        try response.require(nil)
        if isSuccess {
            try response.require(200..<300)
        } else {
            #expect(throws: RecordedError(domain: "HTTP", code: Int64(status))) { try response.require(200..<300) }
        }
    }
}
