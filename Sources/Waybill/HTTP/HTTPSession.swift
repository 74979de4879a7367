import Dispatch
import WaybillCore

#if canImport(FoundationNetworking)
package import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// A `URLSession` of our own, used only in the ways that survive cancellation on every platform.
///
/// With swift-corelibs-foundation `URLSession.data(for:)` can deadlock every session of the process when a cancellation
/// meets the end of a request, and can trap when it comes early. So all requests are delegate tasks, canceled from a
/// queue on which nothing waits, and the session has no cache there: it is the look-up in the cache that traps when a
/// cancellation comes early. It lives until its last request has ended and no reference to it is left.
package final class HTTPSession: Sendable {
    private let session: URLSession
    private let delegate = SessionDelegate()
    private let cancellations = DispatchQueue(label: "waybill.cancellations")

    /// Makes a session; the caller's configuration is left as it is. The default one stands in for one that is for the
    /// background.
    package init(configuration: URLSessionConfiguration) {
        #if canImport(FoundationNetworking)
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: InlineQueue())
        // There a session's configuration is the live one; on Apple platforms it is a copy.
        session.configuration.urlCache = nil
        #else
        // In a session for the background an upload of bytes raises an exception, and so does a WebSocket.
        let usable = configuration.identifier == nil ? configuration : .default
        session = URLSession(configuration: usable, delegate: delegate, delegateQueue: nil)
        #endif
    }

    deinit { session.finishTasksAndInvalidate() }

    /// The header field with the cookies that the system adds to a request from the session's jar; `nil` if it adds none.
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

    /// Makes a task that tells its transport what happens to it. Waits for URLSession's queue.
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

    /// The bytes of a file that is sent from memory; nil for one that URLSession reads itself.
    ///
    /// swift-corelibs-foundation reads a file beside the transfer, and has the transfer go on when bytes have come. Where
    /// that is over by then, since it was canceled or the other side hung up, libcurl refuses, and the process traps.
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

    /// Makes a WebSocket's task that tells what carries it what happens to it. Waits for URLSession's queue.
    func webSocketTask(with request: URLRequest, for socket: TaskWebSocket) -> URLSessionWebSocketTask {
        let task = session.webSocketTask(with: request)
        delegate.add(socket, for: task)
        return task
    }

    /// Cancels a task, later. `URLSessionTask.cancel()` waits for URLSession's queue in swift-corelibs-foundation,
    /// which may be about to wait for the Swift task that is being canceled: a deadlock.
    func cancel(_ task: URLSessionTask) { cancellations.async { task.cancel() } }

    /// Does something later that must not be done on URLSession's queue.
    func later(_ body: @escaping @Sendable () -> Void) { cancellations.async(execute: body) }
}

extension HTTPSession {
    /// Sends a request and waits for all of the answer.
    ///
    /// - Parameters:
    ///   - request: Sent as it is.
    ///   - body: Sent by an upload task, in place of the request's own body; nil for none.
    ///   - redirects: What is done about a 3xx that names another place.
    ///   - deadline: The longest that all of it may take; nil for no limit but the session's own.
    ///   - limit: Bytes of the answer's body at most; a longer one comes cut, one byte behind that, and the rest is not
    ///     read.
    /// - Throws: `.cancelled` as soon as the task is canceled, `.timedOut` at the deadline, or what URLSession says.
    package func data(
        for request: URLRequest, uploading body: Data? = nil, redirects: RedirectPolicy = .follow(),
        deadline: Duration? = nil, limit: Int = .max
    ) async throws(URLError) -> (Data, URLResponse) {
        let outgoing = OutgoingRequest(request: request, body: body.map { .data($0) } ?? .own)
        return try await HTTPCall(
            of: outgoing, by: TaskTransport(outgoing, in: self), redirects: redirects, deadline: deadline
        )
        .value { MemorySink(limit: limit, $0) }
    }

    /// Sends a request and waits for all of the answer, whose body is kept on the disk, in a file that has no name:
    /// others cannot open it, and it goes with the process.
    ///
    /// - Parameter redirects: What is done about a 3xx that names another place.
    /// - Returns: The file, to be read from its beginning.
    /// - Throws: `.cancelled` as soon as the task is canceled, or what URLSession says.
    package func file(for request: URLRequest, redirects: RedirectPolicy) async throws(URLError) -> (
        FileHandle, URLResponse
    ) {
        let outgoing = OutgoingRequest(request: request)
        return try await HTTPCall(of: outgoing, by: TaskTransport(outgoing, in: self), redirects: redirects)
            .value(into: FileSink<FileHandle>.init)
    }
}

/// The delegate of a session: passes on what it is told to the transport of the task.
final class SessionDelegate: NSObject, URLSessionDataDelegate, URLSessionWebSocketDelegate, Sendable {
    private let transports = Locked<[Int: TaskTransport]>([:])
    private let sockets = Locked<[Int: TaskWebSocket]>([:])

    /// Tells a transport what happens to a task, which must not have been resumed yet.
    func add(_ transport: TaskTransport, for task: URLSessionTask) {
        transports.withLock { $0[task.taskIdentifier] = transport }
    }

    /// Tells what carries a WebSocket what happens to its task, which must not have been resumed yet.
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
    ) { transport(of: task)?.sent(byteCount: byteCount, expected: totalBytesExpectedToSend) }

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
        transport(of: dataTask)?.responded(response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transport(of: dataTask)?.received(data)
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
        transport(of: task)?.tell(measured)
        socket(of: task)?.tell(measured)
    }
    #endif
}

extension URLResponse {
    /// The HTTP status code; 0 where this is no answer to an HTTP request.
    public var status: Int { (self as? HTTPURLResponse)?.statusCode ?? 0 }

    /// Whether the status is one of success, 200 to 299 (RFC 9110, section 15.3).
    public var isSuccess: Bool { (200..<300).contains(status) }
}

extension String {
    /// Whether it is a token of RFC 9110, section 5.6.2, as the name of a header field has to be.
    package var isToken: Bool {
        !isEmpty
            && utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }
}
