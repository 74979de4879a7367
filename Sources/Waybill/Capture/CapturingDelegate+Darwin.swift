#if !canImport(FoundationNetworking)
public import Foundation

// Methods are optional here, and a delegate may implement some without declaring their protocol. So calls use
// selectors, never casts. The Objective-C runtime forwards methods that this class does not implement.
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

    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        if let exchange = exchange(of: task), let measured = TransferMeasurements(metrics) {
            exchange.measured(measured)
        }
        // This is the last call for a task with a completion handler.
        if task.state == .completed { ended(task, task.error) }
        inner?.urlSession?(session, task: task, didFinishCollecting: metrics)
    }

    public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        if exchange(of: task) != nil { ended(task, error) }
        inner?.urlSession?(session, task: task, didCompleteWithError: error)
    }
}
#endif
