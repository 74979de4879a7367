import Dispatch
import Foundation
import WaybillCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One request and what became of it: answered, failed, canceled or too late, whichever is first, and told exactly once.
final class HTTPExchange: Sendable {
    /// The body and its head, or why there are none.
    typealias Answer = Result<(Data, URLResponse), URLError>

    private struct State {
        var hasEnded = false
        var completion: (@Sendable (Answer) -> Void)?
        var task: URLSessionTask?
        var timer: (any DispatchSourceTimer)?
    }

    private let request: URLRequest
    private let body: Data?
    private let session: URLSession
    private let redirects: RedirectPolicy
    private let state = Locked(State())

    /// Makes an exchange that has not begun; see `HTTPSession.data(for:uploading:redirects:deadline:)` for the parameters.
    init(of request: URLRequest, uploading body: Data? = nil, in session: HTTPSession, redirects: RedirectPolicy = .follow()) {
        self.request = request
        self.body = body
        self.session = session.session
        self.redirects = redirects
    }

    /// Whether its completion was called, or is about to be.
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Sends the request, once; sends nothing where the exchange was canceled before.
    ///
    /// - Parameters:
    ///   - deadline: The longest it may take from now; nil for no limit but the session's own.
    ///   - completion: Called once, on the session's delegate queue, the thread that cancels, or the deadline's queue. It must not block.
    func start(deadline: Duration? = nil, completion: @escaping @Sendable (Answer) -> Void) {
        let isCanceled = state.withLock { state in
            if !state.hasEnded { state.completion = completion }
            return state.hasEnded
        }
        if isCanceled { return completion(.failure(URLError(.cancelled))) }

        // Made without the lock held: to make a task waits for URLSession's queue, and `cancel()` must never wait for that.
        let task = makeTask()
        let timer = deadline.map(makeTimer)
        let isWanted = state.withLock { state in
            if !state.hasEnded { (state.task, state.timer) = (task, timer) }
            return !state.hasEnded
        }
        timer?.activate()
        if isWanted {
            task.resume()
        } else {
            timer?.cancel()
            cancelLater(task)
        }
    }

    /// Ends the exchange with `.cancelled`, unless it has ended; never waits.
    func cancel() { end(.failure(URLError(.cancelled)), cancelsTask: true) }

    private func makeTask() -> URLSessionTask {
        let completion: @Sendable (Data?, URLResponse?, (any Error)?) -> Void = { [self] data, response, error in
            if let data, let response, error == nil {
                end(.success((data, response)))
            } else if let response = declinedChallenge(error) {
                end(.success((Data(), response)))
            } else {
                end(.failure(error.map(URLError.init(wrapping:)) ?? URLError(.unknown)))
            }
        }
        let task: URLSessionTask =
            if let body {
                session.uploadTask(with: request, from: body, completionHandler: completion)
            } else {
                session.dataTask(with: request, completionHandler: completion)
            }
        task.delegate = RedirectDelegate(redirects, of: request, hasEnded: { [weak self] in self?.hasEnded ?? true })
        return task
    }

    /// The 401 of a task that `ChallengeDecliner` canceled; nil for every other end.
    private func declinedChallenge(_ error: (any Error)?) -> URLResponse? {
        guard (error as? URLError)?.code == .cancelled, let response = state.withLock({ $0.task })?.response else { return nil }
        return response.status == 401 ? response : nil
    }

    private func makeTimer(_ deadline: Duration) -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(queue: .global())
        timer.schedule(deadline: .now() + deadline.timeInterval)
        timer.setEventHandler { [weak self] in self?.end(.failure(URLError(.timedOut)), cancelsTask: true) }
        return timer
    }

    private func end(_ answer: Answer, cancelsTask: Bool = false) {
        let last: State? = state.withLock { state in
            if state.hasEnded { return nil }
            defer { state = State(hasEnded: true) }
            return state
        }
        guard let last else { return }
        last.timer?.cancel()
        last.completion?(answer)
        if cancelsTask, let task = last.task { cancelLater(task) }
    }

    /// `URLSessionTask.cancel()` waits for URLSession's queue in swift-corelibs-foundation, which may be about to wait for the task that is
    /// being canceled: a deadlock. On the delegate queue, where completions run too, nobody waits for anybody.
    private func cancelLater(_ task: URLSessionTask) { session.delegateQueue.addOperation { task.cancel() } }
}

extension URLError {
    /// The error itself where it is one of URLSession's, else an unknown one with it underneath.
    fileprivate init(wrapping error: any Error) {
        self = error as? URLError ?? URLError(.unknown, userInfo: [NSUnderlyingErrorKey: error])
    }
}

extension Duration {
    /// In seconds, as Foundation and Dispatch take it.
    var timeInterval: Double { self / .seconds(1) }
}
