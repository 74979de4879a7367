#if canImport(FoundationNetworking)
public import Foundation
public import FoundationNetworking

// Methods are not optional here. A call is forwarded if the delegate declares its protocol, or else gets the default.

extension CapturingDelegate {
    public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        delegate?.urlSession(session, didBecomeInvalidWithError: error)
    }

    public func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let delegate else { return completionHandler(.performDefaultHandling, nil) }
        delegate.urlSession(session, didReceive: challenge, completionHandler: completionHandler)
    }
}

extension CapturingDelegate: URLSessionTaskDelegate {
    private var taskDelegate: (any URLSessionTaskDelegate)? { delegate as? any URLSessionTaskDelegate }

    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        let clean = withoutField(request, of: task)
        let answer = noting(response, of: task, completionHandler)
        guard let taskDelegate else { return answer(clean) }
        taskDelegate.urlSession(
            session, task: task, willPerformHTTPRedirection: response, newRequest: clean, completionHandler: answer)
    }

    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let taskDelegate else { return completionHandler(.performDefaultHandling, nil) }
        taskDelegate.urlSession(session, task: task, didReceive: challenge, completionHandler: completionHandler)
    }

    public func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        guard let taskDelegate else { return completionHandler(nil) }
        taskDelegate.urlSession(session, task: task, needNewBodyStream: completionHandler)
    }

    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        sent(bytesSent, upTo: totalBytesSent, by: task)
        taskDelegate?.urlSession(
            session, task: task, didSendBodyData: bytesSent, totalBytesSent: totalBytesSent,
            totalBytesExpectedToSend: totalBytesExpectedToSend)
    }

    public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        ended(task, error)
        taskDelegate?.urlSession(session, task: task, didCompleteWithError: error)
    }

    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {
        guard let taskDelegate else { return completionHandler(.continueLoading, nil) }
        taskDelegate.urlSession(
            session, task: task, willBeginDelayedRequest: request, completionHandler: completionHandler)
    }

    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        taskDelegate?.urlSession(session, task: task, didFinishCollecting: metrics)
    }
}

extension CapturingDelegate: URLSessionDataDelegate {
    private var dataDelegate: (any URLSessionDataDelegate)? { delegate as? any URLSessionDataDelegate }

    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        responded(response, to: dataTask)
        guard let dataDelegate else { return completionHandler(.allow) }
        dataDelegate.urlSession(session, dataTask: dataTask, didReceive: response, completionHandler: completionHandler)
    }

    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask
    ) {
        hand(over: dataTask, to: downloadTask)
        dataDelegate?.urlSession(session, dataTask: dataTask, didBecome: downloadTask)
    }

    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask
    ) {
        hand(over: dataTask, to: streamTask)
        dataDelegate?.urlSession(session, dataTask: dataTask, didBecome: streamTask)
    }

    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        openedExchange(of: dataTask).received(data)
        dataDelegate?.urlSession(session, dataTask: dataTask, didReceive: data)
    }

    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        guard let dataDelegate else { return completionHandler(proposedResponse) }
        dataDelegate.urlSession(
            session, dataTask: dataTask, willCacheResponse: proposedResponse, completionHandler: completionHandler)
    }
}

extension CapturingDelegate: URLSessionDownloadDelegate {
    private var downloadDelegate: (any URLSessionDownloadDelegate)? { delegate as? any URLSessionDownloadDelegate }

    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        downloadDelegate?.urlSession(session, downloadTask: downloadTask, didFinishDownloadingTo: location)
    }

    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) {
        openedExchange(of: downloadTask).received(byteCount: bytesWritten)
        downloadDelegate?.urlSession(
            session, downloadTask: downloadTask, didWriteData: bytesWritten, totalBytesWritten: totalBytesWritten,
            totalBytesExpectedToWrite: totalBytesExpectedToWrite)
    }

    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        downloadDelegate?.urlSession(
            session, downloadTask: downloadTask, didResumeAtOffset: fileOffset, expectedTotalBytes: expectedTotalBytes)
    }
}

extension CapturingDelegate: URLSessionStreamDelegate {
    private var streamDelegate: (any URLSessionStreamDelegate)? { delegate as? any URLSessionStreamDelegate }

    public func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask) {
        streamDelegate?.urlSession(session, readClosedFor: streamTask)
    }

    public func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask) {
        streamDelegate?.urlSession(session, writeClosedFor: streamTask)
    }

    public func urlSession(_ session: URLSession, betterRouteDiscoveredFor streamTask: URLSessionStreamTask) {
        streamDelegate?.urlSession(session, betterRouteDiscoveredFor: streamTask)
    }

    public func urlSession(
        _ session: URLSession, streamTask: URLSessionStreamTask, didBecome inputStream: InputStream,
        outputStream: OutputStream
    ) {
        streamDelegate?.urlSession(session, streamTask: streamTask, didBecome: inputStream, outputStream: outputStream)
    }
}

extension CapturingDelegate: URLSessionWebSocketDelegate {
    private var webSocketDelegate: (any URLSessionWebSocketDelegate)? { delegate as? any URLSessionWebSocketDelegate }

    public func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
    ) {
        responded(webSocketTask.response, to: webSocketTask)
        webSocketDelegate?.urlSession(session, webSocketTask: webSocketTask, didOpenWithProtocol: `protocol`)
    }

    public func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode,
        reason: Data?
    ) {
        webSocketDelegate?.urlSession(session, webSocketTask: webSocketTask, didCloseWith: closeCode, reason: reason)
    }
}
#endif
