import Foundation
import WaybillCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The delegate of a session: passes on what it is told to the transport of the task.
final class SessionDelegate: NSObject, URLSessionDataDelegate, URLSessionWebSocketDelegate, Sendable {
    private let transports = Locked<[Int: TaskTransport]>([:])
    private let sockets = Locked<[Int: TaskWebSocket]>([:])

    /// Tells a transport what happens to a task, which must not have been resumed yet.
    func add(_ transport: TaskTransport, for task: URLSessionTask) {
        transports.withLock { $0[task.taskIdentifier] = transport }
    }

    /// Tells what carries a WebSocket what happens to its task, which must not have been resumed yet.
    func add(_ socket: TaskWebSocket, for task: URLSessionTask) {
        sockets.withLock { $0[task.taskIdentifier] = socket }
    }

    private func socket(of task: URLSessionTask) -> TaskWebSocket? { sockets.withLock { $0[task.taskIdentifier] } }

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
    ) {
        socket(of: task)?.redirected(to: request, answer: completionHandler)
        transport(of: task)?.redirected(by: response, to: request, answer: completionHandler)
    }

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
        sockets.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.ended(error, response: task.response)
    }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
    ) { socket(of: webSocketTask)?.opened(webSocketTask.response) }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
    ) { socket(of: webSocketTask)?.closed(closeCode.rawValue, reason: reason) }

    #if canImport(FoundationNetworking)
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let decline = { @Sendable in completionHandler(.cancelAuthenticationChallenge, nil) }
        socket(of: task)?.later(decline)
        transport(of: task)?.declineChallenge(decline)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        completionHandler(nil)
        transport(of: task)?.lose()
    }
    #else
    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        guard let measured = TransferMeasurements(metrics) else { return }
        transport(of: task)?.tell(measured)
        socket(of: task)?.tell(measured)
    }
    #endif
}
