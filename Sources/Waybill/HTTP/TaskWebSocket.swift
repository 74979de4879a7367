import Foundation
import WaybillCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What carries the messages of one WebSocket: a task of a session, or what takes its place in a test.
///
/// Closures are called once each, on any thread; none of them waits.
protocol WebSocketCarrier: AnyObject, Sendable {
    /// The longest message that is received, in bytes; of a longer one the platform makes an error.
    var maximumMessageSize: Int { get set }

    /// Begins the handshake; called once, before anything else but the size.
    func start(telling events: @escaping @Sendable (WebSocketEvent) -> Void)

    func send(
        _ message: URLSessionWebSocketTask.Message, _ done: @escaping @Sendable (Result<Void, any Error>) -> Void)

    /// Waits for the next message; not called again before that has come.
    func receive(_ done: @escaping @Sendable (Result<URLSessionWebSocketTask.Message, any Error>) -> Void)

    /// Sends a ping, and waits for its pong.
    func ping(_ done: @escaping @Sendable (Result<Void, any Error>) -> Void)

    /// Sends a close frame, and no more after it; must not wait.
    func close(_ code: URLSessionWebSocketTask.CloseCode, reason: Data?)
}

/// What happens to a WebSocket besides its messages.
enum WebSocketEvent: Sendable {
    /// The handshake is done.
    case opened(URLResponse?)
    /// The other side's close frame has come.
    case closed(code: Int, reason: Data?)
    /// There will be no more. The response where the handshake failed; no error after a close frame.
    case ended((any Error)?, URLResponse?)
    /// What the platform measured of the handshake.
    case measured(TransferMeasurements)
}

/// Carries nothing: fails after a delay.
final class FailedWebSocket: WebSocketCarrier {
    private struct State {
        var hasFailed = false
        var waiting: [@Sendable (any Error) -> Void] = []
        var maximumMessageSize = 0
    }

    private let error: URLError
    private let delay: Duration
    private let schedule: any RuleSchedule
    private let state = Locked(State())

    init(_ error: URLError, after delay: Duration = .zero, on schedule: any RuleSchedule = DispatchSchedule()) {
        self.error = error
        self.delay = delay
        self.schedule = schedule
    }

    var maximumMessageSize: Int {
        get { state.withLock { $0.maximumMessageSize } }
        set { state.withLock { $0.maximumMessageSize = newValue } }
    }

    func start(telling events: @escaping @Sendable (WebSocketEvent) -> Void) {
        schedule.after(delay) { [self] in
            let waiting = state.withLock { state in
                state.hasFailed = true
                defer { state.waiting = [] }
                return state.waiting
            }
            events(.ended(error, nil))
            for tell in waiting { tell(error) }
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
        let hasFailed = state.withLock { state in
            if !state.hasFailed { state.waiting.append(tell) }
            return state.hasFailed
        }
        if hasFailed { tell(error) }
    }
}

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
