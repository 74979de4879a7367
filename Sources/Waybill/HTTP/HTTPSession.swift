import Dispatch
package import Foundation
import WaybillCore

#if canImport(FoundationNetworking)
package import FoundationNetworking
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
    func cookieField(for request: URLRequest) -> Fact.HeaderField? {
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
            Fact.HeaderField(name: "Cookie", value: $0)
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
