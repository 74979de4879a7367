#if canImport(FoundationNetworking)
import Foundation
import FoundationNetworking
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillQueries

/// Something that a caller can do with a `URLSession`, with its outcome for the caller and for the server.
struct Behavior: Sendable, CustomTestStringConvertible {
    /// Makes the session of a behaviour: bare, or captured in one way.
    typealias MakeSession = @Sendable (URLSessionConfiguration, (any URLSessionDelegate)?) -> URLSession

    let name: String
    private let handler: @Sendable (LoopbackServer.Request) -> LoopbackServer.Response
    private let configure: @Sendable (URLSessionConfiguration) -> Void
    private let act: @Sendable (Stage) async throws -> [String]

    init(
        _ name: String, configure: @escaping @Sendable (URLSessionConfiguration) -> Void = { _ in },
        server handler: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Response,
        act: @escaping @Sendable (Stage) async throws -> [String]
    ) {
        (self.name, self.handler, self.configure, self.act) = (name, handler, configure, act)
    }

    var testDescription: String { name }

    /// Runs the behaviour in a new session against a new server.
    ///
    /// - Returns: A line for everything that the caller and the server saw, without the server's port.
    func seen(_ makeSession: MakeSession) async throws -> [String] {
        let configuration = URLSessionConfiguration.ephemeral
        configure(configuration)
        let arrived = Gate()
        let handler = handler
        let server = try LoopbackServer { request in
            arrived.open()
            return handler(request)
        }
        let told = Told()
        let session = makeSession(configuration, told)
        let lines = try await act(Stage(session: session, told: told, server: server, arrived: arrived))
        session.finishTasksAndInvalidate()
        let requests = server.requests.map { request in
            let fields = request.headers.filter { $0.name != "Host" }.map { "\($0.name)=\($0.value)" }.sorted()
            return "\(request.method) \(request.path) \(fields.joined(separator: "; ")) (\(request.body.count) B)"
        }
        return (lines + requests).map { $0.replacing(":\(server.port)", with: "") }
    }

    /// The session and the server of a behaviour.
    struct Stage: Sendable {
        let session: URLSession
        let told: Told
        let server: LoopbackServer
        /// Opens when the server has a request.
        let arrived: Gate

        func request(_ path: String = "/", method: String = "GET", body: Data? = nil) -> URLRequest {
            var request = URLRequest(url: server.url(path))
            request.httpMethod = method
            request.httpBody = body
            return request
        }

        /// Makes a task that reports to the delegate, as code does that knows the capturing delegate.
        func task(_ request: URLRequest, _ make: (URLRequest) -> URLSessionTask) -> URLSessionTask {
            (session.delegate as? CapturingDelegate)?.task(for: request, make: make) ?? make(request)
        }

        /// Runs a task that reports to the delegate.
        func run(_ task: URLSessionTask, resumed: (URLSessionTask) async -> Void = { _ in }) async -> [String] {
            task.resume()
            await resumed(task)
            await told.ended.opened()
            return told.lines
        }

        /// Runs a task that has a completion handler.
        func run(
            resumed: (URLSessionTask) async -> Void = { _ in },
            _ make: (@escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void) -> URLSessionTask
        ) async -> [String] {
            let answer = Locked<[String]>([])
            let ended = Gate()
            let task = make { data, response, error in
                answer.withLock {
                    $0 = ["answer \(Self.text(response)) \(data.map { "\($0.count) B" } ?? "nil") \(Self.text(error))"]
                }
                ended.open()
            }
            task.resume()
            await resumed(task)
            await ended.opened()
            return answer.withLock { $0 }
        }

        static func text(_ response: URLResponse?) -> String {
            guard let response = response as? HTTPURLResponse else { return "nil" }
            let fields = response.allHeaderFields.map { "\($0.key)=\($0.value)" }.sorted()
            return "\(response.statusCode) \(response.url?.absoluteString ?? "nil") \(fields.joined(separator: "; "))"
        }

        static func text(_ error: (any Error)?) -> String {
            error.map { "\(($0 as NSError).domain) \(($0 as NSError).code)" } ?? "whole"
        }
    }
}

/// A session delegate that logs its calls. It follows or refuses redirects and provides passwords and bodies.
final class Told: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, Sendable {
    private struct State {
        var lines: [String] = []
        var byteCount: Int64 = 0
        var sentByteCount: Int64 = 0
    }

    /// Opens when a task has reported its end.
    let ended = Gate()
    let refusesRedirects = Locked(false)
    let streamedBody = Locked(Data())
    private let state = Locked(State())

    /// The lines, with one total for all bytes, whatever the size of the chunks.
    var lines: [String] { state.withLock { $0.lines + ["\($0.byteCount) B came", "\($0.sentByteCount) B went"] } }

    private func note(_ line: String) { state.withLock { $0.lines.append(line) } }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        note("redirect \(response.statusCode) to \(request.url?.absoluteString ?? "nil")")
        completionHandler(refusesRedirects.withLock { $0 } ? nil : request)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        note("challenge \(challenge.protectionSpace.authenticationMethod) \(challenge.previousFailureCount)")
        completionHandler(.useCredential, URLCredential(user: "ada", password: "lovelace", persistence: .none))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) { completionHandler(InputStream(data: streamedBody.withLock { $0 })) }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) { state.withLock { $0.sentByteCount += bytesSent } }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        note("ended \(Behavior.Stage.text(task.response)) \(Behavior.Stage.text(error))")
        ended.open()
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        note("response \(Behavior.Stage.text(response))")
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        state.withLock { $0.byteCount += Int64(data.count) }
    }

    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
        note("file of \((try? Data(contentsOf: location))?.count ?? -1) B")
        try? FileManager.default.removeItem(at: location)
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) { state.withLock { $0.byteCount += bytesWritten } }
}
#endif
