#if canImport(Darwin)
import Foundation
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting

/// On Apple's platforms, passive capture repeats a request and acts as the loading system's protocol for the first.
@Suite(.serialized, .timeLimit(.minutes(5))) struct DarwinPassiveCaptureTests {
    private let tx = TransactionManager.testing(correlatedHosts: ["127.0.0.1"])

    private func session(_ delegate: (any URLSessionDelegate)? = nil) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        tx.passiveCapture.include(configuration)
        tx.passiveCapture.start()
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    /// All exchanges in order. In most tests they are outside any transaction.
    private func exchanges() async throws -> [TransactionRecord.Exchange] {
        try await tx.exchanges(limit: 50).rows.map(\.exchange).reversed()
    }

    @Test func aResponseArrivesOnceAndIsRecorded() async throws {
        let server = try LoopbackServer { _ in .text("hello") }
        let session = session()
        let (data, _) = try await session.data(for: URLRequest(url: server.url()))
        #expect(data == Data("hello".utf8))
        #expect(server.requests.count == 1)
        #expect(try await exchanges().map(\.status) == [200])
        session.finishTasksAndInvalidate()
    }

    /// Breaks when the loading system is called after it stopped the load, which ends the app.
    @Test func aCancelledRequestIsCalledBackOnce() async throws {
        let (arrived, stays) = (Gate(), Gate())
        let server = try LoopbackServer { _ in
            arrived.open()
            _ = stays.wait(within: .seconds(60))
            return .text("late")
        }
        let session = session()
        let (errors, answered) = (Locked<[URLError.Code?]>([]), Gate())
        let task = session.dataTask(with: URLRequest(url: server.url())) { _, _, error in
            errors.withLock { $0.append((error as? URLError)?.code) }
            answered.open()
        }
        task.resume()
        await arrived.opened()
        task.cancel()
        await answered.opened()
        stays.open()
        try await eventually("the exchange has ended") { try await exchanges().first?.state != nil }
        #expect(try await exchanges().map(\.state) == [.cancelled])
        // A second request uses the same session of the capture.
        _ = try await session.data(for: URLRequest(url: server.url()))
        #expect(errors.withLock { $0 } == [.cancelled])
        session.finishTasksAndInvalidate()
    }

    /// Breaks when the request hangs until it times out.
    @Test func aRefusedRedirectIsTheResponse() async throws {
        let server = try LoopbackServer { _ in
            .init(status: 302, headers: [("Location", "/here")], body: Data("moved".utf8))
        }
        let session = session(RedirectDelegate(follows: false))
        let (_, response) = try await session.data(for: URLRequest(url: server.url()))
        #expect((response as? HTTPURLResponse)?.statusCode == 302)
        #expect(server.requests.map(\.path) == ["/"])
        session.finishTasksAndInvalidate()
    }

    /// Breaks when the response of a followed redirect is mixed with the 3xx, or the field goes to another origin.
    @Test func aFollowedRedirectGivesTheLastResponse() async throws {
        let target = try LoopbackServer { _ in .text("hello") }
        let place = target.url("/there", host: "localhost")
        let server = try LoopbackServer { _ in .redirect(to: place) }
        let session = session(RedirectDelegate(follows: true))
        let (data, response) = try await tx.begin(Login.self).withCurrent {
            try await session.data(for: URLRequest(url: server.url()))
        }
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        #expect(data == Data("hello".utf8))
        #expect(target.requests.map { $0.header("Waybill-Transaction") != nil } == [false])
        session.finishTasksAndInvalidate()
    }

    /// Breaks when nothing is recorded after a redirect to the same origin.
    @Test func bothHopsOfARedirectToTheSameOriginAreRecorded() async throws {
        let server = try LoopbackServer { request in
            request.path == "/" ? .init(status: 302, headers: [("Location", "/here")]) : .text("hello")
        }
        let session = session(RedirectDelegate(follows: true))
        _ = try await tx.begin(Login.self).withCurrent { try await session.data(for: URLRequest(url: server.url())) }
        try await eventually("both have ended") { try await exchanges().count { $0.state != nil } == 2 }
        #expect(try await exchanges().map(\.status) == [302, 200])
        let fields = server.requests.map { $0.header("Waybill-Transaction") }
        #expect((fields.first == nil) == (fields.last == nil))
        session.finishTasksAndInvalidate()
    }

    /// Breaks when the capture decides about a pinned certificate or a password.
    @Test func theDelegateAnswersAChallenge() async throws {
        let server = try LoopbackServer { request in
            guard request.header("Authorization") == nil else { return .text("come in") }
            return .init(status: 401, headers: [("WWW-Authenticate", "Basic realm=\"here\"")])
        }
        let session = session(PasswordDelegate())
        let (data, _) = try await session.data(for: URLRequest(url: server.url()))
        #expect(data == Data("come in".utf8))
        session.finishTasksAndInvalidate()
    }

    /// Breaks when a body from memory is lost, since the loading system passes it on as a stream.
    @Test func aBodyFromMemoryIsSentWithItsLength() async throws {
        let server = try LoopbackServer { _ in .text("hello") }
        let session = session()
        var request = URLRequest(url: server.url())
        (request.httpMethod, request.httpBody) = ("POST", Data("a body".utf8))
        _ = try await session.data(for: request)
        #expect(server.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["a body"])
        session.finishTasksAndInvalidate()
    }
}
#endif
