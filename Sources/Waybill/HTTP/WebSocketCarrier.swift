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
