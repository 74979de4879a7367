import Foundation
import WaybillCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Closures are called once, on any thread, and must not wait.
protocol WebSocketCarrier: AnyObject, Sendable {
    func limit(messageSize: Int)

    func start(telling events: @escaping @Sendable (WebSocketEvent) -> Void)

    func send(
        _ message: URLSessionWebSocketTask.Message, _ done: @escaping @Sendable (Result<Void, any Error>) -> Void)

    /// Not called again before a message has arrived.
    func receive(_ done: @escaping @Sendable (Result<URLSessionWebSocketTask.Message, any Error>) -> Void)

    func ping(_ done: @escaping @Sendable (Result<Void, any Error>) -> Void)

    /// Must not wait.
    func close(_ code: URLSessionWebSocketTask.CloseCode, reason: Data?)
}

enum WebSocketEvent: Sendable {
    case opened(URLResponse?)
    case closed(code: Int, reason: Data?)
    /// The response is set if the handshake failed. After a close frame there is no error.
    case ended((any Error)?, URLResponse?)
    case measured(TransferMeasurements)
}

final class FailedWebSocket: WebSocketCarrier {
    private let error: URLError
    private let delay: Duration
    private let schedule: any RuleSchedule
    /// `nil` after the failure.
    private let waiting = Locked<[@Sendable (any Error) -> Void]?>([])

    init(_ error: URLError, after delay: Duration = .zero, on schedule: any RuleSchedule = DispatchSchedule()) {
        self.error = error
        self.delay = delay
        self.schedule = schedule
    }

    func limit(messageSize: Int) {}

    func start(telling events: @escaping @Sendable (WebSocketEvent) -> Void) {
        schedule.after(delay) { [self] in
            // Until this is recorded, callers wait: whoever has the error finds the exchange failed.
            events(.ended(error, nil))
            for tell in waiting.withLock({ $0.take() }) ?? [] { tell(error) }
        }
    }

    func send(
        _ message: URLSessionWebSocketTask.Message, _ done: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) { whenFailed { done(.failure($0)) } }

    func receive(_ done: @escaping @Sendable (Result<URLSessionWebSocketTask.Message, any Error>) -> Void) {
        whenFailed { done(.failure($0)) }
    }

    func ping(_ done: @escaping @Sendable (Result<Void, any Error>) -> Void) { whenFailed { done(.failure($0)) } }

    func close(_ code: URLSessionWebSocketTask.CloseCode, reason: Data?) {}

    private func whenFailed(_ tell: @escaping @Sendable (any Error) -> Void) {
        let waits = waiting.withLock { waiting in
            waiting?.append(tell)
            return waiting != nil
        }
        if !waits { tell(error) }
    }
}

/// In swift-corelibs-foundation, a cancelled async method may wait for a queue that waits for the task.
final class TaskWebSocket: WebSocketCarrier {
    private struct State {
        var tell: (@Sendable (WebSocketEvent) -> Void)?
        var task: URLSessionWebSocketTask?
        var maximumMessageSize = 1 << 20
        var closing: (code: URLSessionWebSocketTask.CloseCode, reason: Data?)?
    }

    private let request: URLRequest
    private let redirects: RedirectPolicy
    private let isRefused: @Sendable () -> Void
    private let session: HTTPSession
    private let state = Locked(State())

    /// The platform's own error names a library that developers may not know.
    static let refusal =
        "URLSession has no WebSocket here: Foundation was built with a libcurl that lacks it. Open the WebSocket with another "
        + "library, and record it with openExchange(_:)."

    init(
        _ request: URLRequest, redirects: RedirectPolicy, in session: HTTPSession,
        isRefused: @escaping @Sendable () -> Void
    ) {
        self.request = request
        self.redirects = redirects
        self.session = session
        self.isRefused = isRefused
    }

    func limit(messageSize: Int) {
        let task = state.withLock { state in
            state.maximumMessageSize = messageSize
            return state.task
        }
        task?.maximumMessageSize = messageSize
    }

    func start(telling tell: @escaping @Sendable (WebSocketEvent) -> Void) {
        state.withLock { $0.tell = tell }
        let task = session.webSocketTask(with: request, for: self)
        task.maximumMessageSize = state.withLock { $0.maximumMessageSize }
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
            // The session may report the close frame after this.
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
