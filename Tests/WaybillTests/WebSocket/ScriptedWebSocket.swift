import Foundation
import WaybillCore

@testable import Waybill

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Carries messages to and from a test, in place of URLSession's task.
final class ScriptedWebSocket: WebSocketCarrier {
    typealias Message = URLSessionWebSocketTask.Message

    private struct State {
        var tell: (@Sendable (WebSocketEvent) -> Void)?
        var sent: [String] = []
        var waiting: (@Sendable (Result<Message, any Error>) -> Void)?
        var coming: [Result<Message, any Error>] = []
        var closed: [Int] = []
    }

    private let state = Locked(State())

    /// The sent messages; binary ones as their lengths.
    var sent: [String] { state.withLock { $0.sent } }

    /// The codes of closings by this side.
    var closed: [Int] { state.withLock { $0.closed } }

    /// Whether a caller waits for a message.
    var isWaitedFor: Bool { state.withLock { $0.waiting != nil } }

    var isStarted: Bool { state.withLock { $0.tell != nil } }

    func limit(messageSize: Int) {}

    func start(telling tell: @escaping @Sendable (WebSocketEvent) -> Void) { state.withLock { $0.tell = tell } }

    func send(_ message: Message, _ done: @escaping @Sendable (Result<Void, any Error>) -> Void) {
        let text: String =
            if case .string(let text) = message { text } else if case .data(let data) = message { "\(data.count)" } else
            { "" }
        state.withLock { $0.sent.append(text) }
        done(.success(()))
    }

    func receive(_ done: @escaping @Sendable (Result<Message, any Error>) -> Void) {
        let next: Result<Message, any Error>? = state.withLock { state in
            guard state.coming.isEmpty else { return state.coming.removeFirst() }
            state.waiting = done
            return nil
        }
        if let next { done(next) }
    }

    func ping(_ done: @escaping @Sendable (Result<Void, any Error>) -> Void) { done(.success(())) }

    func close(_ code: URLSessionWebSocketTask.CloseCode, reason: Data?) {
        state.withLock { $0.closed.append(code.rawValue) }
    }

    // MARK: The other side

    func tell(_ event: WebSocketEvent) { state.withLock { $0.tell }?(event) }

    /// Answers the handshake.
    func open() { tell(.opened(nil)) }

    func say(_ result: Result<Message, any Error>) {
        let waiting = state.withLock { state in
            if state.waiting == nil { state.coming.append(result) }
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?(result)
    }

    func say(_ text: String) { say(.success(.string(text))) }

    /// Closes like a server: callers that wait for a message get an error.
    func end(_ code: Int, _ reason: String) {
        tell(.closed(code: code, reason: Data(reason.utf8)))
        say(.failure(URLError(.networkConnectionLost)))
        tell(.ended(nil, nil))
    }
}
