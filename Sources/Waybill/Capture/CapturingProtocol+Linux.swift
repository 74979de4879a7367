#if canImport(FoundationNetworking)
import Foundation
import FoundationNetworking
import WaybillAtomics
import WaybillCore

/// Runs the native HTTP protocol of swift-corelibs-foundation with a recording client. No request is sent twice.
///
/// It depends on internals: `protocolClasses` include the native class, a session's `configuration` is the live one,
/// and a task has its `session`. All sessions share one serial queue.
final class CapturingProtocol: URLProtocol {
    private let part: OpenPart?
    private var exchange = ExchangeRecorder()
    private var native: URLProtocol?

    override class func canInit(with request: URLRequest) -> Bool {
        guard ObservedSessions.runningCount.load(ordering: .relaxed) > 0,
            NativeProtocol.class?.canInit(with: request) == true
        else {
            return false
        }
        // This runs on the thread that resumes the task; with a cache, `init` does not.
        Callers.note(TransactionScope.innermost, of: request)
        return true
    }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    required init(request: URLRequest, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?) {
        let noted = Callers.take(request)
        part = TransactionScope.innermost ?? noted
        super.init(request: request, cachedResponse: cachedResponse, client: client)
    }

    required convenience init(
        task: URLSessionTask, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?
    ) {
        self.init(
            request: task.currentRequest ?? URLRequest(url: URL(filePath: "/")), cachedResponse: cachedResponse,
            client: client)
        self.task = task
    }

    /// The system calls it for every `resume()`.
    override func startLoading() {
        if let native { return native.startLoading() }
        guard let task, let client, let nativeClass = NativeProtocol.class else { return }
        let session = NativeProtocol.session(of: task)
        exchange = openExchange(in: session) ?? exchange
        let native = nativeClass.init(
            task: task, cachedResponse: cachedResponse, client: ObservingClient(client, exchange))
        self.native = native
        // Without a delegate, a redirect is followed before the call returns, and it would carry the field to any host.
        if let session, session.delegate is any URLSessionTaskDelegate, !exchange.headers.isEmpty {
            session.configuration.adding(exchange.headers) { native.startLoading() }
        } else {
            native.startLoading()
        }
        // An upload task has a separate body, which it does not expose.
        if let body = task.originalRequest?.httpBody, !(task is URLSessionUploadTask) { exchange.sent(body) }
    }

    private func openExchange(in session: URLSession?) -> ExchangeRecorder? {
        guard let session else {
            for capture in ObservedSessions.captures { capture.give(up: NativeProtocol.hidesSessions) }
            return nil
        }
        return ObservedSessions.capture(of: session.configuration)?.openExchange(task?.originalRequest, of: part)
    }

    override func stopLoading() {
        native?.stopLoading()
        if let task, task.state != .suspended { exchange.fail(task.error ?? URLError(.cancelled)) }
    }
}

extension CapturingProtocol {
    static func start(_ capture: PassiveCapture) {
        ObservedSessions.runningCount.add(1)
        include(.shared, in: capture)
    }

    /// The class stays in the configurations, which are read without a lock, but it now declines requests.
    static func stop() { ObservedSessions.runningCount.subtract(1) }

    static func include(_ session: URLSession, in capture: PassiveCapture) {
        guard NativeProtocol.class != nil else { return capture.give(up: NativeProtocol.isMissing) }
        ObservedSessions.note(session.configuration, as: capture)
        let classes = session.configuration.protocolClasses ?? []
        guard !classes.contains(where: { $0 == Self.self }) else { return }
        // Insert it just before the native class, or last, to let the caller's classes go first as before.
        let index = classes.firstIndex { $0 == NativeProtocol.class } ?? classes.endIndex
        session.configuration.protocolClasses = classes[..<index] + [Self.self] + classes[index...]
    }
}
#endif
