import Foundation
import WaybillCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Carries a request by a task of a session.
final class TaskTransport: HTTPTransport {
    private struct State {
        /// nil before the start and after the end.
        var events: (any HTTPEvents)?
        var task: URLSessionTask?
        var isCanceled = false
        /// Whether an authentication was declined, which ends the task as if it had been canceled.
        var hasDeclined = false
    }

    private let outgoing: OutgoingRequest
    /// Kept alive until the task has ended.
    private let session: HTTPSession
    private let state = Locked(State())

    init(_ outgoing: OutgoingRequest, in session: HTTPSession) {
        self.outgoing = outgoing
        self.session = session
    }

    func start(telling events: any HTTPEvents) {
        state.withLock { $0.events = events }
        let task = session.task(of: outgoing, for: self)
        state.withLock { $0.task = task }
        task.resume()
    }

    func cancel() {
        let task = state.withLock { state in
            (state.isCanceled, state.events) = (true, nil)
            return state.task
        }
        if let task { session.cancel(task) }
    }

    // MARK: What the session tells its delegate

    private var events: (any HTTPEvents)? { state.withLock { $0.events } }

    func sent(byteCount: Int64, expected: Int64) {
        events?.sent(byteCount: byteCount, expected: expected > 0 ? expected : nil)
    }

    func responded(_ response: URLResponse) { events?.responded(response) }

    func received(_ bytes: Data) { events?.received(bytes) }

    /// Answers where to go from a 3xx, unless the task is about to be canceled: swift-corelibs-foundation traps when
    /// both happen. It does not when a cancellation comes after the answer was given here, on its own queue.
    func redirected(by response: HTTPURLResponse, to request: URLRequest, answer: (URLRequest?) -> Void) {
        let (events, isCanceled) = state.withLock { ($0.events, $0.isCanceled) }
        if !isCanceled { answer(events?.redirected(by: response, to: request)) }
    }

    /// Takes a 401 as the answer. swift-corelibs-foundation holds it back until there is a password, without end where
    /// there is none, and past every time-out; declined, the task ends as canceled.
    func declineChallenge(_ answer: @escaping @Sendable () -> Void) {
        state.withLock { $0.hasDeclined = true }
        session.later(answer)
    }

    /// Ends where a connection that had been kept alive was closed while the body went over it. libcurl sends that
    /// again, on a new one, and asks for it from the start; swift-corelibs-foundation has no more of it to give, and
    /// both would wait for each other until the deadline.
    func lose() {
        let events = events
        cancel()
        events?.ended(URLError(.networkConnectionLost))
    }

    func tell(_ measurements: TransferMeasurements) { events?.measured(measurements) }

    func ended(_ error: (any Error)?) {
        let last = state.withLock { state in
            defer { state = State(isCanceled: true) }
            return state
        }
        let isAnswered = last.hasDeclined && (error as? URLError)?.code == .cancelled
        last.events?.ended(isAnswered ? nil : error.map(URLError.init(wrapping:)))
    }
}

extension URLError {
    /// The error itself where it is one of URLSession's, else an unknown one with it underneath.
    fileprivate init(wrapping error: any Error) {
        self = error as? URLError ?? URLError(.unknown, userInfo: [NSUnderlyingErrorKey: error])
    }
}
