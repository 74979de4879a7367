import Foundation
import WaybillCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The delegate of a session: passes on what it is told to the transport of the task.
final class SessionDelegate: NSObject, URLSessionDataDelegate, Sendable {
    private let transports = Locked<[Int: TaskTransport]>([:])

    /// Tells a transport what happens to a task, which must not have been resumed yet.
    func add(_ transport: TaskTransport, for task: URLSessionTask) {
        transports.withLock { $0[task.taskIdentifier] = transport }
    }

    private func transport(of task: URLSessionTask) -> TaskTransport? {
        transports.withLock { $0[task.taskIdentifier] }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData byteCount: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) { transport(of: task)?.sent(byteCount: byteCount, expected: totalBytesExpectedToSend) }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping (URLRequest?) -> Void
    ) { transport(of: task)?.redirected(by: response, to: request, answer: completionHandler) }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        transport(of: dataTask)?.responded(response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transport(of: dataTask)?.received(data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        transports.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.ended(error)
    }

    #if canImport(FoundationNetworking)
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) { transport(of: task)?.declineChallenge { completionHandler(.cancelAuthenticationChallenge, nil) } }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        completionHandler(nil)
        transport(of: task)?.lose()
    }
    #else
    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        if let measured = TransferMeasurements(metrics) { transport(of: task)?.tell(measured) }
    }
    #endif
}
