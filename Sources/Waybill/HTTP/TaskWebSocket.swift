import Foundation
import WaybillCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Carries messages by a WebSocket task of a session.
///
/// Only the forms with a completion handler are used: swift-corelibs-foundation may wait for its queue where a Swift
/// task is canceled, and that queue may be waiting for the task.
final class TaskWebSocket: WebSocketCarrier {
    private struct State {
        /// nil before the start and after the end.
        var tell: (@Sendable (WebSocketEvent) -> Void)?
        var task: URLSessionWebSocketTask?
        /// URLSession's own default.
        var maximumMessageSize = 1 << 20
        /// Set where it was closed before there was a task.
        var closing: (code: URLSessionWebSocketTask.CloseCode, reason: Data?)?
    }

    private let request: URLRequest
    private let redirects: RedirectPolicy
    private let isRefused: @Sendable () -> Void
    /// Kept alive until the task has ended.
    private let session: HTTPSession
    private let state = Locked(State())

    /// What a platform without WebSockets says, whose own words name a library that the app may never have heard of.
    static let refusal =
        "URLSession has no WebSocket here: Foundation was built with a libcurl that lacks it. Open the WebSocket with another "
        + "library, and record it with openExchange(_:)."

    /// - Parameter isRefused: Called where the platform has no WebSocket.
    init(
        _ request: URLRequest, redirects: RedirectPolicy, in session: HTTPSession,
        isRefused: @escaping @Sendable () -> Void
    ) {
        self.request = request
        self.redirects = redirects
        self.session = session
        self.isRefused = isRefused
    }

    var maximumMessageSize: Int {
        get { state.withLock { $0.maximumMessageSize } }
        set {
            let task = state.withLock { state in
                state.maximumMessageSize = newValue
                return state.task
            }
            task?.maximumMessageSize = newValue
        }
    }

    func start(telling tell: @escaping @Sendable (WebSocketEvent) -> Void) {
        state.withLock { $0.tell = tell }
        let task = session.webSocketTask(with: request, for: self)
        task.maximumMessageSize = maximumMessageSize
        let closing = state.withLock { state in
            state.task = task
            return state.closing
        }
        task.resume()
        if let closing { close(closing.code, reason: closing.reason) }
    }

    func send(
        _ message: URLSessionWebSocketTask.Message, _ done: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        guard let task else { return done(.failure(URLError(.cancelled))) }
        task.send(message) { error in done(error.map { .failure(self.told($0)) } ?? .success(())) }
    }

    func receive(_ done: @escaping @Sendable (Result<URLSessionWebSocketTask.Message, any Error>) -> Void) {
        guard let task else { return done(.failure(URLError(.cancelled))) }
        task.receive { [weak task] result in
            // What ended it may be told after this.
            if case .failure = result, let task, task.closeCode != .invalid {
                self.closed(task.closeCode.rawValue, reason: task.closeReason)
            }
            done(result.mapError { self.told($0) })
        }
    }

    func ping(_ done: @escaping @Sendable (Result<Void, any Error>) -> Void) {
        guard let task else { return done(.failure(URLError(.cancelled))) }
        task.sendPing { error in done(error.map { .failure(self.told($0)) } ?? .success(())) }
    }

    func close(_ code: URLSessionWebSocketTask.CloseCode, reason: Data?) {
        let task = state.withLock { state in
            if state.task == nil { state.closing = (code, reason) }
            return state.task
        }
        guard let task else { return }
        session.later { task.cancel(with: code, reason: reason) }
    }

    private var task: URLSessionWebSocketTask? { state.withLock { $0.task } }

    // MARK: What the session tells its delegate

    private var tell: (@Sendable (WebSocketEvent) -> Void)? { state.withLock { $0.tell } }

    func opened(_ response: URLResponse?) { tell?(.opened(response)) }

    func closed(_ code: Int, reason: Data?) { tell?(.closed(code: code, reason: reason)) }

    func tell(_ measurements: TransferMeasurements) { tell?(.measured(measurements)) }

    /// Does something later that must not be done where the session tells it.
    func later(_ body: @escaping @Sendable () -> Void) { session.later(body) }

    func redirected(to next: URLRequest, answer: (URLRequest?) -> Void) {
        answer(redirects.request(after: next, of: request))
    }

    func ended(_ error: (any Error)?, response: URLResponse?) {
        let tell = state.withLock { state in
            defer { (state.tell, state.task) = (nil, nil) }
            return state.tell
        }
        tell?(.ended(error.map(told), response))
    }

    /// An error in words that say what to do.
    private func told(_ error: any Error) -> any Error {
        #if canImport(FoundationNetworking)
        guard (error as? URLError)?.code == .unsupportedURL else { return error }
        isRefused()
        var information: [String: Any] = [NSLocalizedDescriptionKey: Self.refusal]
        if let url = request.url { information[NSURLErrorFailingURLErrorKey] = url }
        return URLError(.unsupportedURL, userInfo: information)
        #else
        return error
        #endif
    }
}
