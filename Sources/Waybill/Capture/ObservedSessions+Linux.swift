#if canImport(FoundationNetworking)
import Foundation
import FoundationNetworking
import WaybillAtomics
import WaybillCore

enum ObservedSessions {
    static let runningCount = Atomic(0)
    private static let entries = Locked<[ObjectIdentifier: Entry]>([:])

    private struct Entry {
        weak var configuration: URLSessionConfiguration?
        weak var capture: PassiveCapture?
    }

    static func note(_ configuration: URLSessionConfiguration, as capture: PassiveCapture) {
        entries.withLock { entries in
            entries = entries.filter { $0.value.configuration != nil && $0.value.capture != nil }
            entries[ObjectIdentifier(configuration)] = Entry(configuration: configuration, capture: capture)
        }
    }

    static func capture(of configuration: URLSessionConfiguration) -> PassiveCapture? {
        entries.withLock { entries in
            guard let entry = entries[ObjectIdentifier(configuration)], entry.configuration === configuration else {
                return nil
            }
            return entry.capture
        }
    }

    static var captures: [PassiveCapture] { entries.withLock { $0.values.compactMap(\.capture) } }
}

/// The transactions of resumed requests without a protocol object, which another thread makes if there is a cache.
///
/// If two transactions send the same request at once, neither gets it.
enum Callers {
    private struct Entry {
        var part: OpenPart?
        var count: Int
    }

    private static let waiting = Locked<[URLRequest: Entry]>([:])

    static func note(_ part: OpenPart?, of request: URLRequest) {
        // Release it after the lock: the last reference to a part closes it, which calls the app's hook.
        let before = waiting.withLock { waiting in
            let entry = waiting[request]
            waiting[request] = Entry(
                part: entry == nil || entry?.part === part ? part : nil, count: (entry?.count ?? 0) + 1)
            return entry
        }
        withExtendedLifetime(before) {}
    }

    static func take(_ request: URLRequest) -> OpenPart? {
        waiting.withLock { waiting in
            guard let entry = waiting[request] else { return nil }
            waiting[request] = entry.count > 1 ? Entry(part: entry.part, count: entry.count - 1) : nil
            return entry.part
        }
    }
}

/// Records the calls of the native protocol, and forwards them to the client, which inspects the native object.
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

    /// Records bodies of delegate and download tasks, which only the task knows at the end.
    private func note(_ task: URLSessionTask?) {
        guard exchange.isRecorded, let task else { return }
        if let response = ExchangeResponse(task.response) { exchange.responded(response, isTimed: false) }
        if task.countOfBytesExpectedToSend > 0 { exchange.expectToSend(byteCount: task.countOfBytesExpectedToSend) }
        if task is URLSessionDownloadTask, task.countOfBytesReceived > 0 {
            exchange.received(byteCount: task.countOfBytesReceived)
        }
    }
}

/// Internals of swift-corelibs-foundation that passive capture needs; `nil` if they differ.
enum NativeProtocol {
    static let `class` = find(in: URLSessionConfiguration.default.protocolClasses ?? [])

    static func find(in classes: [AnyClass]) -> URLProtocol.Type? {
        guard let url = URL(string: "http://127.0.0.1/") else { return nil }
        return classes.lazy.compactMap { $0 as? URLProtocol.Type }.first {
            String(reflecting: $0).hasPrefix("FoundationNetworking.") && $0.canInit(with: URLRequest(url: url))
        }
    }

    static let isMissing = WaybillError(
        .setting,
        "This Foundation has no HTTP protocol class to watch, so nothing is captured passively; use a captured session."
    )

    static let hidesSessions = WaybillError(
        .setting,
        "This Foundation does not show the session of a task, so nothing is captured passively; use a captured session."
    )

    static func session(of task: URLSessionTask) -> URLSession? {
        var mirror = Mirror(reflecting: task) as Mirror?
        while let current = mirror, current.subjectType != URLSessionTask.self { mirror = current.superclassMirror }
        return mirror?.children.first { $0.label == "session" }?.value as? URLSession
    }
}

extension URLSessionConfiguration {
    /// Only for the queue that all sessions share, where no other request starts meanwhile.
    func adding(_ fields: [String: String], while start: () -> Void) {
        let own = httpAdditionalHeaders
        let names = Set((own ?? [:]).keys.map { "\($0)".lowercased() })
        httpAdditionalHeaders = (own ?? [:]).merging(fields.filter { !names.contains($0.key.lowercased()) }) {
            mine, _ in mine
        }
        start()
        httpAdditionalHeaders = own
    }
}
#endif
