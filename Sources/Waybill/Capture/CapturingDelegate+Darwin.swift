#if !canImport(FoundationNetworking)
public import Foundation

// Methods are optional here, and a delegate may implement some without declaring their protocol. So calls use
// selectors, never casts. The Objective-C runtime forwards methods that this class does not implement.
//
// The session does not call a method here if the task's own delegate implements it. A task with a completion handler
// or `await` gets no response, data or completion.
extension CapturingDelegate: URLSessionDataDelegate, URLSessionDownloadDelegate, URLSessionWebSocketDelegate {
    @TaskLocal static var isMakingTask = false

    // Reports exactly the methods of this class and of the delegate.
    public override func responds(to selector: Selector!) -> Bool {
        super.responds(to: selector) || (delegate?.responds(to: selector) ?? false)
    }

    public override func forwardingTarget(for selector: Selector!) -> Any? {
        delegate?.responds(to: selector) == true ? delegate : super.forwardingTarget(for: selector)
    }

    private var inner: AnyObject? { delegate }

    public func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
        // Called on the thread that makes the task, before that call returns, with its transaction as the current one.
        if !Self.isMakingTask { _ = openedExchange(of: task) }
        inner?.urlSession?(session, didCreateTask: task)
    }

    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        redirect(session, task, response, to: request, asking: inner, completionHandler)
    }

    fileprivate func redirect(
        _ session: URLSession, _ task: URLSessionTask, _ response: HTTPURLResponse, to request: URLRequest,
        asking inner: AnyObject?, _ completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        let clean = withoutField(request, of: task)
        let answer = noting(response, of: task, completionHandler)
        let asked: Void? = inner?.urlSession?(
            session, task: task, willPerformHTTPRedirection: response, newRequest: clean, completionHandler: answer)
        if asked == nil { answer(clean) }
    }

    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        sent(bytesSent, upTo: totalBytesSent, by: task)
        inner?.urlSession?(
            session, task: task, didSendBodyData: bytesSent, totalBytesSent: totalBytesSent,
            totalBytesExpectedToSend: totalBytesExpectedToSend)
    }

    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        responded(response, to: dataTask)
        let asked: Void? = inner?.urlSession?(
            session, dataTask: dataTask, didReceive: response, completionHandler: completionHandler)
        if asked == nil { completionHandler(.allow) }
    }

    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask
    ) {
        hand(over: dataTask, to: downloadTask)
        inner?.urlSession?(session, dataTask: dataTask, didBecome: downloadTask)
    }

    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask
    ) {
        hand(over: dataTask, to: streamTask)
        inner?.urlSession?(session, dataTask: dataTask, didBecome: streamTask)
    }

    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        exchange(of: dataTask)?.received(data)
        inner?.urlSession?(session, dataTask: dataTask, didReceive: data)
    }

    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) {
        exchange(of: downloadTask)?.received(byteCount: bytesWritten)
        inner?.urlSession?(
            session, downloadTask: downloadTask, didWriteData: bytesWritten, totalBytesWritten: totalBytesWritten,
            totalBytesExpectedToWrite: totalBytesExpectedToWrite)
    }

    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        inner?.urlSession?(session, downloadTask: downloadTask, didFinishDownloadingTo: location)
    }

    public func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
    ) {
        responded(webSocketTask.response, to: webSocketTask)
        inner?.urlSession?(session, webSocketTask: webSocketTask, didOpenWithProtocol: `protocol`)
    }

    public func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        exchange(of: task)?.mark("waits for connectivity")
        inner?.urlSession?(session, taskIsWaitingForConnectivity: task)
    }

    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        if let exchange = exchange(of: task) {
            if let measured = TransferMeasurements(metrics) {
                exchange.measured(measured)
                // A handler's response has come past this delegate.
                exchange.measured(
                    receivedByteCount: measured.receivedByteCount,
                    firstByteAgeMicroseconds: measured.firstByteAgeMicroseconds)
            }
            // This is the last call for a task with a completion handler.
            if task.state == .completed { ended(task, task.error) }
        }
        inner?.urlSession?(session, task: task, didFinishCollecting: metrics)
    }

    public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        if exchange(of: task) != nil { ended(task, error) }
        inner?.urlSession?(session, task: task, didCompleteWithError: error)
    }
}

extension CapturingDelegate {
    /// Puts itself in front of the redirects of a task's own delegate. Call it before the task is resumed.
    func seeRedirects(of task: URLSessionTask) {
        guard hasField(task.originalRequest), let delegate = task.delegate, !(delegate is RedirectGuard),
            Self.decidesRedirects(delegate)
        else { return }
        task.delegate = RedirectGuard(delegate, for: self)
    }

    private static func decidesRedirects(_ delegate: any URLSessionTaskDelegate) -> Bool {
        delegate.responds(
            to: #selector(
                CapturingDelegate.urlSession(_:task:willPerformHTTPRedirection:newRequest:completionHandler:)))
    }

    /// Whether the task's own delegate gets one of the calls that end an exchange.
    fileprivate static func takesEnd(_ delegate: any URLSessionTaskDelegate) -> Bool {
        let ends = [
            #selector(CapturingDelegate.urlSession(_:task:didFinishCollecting:)),
            #selector(CapturingDelegate.urlSession(_:task:didCompleteWithError:)),
        ]
        return ends.contains { delegate.responds(to: $0) }
    }

    fileprivate func began(_ task: URLSessionTask) {
        guard hasField(task.originalRequest), let delegate = task.delegate, !(delegate is RedirectGuard),
            Self.decidesRedirects(delegate)
        else { return }
        tell(
            "A task's own delegate decides about redirects, so Waybill cannot remove its header field from a redirect to "
                + "another origin. Set the task's delegate in the closure of `task(for:in:make:)`.")
    }

    /// Ends the exchange of a task whose own delegate gets the calls that would end it.
    fileprivate func endedUnseen(_ task: URLSessionTask) {
        guard let exchange = exchange(of: task) else { return }
        exchange.measured(receivedByteCount: task.countOfBytesReceived, firstByteAgeMicroseconds: nil)
        ended(task, task.error ?? (task.response == nil ? URLError(.unknown) : nil))
    }
}

/// Observes a task while it lives. The session forgets a task's own delegate when the task completes.
final class TaskWatch: Sendable {
    private let observations = Locked<[NSKeyValueObservation]>([])
    private let isEndHidden = Locked(false)

    init(_ task: URLSessionTask, for capturing: CapturingDelegate) {
        var watched = [
            task.observe(\.state) { [weak self, weak capturing] task, _ in self?.changed(task, capturing) }
        ]
        if capturing.hasField(task.originalRequest) {
            // A task that was resumed takes no other delegate.
            let delegate = task.observe(\.delegate) { [weak capturing] task, _ in
                if task.state == .suspended { capturing?.seeRedirects(of: task) }
            }
            watched.append(delegate)
        }
        observations.withLock { $0 = watched }
    }

    private func changed(_ task: URLSessionTask, _ capturing: CapturingDelegate?) {
        if let delegate = task.delegate, CapturingDelegate.takesEnd(delegate) { isEndHidden.withLock { $0 = true } }
        if task.state == .running { capturing?.began(task) }
        if task.state == .completed, isEndHidden.withLock({ $0 }) { capturing?.endedUnseen(task) }
    }
}

/// Stands in front of a task's own delegate, and removes the header field from redirects to another origin.
private final class RedirectGuard: NSObject, URLSessionTaskDelegate {
    private let delegate: any URLSessionTaskDelegate
    private let capturing: CapturingDelegate

    init(_ delegate: any URLSessionTaskDelegate, for capturing: CapturingDelegate) {
        (self.delegate, self.capturing) = (delegate, capturing)
    }

    override func responds(to selector: Selector!) -> Bool {
        super.responds(to: selector) || delegate.responds(to: selector)
    }

    override func forwardingTarget(for selector: Selector!) -> Any? {
        delegate.responds(to: selector) ? delegate : super.forwardingTarget(for: selector)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        capturing.redirect(session, task, response, to: request, asking: delegate, completionHandler)
    }
}
#endif
