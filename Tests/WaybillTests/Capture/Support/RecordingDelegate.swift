#if canImport(FoundationNetworking)
import Foundation
import FoundationNetworking
import WaybillCore

/// The calls of a delegate, in order.
// `@unchecked` is right because `notes` has a lock. Subclasses must not add state.
class DelegateNotes: NSObject, @unchecked Sendable {
    private let notes = Locked<[String]>([])

    /// The names of the called methods, each with its protocol.
    var called: [String] { notes.withLock { $0 } }

    func note(_ protocol: String, _ method: String) { notes.withLock { $0.append("\(`protocol`).\(method)") } }
}

/// Implements every method that a session's delegate can have, with answers that are never defaults.
final class RecordingDelegate: DelegateNotes, URLSessionDataDelegate, URLSessionDownloadDelegate,
    URLSessionStreamDelegate,
    URLSessionWebSocketDelegate, @unchecked Sendable
{
    nonisolated(unsafe) static let stream = InputStream(data: Data("answer".utf8))  // never opened
    static let request = URLRequest(url: URL(filePath: "/answer"))
    static let cached = CachedURLResponse(
        response: URLResponse(
            url: URL(filePath: "/answer"), mimeType: nil, expectedContentLength: 0, textEncodingName: nil), data: Data()
    )

    // URLSessionDelegate

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        note("URLSessionDelegate", #function)
    }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        note("URLSessionDelegate", #function)
        completionHandler(.rejectProtectionSpace, nil)
    }

    // URLSessionTaskDelegate

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        note("URLSessionTaskDelegate", #function)
        completionHandler(Self.request)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        note("URLSessionTaskDelegate", #function)
        completionHandler(.cancelAuthenticationChallenge, nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        note("URLSessionTaskDelegate", #function)
        completionHandler(Self.stream)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) { note("URLSessionTaskDelegate", #function) }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        note("URLSessionTaskDelegate", #function)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {
        note("URLSessionTaskDelegate", #function)
        completionHandler(.cancel, Self.request)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        note("URLSessionTaskDelegate", #function)
    }

    // URLSessionDataDelegate

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        note("URLSessionDataDelegate", #function)
        completionHandler(.cancel)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask)
    {
        note("URLSessionDataDelegate", #function)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask) {
        note("URLSessionDataDelegate", #function)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        note("URLSessionDataDelegate", #function)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        note("URLSessionDataDelegate", #function)
        completionHandler(Self.cached)
    }

    // URLSessionDownloadDelegate

    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
        note("URLSessionDownloadDelegate", #function)
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) { note("URLSessionDownloadDelegate", #function) }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) { note("URLSessionDownloadDelegate", #function) }

    // URLSessionStreamDelegate

    func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask) {
        note("URLSessionStreamDelegate", #function)
    }

    func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask) {
        note("URLSessionStreamDelegate", #function)
    }

    func urlSession(_ session: URLSession, betterRouteDiscoveredFor streamTask: URLSessionStreamTask) {
        note("URLSessionStreamDelegate", #function)
    }

    func urlSession(
        _ session: URLSession, streamTask: URLSessionStreamTask, didBecome inputStream: InputStream,
        outputStream: OutputStream
    ) { note("URLSessionStreamDelegate", #function) }

    // URLSessionWebSocketDelegate

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
    ) {
        note("URLSessionWebSocketDelegate", #function)
    }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode,
        reason: Data?
    ) { note("URLSessionWebSocketDelegate", #function) }
}
#endif
