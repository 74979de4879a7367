public import Foundation
import WaybillCore

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Stands between a `URLSession` and its delegate, and records the exchanges of its tasks: for code that owns its
/// delegate.
///
/// Everything that the session says is passed on, and everything that the delegate answers is passed back. Where there
/// is no delegate, or it does not have that method, the session gets the answer it would have had without one.
///
/// ## Usage
///
/// ```swift
/// let capturing = transactions.capturing(delegate)
/// let session = URLSession(configuration: .default, delegate: capturing, delegateQueue: nil)
/// let task = capturing.task(for: request) { session.dataTask(with: $0) }
/// task.resume()
/// ```
///
/// Tasks with a completion handler, and those behind the asynchronous methods, tell a session's delegate too little on
/// Linux: those are for ``CapturedSession``. Rules do not apply here, as it is not this object that sends.
public final class CapturingDelegate: NSObject, URLSessionDelegate, Sendable {
    /// Where everything is passed on to; nil: nowhere. (`session.delegate` is the capturing one.)
    public let delegate: (any URLSessionDelegate)?
    private let sources: SourceRegistry
    private let running = Locked<[ObjectIdentifier: Running]>([:])

    /// A task is kept until it ends, as its session does, so that no other one can take its identity.
    private struct Running {
        let task: URLSessionTask
        let exchange: ExchangeRecorder
    }

    init(_ delegate: (any URLSessionDelegate)?, sources: SourceRegistry) {
        self.delegate = delegate
        self.sources = sources
    }

    /// Makes a task of the current transaction: recorded as opened now, with the header field where its host is to have
    /// it.
    ///
    /// Tasks that are made without it are recorded as well, but on Linux from the first sign of the server on, without
    /// header field, and outside any transaction unless the request carries the field already.
    ///
    /// - Parameters:
    ///   - request: What to send.
    ///   - make: Makes the task of the request it is given, without a completion handler, in a session that this is the
    ///     delegate of.
    /// - Returns: What was made, not resumed. It must be resumed or canceled some time, as any task.
    public func task<Task: URLSessionTask>(for request: URLRequest, make: (URLRequest) -> Task) -> Task {
        task(for: request, of: TransactionScope.innermost, make)
    }

    /// As ``task(for:make:)``, for a transaction that is not the current one.
    public func task<Task: URLSessionTask, Event>(
        for request: URLRequest, in transaction: UseCaseTransaction<Event>, make: (URLRequest) -> Task
    ) -> Task {
        task(for: request, of: transaction.part, make)
    }

    private func task<Task: URLSessionTask>(for request: URLRequest, of part: OpenPart?, _ make: (URLRequest) -> Task)
        -> Task
    {
        guard let told = ExchangeRequest(request) else { return make(request) }
        let exchange = sources.openExchange(told, part: part)
        var request = request
        for (name, value) in exchange.headers { request.setValue(value, forHTTPHeaderField: name) }
        #if canImport(FoundationNetworking)
        let task = make(request)
        #else
        let task = Self.$isMakingTask.withValue(true) { make(request) }
        #endif
        note(exchange, of: task)
        return task
    }
}

// What both platforms' methods record.
extension CapturingDelegate {
    private func note(_ exchange: ExchangeRecorder, of task: URLSessionTask) {
        // What stood there is let go after the lock.
        let last = running.withLock {
            $0.updateValue(Running(task: task, exchange: exchange), forKey: ObjectIdentifier(task))
        }
        withExtendedLifetime(last) {}
    }

    /// The exchange of a task; nil where it is not known, or has ended.
    func exchange(of task: URLSessionTask) -> ExchangeRecorder? {
        running.withLock { $0[ObjectIdentifier(task)]?.exchange }
    }

    /// The exchange of a task, opened now where the task was made without us.
    func openedExchange(of task: URLSessionTask) -> ExchangeRecorder {
        if let exchange = exchange(of: task) { return exchange }
        let exchange = task.originalRequest.flatMap(ExchangeRequest.init).map {
            sources.observeExchange($0, of: TransactionScope.innermost)
        }
        note(exchange ?? ExchangeRecorder(), of: task)
        return exchange ?? ExchangeRecorder()
    }

    /// A data task goes on as another one.
    func hand(over task: URLSessionTask, to successor: URLSessionTask) {
        guard let last = running.withLock({ $0.removeValue(forKey: ObjectIdentifier(task)) }) else { return }
        note(last.exchange, of: successor)
    }

    /// Bytes of the request's body went out.
    func sent(_ byteCount: Int64, upTo end: Int64, by task: URLSessionTask) {
        let exchange = openedExchange(of: task)
        // An upload task has a body of its own, and the request's, if there is one, is not sent.
        guard !(task is URLSessionUploadTask), let body = task.originalRequest?.httpBody, end <= body.count,
            byteCount <= end
        else {
            return exchange.sent(byteCount: byteCount)
        }
        exchange.sent(body.dropFirst(Int(end - byteCount)).prefix(Int(byteCount)))
    }

    /// The head of the response is there.
    func responded(_ response: URLResponse?, to task: URLSessionTask) {
        let exchange = openedExchange(of: task)
        if let response = ExchangeResponse(response) { exchange.responded(response) }
    }

    /// A redirect without our header field, if it goes to another origin: the field was given for the first alone.
    func withoutField(_ request: URLRequest, of task: URLSessionTask) -> URLRequest {
        guard let first = task.originalRequest else { return request }
        return RedirectPolicy.follow(exchange(of: task), of: sources).request(after: request, of: first) ?? request
    }

    /// What to tell the session about a redirect, once it is decided what to do with it.
    func noting(
        _ response: HTTPURLResponse, of task: URLSessionTask, _ answer: @escaping @Sendable (URLRequest?) -> Void
    ) -> @Sendable (URLRequest?) -> Void {
        let (exchange, response) = (exchange(of: task), ExchangeResponse(response))
        return { [self] next in
            let next = next.map { withoutField($0, of: task) }
            if let url = next?.url, let response { exchange?.redirected(response, to: url) }
            answer(next)
        }
    }

    /// The task is over.
    func ended(_ task: URLSessionTask, _ error: (any Error)?) {
        let exchange = openedExchange(of: task)
        let last = running.withLock { $0.removeValue(forKey: ObjectIdentifier(task)) }
        defer { withExtendedLifetime(last) {} }
        if let response = ExchangeResponse(task.response) { exchange.responded(response, isTimed: false) }
        if let error { return exchange.fail(error) }
        // Empty bodies are not announced.
        if task.countOfBytesSent == 0 { exchange.sends(byteCount: 0) }
        exchange.received(byteCount: 0)
        exchange.finish()
    }
}
