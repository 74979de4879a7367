#if canImport(Darwin)
import Foundation
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting

/// On Apple's platforms, a session makes only some delegate calls for tasks with a handler and for tasks that have
/// their own delegate.
@Suite(.timeLimit(.minutes(5))) struct DarwinDelegateTests {
    private let tx = TransactionManager.testing(correlatedHosts: ["127.0.0.1"])
    private let capturing: CapturingDelegate
    private let session: URLSession

    init() {
        capturing = tx.capturing(nil)
        session = URLSession(configuration: .ephemeral, delegate: capturing, delegateQueue: nil)
    }

    /// All exchanges in order. In most tests they are outside any transaction.
    private func exchanges() async throws -> [TransactionRecord.Exchange] {
        try await tx.exchanges(limit: 50).rows.map(\.exchange).reversed()
    }

    /// Waits until the only exchange has ended.
    private func ended() async throws -> TransactionRecord.Exchange {
        try await eventually("the exchange has ended") { try await exchanges().first?.state != nil }
        session.finishTasksAndInvalidate()
        #expect(try await exchanges().count == 1)
        return try #require(try await exchanges().first)
    }

    /// Breaks when responses to `await` and to handlers have no bytes and no first byte.
    @Test(arguments: [true, false]) func aHandlersResponseHasItsLengthAndItsFirstByte(isAsync: Bool) async throws {
        let server = try LoopbackServer { _ in .text("hello") }
        if isAsync {
            _ = try await session.data(for: URLRequest(url: server.url()))
        } else {
            let answered = Gate()
            session.dataTask(with: URLRequest(url: server.url())) { _, _, _ in answered.open() }.resume()
            await answered.opened()
        }
        let exchange = try await ended()
        #expect(exchange.receivedByteCount == 5)
        #expect(exchange.firstByteMicroseconds != nil)
        #expect(exchange.state == .completed)
        #expect(exchange.status == 200)
    }

    /// Breaks when the exchange of a task whose own delegate gets the metrics or the completion never ends.
    @Test(arguments: [true, false]) func aTaskWhoseOwnDelegateTakesTheEndEndsOnce(isAsync: Bool) async throws {
        let server = try LoopbackServer { _ in .text("hello") }
        let own = EndingDelegate()
        if isAsync {
            _ = try await session.data(for: URLRequest(url: server.url()), delegate: own)
        } else {
            let task = capturing.task(for: URLRequest(url: server.url())) { session.dataTask(with: $0) }
            task.delegate = own
            task.resume()
            await own.ended.opened()
        }
        let exchange = try await ended()
        #expect(exchange.state == .completed)
        #expect(exchange.status == 200)
        #expect(exchange.receivedByteCount == 5)
    }

    /// Breaks when the header field goes to another origin with a redirect that only the task's own delegate sees.
    @Test func aTasksOwnDelegateGetsItsRedirectsAndTheFieldStays() async throws {
        let target = try LoopbackServer { _ in .text("hello") }
        let place = target.url("/there", host: "localhost")
        let server = try LoopbackServer { _ in .redirect(to: place) }
        let own = RedirectDelegate(follows: true)
        let task = capturing.task(for: URLRequest(url: server.url()), in: tx.begin(Login.self)) { request in
            let task = session.dataTask(with: request)
            task.delegate = own
            return task
        }
        task.resume()
        let exchange = try await ended()
        #expect(own.count == 1)
        #expect(server.requests.map { $0.header("Waybill-Transaction") != nil } == [true])
        #expect(target.requests.map { $0.header("Waybill-Transaction") != nil } == [false])
        #expect(exchange.transfer.redirects.map(\.status) == [302])
    }

    /// Breaks when a delegate that is set after the task was made takes the header field to another origin.
    @Test func aDelegateThatIsSetLateIsGuardedToo() async throws {
        let target = try LoopbackServer { _ in .text("hello") }
        let place = target.url("/there", host: "localhost")
        let server = try LoopbackServer { _ in .redirect(to: place) }
        let own = RedirectDelegate(follows: true)
        let task = capturing.task(for: URLRequest(url: server.url()), in: tx.begin(Login.self)) {
            session.dataTask(with: $0)
        }
        task.delegate = own
        task.resume()
        _ = try await ended()
        #expect(own.count == 1)
        #expect(target.requests.map { $0.header("Waybill-Transaction") != nil } == [false])
    }

    /// Breaks when a redirect that the app refuses is recorded as followed, or not at all.
    @Test func aRefusedRedirectIsTheResponse() async throws {
        let server = try LoopbackServer { _ in .init(status: 302, headers: [("Location", "/here")]) }
        let (own, answered) = (RedirectDelegate(follows: false), Gate())
        let session = URLSession(configuration: .ephemeral, delegate: tx.capturing(own), delegateQueue: nil)
        session.dataTask(with: URLRequest(url: server.url())) { _, _, _ in answered.open() }.resume()
        await answered.opened()
        let exchange = try await ended()
        #expect(exchange.status == 302)
        #expect(exchange.transfer.redirects.isEmpty)
        session.finishTasksAndInvalidate()
    }

    @Test func aCancelledTaskIsCancelledOnce() async throws {
        let (arrived, stays) = (Gate(), Gate())
        let server = try LoopbackServer { _ in
            arrived.open()
            _ = stays.wait(within: .seconds(60))
            return .text("late")
        }
        let answered = Gate()
        let task = session.dataTask(with: URLRequest(url: server.url())) { _, _, _ in answered.open() }
        task.resume()
        await arrived.opened()
        task.cancel()
        await answered.opened()
        #expect(try await ended().state == .cancelled)
        stays.open()
    }

    /// Breaks when React Native's delegate, which declares less than it implements, is not called.
    @Test func aMethodOfAProtocolThatIsNotDeclaredIsCalled() async throws {
        let server = try LoopbackServer { _ in .text("hello") }
        let own = UndeclaredDelegate()
        let session = URLSession(configuration: .ephemeral, delegate: tx.capturing(own), delegateQueue: nil)
        session.dataTask(with: URLRequest(url: server.url())).resume()
        await own.ended.opened()
        #expect(own.byteCount == 5)
        #expect(try await ended().receivedByteCount == 5)
        session.finishTasksAndInvalidate()
    }

    /// Breaks when an upload from a file or a stream has no length, or its delegate is not asked for the stream.
    @Test(arguments: [true, false]) func anUploadFromAFileOrAStreamHasItsLength(isFile: Bool) async throws {
        let server = try LoopbackServer { _ in .text("hello") }
        let folder = try TemporaryDirectory()
        try Data("from a file".utf8).write(to: folder.file("body"))
        let own = StreamDelegate(Data("from a file".utf8))
        let session = URLSession(configuration: .ephemeral, delegate: tx.capturing(own), delegateQueue: nil)
        var request = URLRequest(url: server.url())
        request.httpMethod = "POST"
        if isFile {
            session.uploadTask(with: request, fromFile: folder.file("body")).resume()
        } else {
            session.uploadTask(withStreamedRequest: request).resume()
        }
        let exchange = try await ended()
        #expect(exchange.sentByteCount == 11)
        #expect(server.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["from a file"])
        session.finishTasksAndInvalidate()
    }

    /// Breaks when a session that answers a server's challenge gets the system's answer instead.
    @Test func theDelegateAnswersAChallenge() async throws {
        let server = try LoopbackServer { request in
            guard request.header("Authorization") == nil else { return .text("come in") }
            return .init(status: 401, headers: [("WWW-Authenticate", "Basic realm=\"here\"")])
        }
        let own = PasswordDelegate()
        let session = URLSession(configuration: .ephemeral, delegate: tx.capturing(own), delegateQueue: nil)
        let (data, _) = try await session.data(for: URLRequest(url: server.url()))
        #expect(data == Data("come in".utf8))
        #expect(try await ended().status == 200)
        session.finishTasksAndInvalidate()
    }
}

/// Implements both calls that end a task.
final class EndingDelegate: NSObject, URLSessionTaskDelegate, Sendable {
    let ended = Gate()

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {}

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        ended.open()
    }
}

final class RedirectDelegate: NSObject, URLSessionTaskDelegate, Sendable {
    private let follows: Bool
    private let asked = Locked(0)

    init(follows: Bool) { self.follows = follows }

    var count: Int { asked.withLock { $0 } }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        asked.withLock { $0 += 1 }
        completionHandler(follows ? request : nil)
    }
}

/// Implements the methods of the task protocols without declaring the protocols.
private final class UndeclaredDelegate: NSObject, URLSessionDelegate, Sendable {
    let ended = Gate()
    private let received = Locked(0)

    var byteCount: Int { received.withLock { $0 } }

    @objc(URLSession:dataTask:didReceiveData:)
    func take(_ session: URLSession, _ task: URLSessionDataTask, _ data: Data) {
        received.withLock { $0 += data.count }
    }

    @objc(URLSession:task:didCompleteWithError:)
    func end(_ session: URLSession, _ task: URLSessionTask, _ error: (any Error)?) { ended.open() }
}

private final class StreamDelegate: NSObject, URLSessionTaskDelegate, Sendable {
    private let body: Data

    init(_ body: Data) { self.body = body }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        completionHandler(InputStream(data: body))
    }
}

/// Implements the `async` method, which the session calls like the one with a handler.
final class PasswordDelegate: NSObject, URLSessionTaskDelegate, Sendable {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        (.useCredential, URLCredential(user: "ada", password: "engine", persistence: .none))
    }
}
#endif
