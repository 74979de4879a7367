import Dispatch
package import Foundation
import WaybillCore

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// A `URLSession` that is only used in ways that survive cancellation on every platform.
///
/// In swift-corelibs-foundation, `URLSession.data(for:)` can deadlock all sessions if a cancellation meets the end of a
/// request. If the cancellation comes early, the cache look-up can trap. So all requests are delegate tasks, cancelled
/// on a separate queue, and the session has no cache on Linux.
package final class HTTPSession: Sendable {
    private let session: URLSession
    private let delegate = SessionDelegate()
    private let cancellations = DispatchQueue(label: "waybill.cancellations")

    /// - Parameter challenge: Decides about authentication challenges, on Apple platforms. `nil` leaves them to the system.
    package init(configuration: URLSessionConfiguration, challenge: ChallengeHandler? = nil) {
        #if canImport(FoundationNetworking)
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: InlineQueue())
        // The configuration is live here and a copy on Apple platforms.
        session.configuration.urlCache = nil
        #else
        delegate.challenge.withLock { $0 = challenge }
        // A background session raises an exception for a WebSocket and for an upload of bytes.
        let usable = configuration.identifier == nil ? configuration : .default
        session = URLSession(configuration: usable, delegate: delegate, delegateQueue: nil)
        #endif
    }

    deinit { session.finishTasksAndInvalidate() }

    func cookieField(for request: URLRequest) -> HeaderField? {
        let configuration = session.configuration
        #if canImport(FoundationNetworking)
        // swift-corelibs-foundation adds them whatever the request says.
        let takesCookies = true
        #else
        let takesCookies = request.httpShouldHandleCookies
        #endif
        guard takesCookies, configuration.httpShouldSetCookies,
            request.value(forHTTPHeaderField: "Cookie") == nil, let url = request.url,
            let cookies = configuration.httpCookieStorage?.cookies(for: url), !cookies.isEmpty
        else { return nil }
        return HTTPCookie.requestHeaderFields(with: cookies)["Cookie"].map {
            HeaderField(name: "Cookie", value: $0)
        }
    }

    /// Waits for URLSession's queue.
    func task(of outgoing: OutgoingRequest, for transport: TaskTransport) -> URLSessionTask {
        let task: URLSessionTask =
            switch outgoing.body {
            case .own: session.dataTask(with: outgoing.request)
            case .data(let data): session.uploadTask(with: outgoing.request, from: data)
            case .file(let file):
                if let data = Self.bytesToSend(of: file) {
                    session.uploadTask(with: outgoing.request, from: data)
                } else {
                    session.uploadTask(with: outgoing.request, fromFile: file)
                }
            }
        delegate.add(transport, for: task)
        return task
    }

    /// swift-corelibs-foundation reads a file in parallel and resumes the transfer with each piece. If the transfer has
    /// ended by then, libcurl returns an error, and the process traps.
    private static func bytesToSend(of file: URL) -> Data? {
        #if canImport(FoundationNetworking)
        guard let size = try? file.resourceValues(forKeys: [.fileSizeKey]).fileSize, size <= 16 << 20 else {
            return nil
        }
        return try? Data(contentsOf: file)
        #else
        return nil
        #endif
    }

    /// Waits for URLSession's queue.
    func webSocketTask(with request: URLRequest, for socket: TaskWebSocket) -> URLSessionWebSocketTask {
        let task = session.webSocketTask(with: request)
        delegate.add(socket, for: task)
        return task
    }

    /// `URLSessionTask.cancel()` of swift-corelibs-foundation can deadlock: its queue may wait for the Swift task.
    func cancel(_ task: URLSessionTask) { cancellations.async { task.cancel() } }

    func later(_ body: @escaping @Sendable () -> Void) { cancellations.async(execute: body) }
}

extension HTTPSession {
    /// A longer body than `limit` bytes is cut after one byte more.
    package func data(
        for request: URLRequest, uploading body: Data? = nil, redirects: RedirectPolicy = .follow(),
        deadline: Duration? = nil, limit: Int = .max
    ) async throws(URLError) -> (Data, URLResponse) {
        try await call(request, body: body.map { .data($0) } ?? .own, redirects: redirects, deadline: deadline)
            .value { MemorySink(limit: limit, $0) }
    }

    /// Retries once on a new connection, since the server may have closed a kept-alive one.
    func upload(
        _ body: OutgoingRequest.Body, by request: URLRequest, deadline: Duration, limit: Int
    ) async throws(URLError) -> (Data, URLResponse) {
        let post = { () async throws(URLError) -> (Data, URLResponse) in
            try await self.call(request, body: body, redirects: .refuse, deadline: deadline)
                .value { MemorySink(limit: limit, $0) }
        }
        do { return try await post() } catch {
            guard error.code == .networkConnectionLost else { throw error }
            return try await post()
        }
    }

    /// Other processes can't open the file, which has no name.
    package func file(for request: URLRequest, redirects: RedirectPolicy) async throws(URLError) -> (
        FileHandle, URLResponse
    ) {
        try await call(request, redirects: redirects).value(into: FileSink<FileHandle>.init)
    }

    private func call(
        _ request: URLRequest, body: OutgoingRequest.Body = .own, redirects: RedirectPolicy, deadline: Duration? = nil
    ) -> HTTPCall {
        let outgoing = OutgoingRequest(request: request, body: body)
        return HTTPCall(
            of: outgoing, by: TaskTransport(outgoing, in: self), redirects: redirects, deadline: deadline)
    }
}

package typealias ChallengeHandler =
    @Sendable (URLAuthenticationChallenge) async -> (URLSession.AuthChallengeDisposition, URLCredential?)

final class SessionDelegate: NSObject, URLSessionDataDelegate, URLSessionWebSocketDelegate, Sendable {
    #if !canImport(FoundationNetworking)
    fileprivate let challenge = Locked<ChallengeHandler?>(nil)
    #endif
    private let transports = Locked<[Int: TaskTransport]>([:])
    private let sockets = Locked<[Int: TaskWebSocket]>([:])

    func add(_ transport: TaskTransport, for task: URLSessionTask) {
        transports.withLock { $0[task.taskIdentifier] = transport }
    }

    func add(_ socket: TaskWebSocket, for task: URLSessionTask) {
        sockets.withLock { $0[task.taskIdentifier] = socket }
    }

    private func socket(of task: URLSessionTask) -> TaskWebSocket? { sockets.withLock { $0[task.taskIdentifier] } }

    private func transport(of task: URLSessionTask) -> TaskTransport? {
        transports.withLock { $0[task.taskIdentifier] }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData byteCount: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        let expected = totalBytesExpectedToSend > 0 ? totalBytesExpectedToSend : nil
        transport(of: task)?.tell(.sent(byteCount: byteCount, expected: expected))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping (URLRequest?) -> Void
    ) {
        socket(of: task)?.redirected(to: request, answer: completionHandler)
        transport(of: task)?.redirected(by: response, to: request, answer: completionHandler)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        transport(of: dataTask)?.tell(.responded(response))
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transport(of: dataTask)?.tell(.received(data))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        transports.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.ended(error)
        sockets.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.ended(error, response: task.response)
    }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
    ) { socket(of: webSocketTask)?.opened(webSocketTask.response) }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
    ) { socket(of: webSocketTask)?.closed(closeCode.rawValue, reason: reason) }

    #if canImport(FoundationNetworking)
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let decline = { @Sendable in completionHandler(.cancelAuthenticationChallenge, nil) }
        socket(of: task)?.later(decline)
        transport(of: task)?.declineChallenge(decline)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        completionHandler(nil)
        transport(of: task)?.lose()
    }
    #else
    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        guard let measured = TransferMeasurements(metrics) else { return }
        transport(of: task)?.tell(.measured(measured))
        socket(of: task)?.tell(measured)
    }

    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        transport(of: task)?.tell(.waits)
    }

    // The session has no separate method for its challenges, so those come here, too.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive received: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let challenge = challenge.withLock({ $0 }) else { return completionHandler(.performDefaultHandling, nil) }
        Task {
            let (disposition, credential) = await challenge(received)
            completionHandler(disposition, credential)
        }
    }
    #endif
}

extension URLResponse {
    /// 0 if this is not an HTTP response.
    package var status: Int { (self as? HTTPURLResponse)?.statusCode ?? 0 }

    func require(_ statuses: Range<Int>?) throws(RecordedError) {
        guard let statuses, !statuses.contains(status) else { return }
        throw RecordedError(domain: "HTTP", code: Int64(status))
    }
}

extension String {
    /// A token of RFC 9110, section 5.6.2.
    package var isToken: Bool {
        !isEmpty && utf8.allSatisfy { $0.isLetterOrDigit || "!#$%&'*+-.^_`|~".utf8.contains($0) }
    }
}
