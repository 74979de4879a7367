public import Foundation
import WaybillCore

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A delegate that records the exchanges of a `URLSession`'s tasks and forwards all calls to your delegate.
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
/// On Linux, use ``CapturedSession`` for tasks with a completion handler and for the async methods. Rules don't apply.
public final class CapturingDelegate: NSObject, URLSessionDelegate, Sendable {
    /// Your delegate; `nil` without one. (`session.delegate` is the capturing one.)
    public let delegate: (any URLSessionDelegate)?
    private let sources: SourceRegistry
    private let running = Locked<[ObjectIdentifier: Running]>([:])

    /// The task is retained, since another one could reuse its identifier.
    private struct Running {
        let task: URLSessionTask
        let exchange: ExchangeRecorder
        #if !canImport(FoundationNetworking)
        let watch: TaskWatch
        #endif
    }

    init(_ delegate: (any URLSessionDelegate)?, sources: SourceRegistry) {
        self.delegate = delegate
        self.sources = sources
    }

    /// Creates a task of the current transaction, with the header field if its host is a correlated host.
    ///
    /// `make` creates the task of the request that it receives, without a completion handler, in a session with this
    /// delegate. Other tasks are recorded, too. On Linux, their record begins with the response, without the header
    /// field, and outside any transaction unless the request already has the field.
    public func task<Task: URLSessionTask>(
        for request: URLRequest, in transaction: (any TransactionHandle)? = nil, make: (URLRequest) -> Task
    ) -> Task {
        guard let told = ExchangeRequest(request) else { return make(request) }
        let exchange = sources.openExchange(told, part: transaction.part)
        var request = request
        for (name, value) in exchange.headers { request.setValue(value, forHTTPHeaderField: name) }
        #if canImport(FoundationNetworking)
        let task = make(request)
        #else
        let task = Self.$isMakingTask.withValue(true) { make(request) }
        seeRedirects(of: task)
        #endif
        note(exchange, of: task)
        return task
    }
}

extension CapturingDelegate {
    private func note(_ exchange: ExchangeRecorder, of task: URLSessionTask) {
        #if canImport(FoundationNetworking)
        let entry = Running(task: task, exchange: exchange)
        #else
        let entry = Running(task: task, exchange: exchange, watch: TaskWatch(task, for: self))
        #endif
        let last = running.withLock { $0.updateValue(entry, forKey: ObjectIdentifier(task)) }
        withExtendedLifetime(last) {}
    }

    func exchange(of task: URLSessionTask) -> ExchangeRecorder? {
        running.withLock { $0[ObjectIdentifier(task)]?.exchange }
    }

    func openedExchange(of task: URLSessionTask) -> ExchangeRecorder {
        if let exchange = exchange(of: task) { return exchange }
        let exchange = task.originalRequest.flatMap(ExchangeRequest.init).map {
            sources.observeExchange($0, of: TransactionScope.innermost)
        }
        note(exchange ?? ExchangeRecorder(), of: task)
        return exchange ?? ExchangeRecorder()
    }

    func hand(over task: URLSessionTask, to successor: URLSessionTask) {
        guard let last = running.withLock({ $0.removeValue(forKey: ObjectIdentifier(task)) }) else { return }
        note(last.exchange, of: successor)
    }

    func sent(_ byteCount: Int64, upTo end: Int64, by task: URLSessionTask) {
        let exchange = openedExchange(of: task)
        // An upload task has a separate body, and the request's own body is not sent.
        guard !(task is URLSessionUploadTask), let body = task.originalRequest?.httpBody, end <= body.count,
            byteCount <= end
        else {
            return exchange.sent(byteCount: byteCount)
        }
        exchange.sent(body.dropFirst(Int(end - byteCount)).prefix(Int(byteCount)))
    }

    func responded(_ response: URLResponse?, to task: URLSessionTask) {
        let exchange = openedExchange(of: task)
        if let response = ExchangeResponse(response) { exchange.responded(response) }
    }

    func withoutField(_ request: URLRequest, of task: URLSessionTask) -> URLRequest {
        guard let first = task.originalRequest else { return request }
        return RedirectPolicy.follow(exchange(of: task), of: sources).request(after: request, of: first) ?? request
    }

    /// Whether a request has a header field that it would lose on the way to another origin.
    func hasField(_ request: URLRequest?) -> Bool {
        let names = sources.settings?.options.header.fieldNames ?? []
        return names.contains { request?.value(forHTTPHeaderField: $0) != nil }
    }

    func tell(_ problem: String) { sources.diagnostics.once(problem) }

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

    func ended(_ task: URLSessionTask, _ error: (any Error)?) {
        let exchange = openedExchange(of: task)
        let last = running.withLock { $0.removeValue(forKey: ObjectIdentifier(task)) }
        defer { withExtendedLifetime(last) {} }
        if let response = ExchangeResponse(task.response) { exchange.responded(response, isTimed: false) }
        if let error { return exchange.fail(error) }
        // Empty bodies are not reported.
        if task.countOfBytesSent == 0 { exchange.expectToSend(byteCount: 0) }
        exchange.received(byteCount: 0)
        exchange.finish()
    }
}
