import Foundation
import WaybillCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The delegate of a session: passes on what it is told to the carrier of the task.
final class TaskHub: NSObject, URLSessionDataDelegate, Sendable {
    private let carriers = Locked<[Int: TaskCarrier]>([:])

    /// Tells a carrier what happens to a task, which must not have been resumed yet.
    func add(_ carrier: TaskCarrier, for task: URLSessionTask) { carriers.withLock { $0[task.taskIdentifier] = carrier } }

    private func carrier(of task: URLSessionTask) -> TaskCarrier? { carriers.withLock { $0[task.taskIdentifier] } }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData byteCount: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) { carrier(of: task)?.sent(byteCount: byteCount, expected: totalBytesExpectedToSend) }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping (URLRequest?) -> Void
    ) { carrier(of: task)?.redirected(by: response, to: request, answer: completionHandler) }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        carrier(of: dataTask)?.responded(response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) { carrier(of: dataTask)?.received(data) }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        carriers.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.ended(error)
    }

    #if canImport(FoundationNetworking)
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) { carrier(of: task)?.declineChallenge { completionHandler(.cancelAuthenticationChallenge, nil) } }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        completionHandler(nil)
        carrier(of: task)?.lose()
    }
    #else
    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        if let measured = TransferMeasurements(metrics) { carrier(of: task)?.tell(measured) }
    }
    #endif
}
