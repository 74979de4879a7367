#if canImport(FoundationNetworking)
import Foundation
import FoundationNetworking

/// Stands between the native protocol and its client, records what passes, and passes everything on.
///
/// The native object stays the one that is named: the client looks into it. Called on the task's queue.
final class ObservingClient: NSObject, URLProtocolClient, Sendable {
    private let client: any URLProtocolClient
    private let exchange: ExchangeRecorder

    init(_ client: any URLProtocolClient, _ exchange: ExchangeRecorder) {
        self.client = client
        self.exchange = exchange
    }

    func urlProtocol(
        _ protocol: URLProtocol, didReceive response: URLResponse, cacheStoragePolicy policy: URLCache.StoragePolicy
    ) {
        if let response = ExchangeResponse(response) { exchange.responded(response) }
        client.urlProtocol(`protocol`, didReceive: response, cacheStoragePolicy: policy)
    }

    func urlProtocol(_ protocol: URLProtocol, didLoad data: Data) {
        exchange.received(data)
        client.urlProtocol(`protocol`, didLoad: data)
    }

    func urlProtocolDidFinishLoading(_ protocol: URLProtocol) {
        note(`protocol`.task)
        exchange.finish()
        client.urlProtocolDidFinishLoading(`protocol`)
    }

    func urlProtocol(_ protocol: URLProtocol, didFailWithError error: any Error) {
        note(`protocol`.task)
        exchange.fail(error)
        client.urlProtocol(`protocol`, didFailWithError: error)
    }

    func urlProtocol(_ protocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse) {
        client.urlProtocol(`protocol`, wasRedirectedTo: request, redirectResponse: redirectResponse)
    }

    func urlProtocol(_ protocol: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse) {
        client.urlProtocol(`protocol`, cachedResponseIsValid: cachedResponse)
    }

    func urlProtocol(_ protocol: URLProtocol, didReceive challenge: URLAuthenticationChallenge) {
        client.urlProtocol(`protocol`, didReceive: challenge)
    }

    func urlProtocol(_ protocol: URLProtocol, didCancel challenge: URLAuthenticationChallenge) {
        client.urlProtocol(`protocol`, didCancel: challenge)
    }

    /// What only the task can tell at the end: bodies of delegate and download tasks do not come by here.
    private func note(_ task: URLSessionTask?) {
        guard exchange.isRecorded, let task else { return }
        if let response = ExchangeResponse(task.response) { exchange.responded(response, isTimed: false) }
        if task.countOfBytesExpectedToSend > 0 { exchange.sends(byteCount: task.countOfBytesExpectedToSend) }
        if task is URLSessionDownloadTask, task.countOfBytesReceived > 0 {
            exchange.received(byteCount: task.countOfBytesReceived)
        }
    }
}
#endif
