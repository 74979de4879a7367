#if canImport(FoundationNetworking)
import Foundation
import FoundationNetworking
import WaybillCore

/// What swift-corelibs-foundation does not show, and passive capture needs; nil wherever it is built in another way.
enum NativeProtocol {
    /// The class that does HTTP.
    static let `class` = find(in: URLSessionConfiguration.default.protocolClasses ?? [])

    /// The class that does HTTP among others, of which some may not be Foundation's.
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

    /// The session that a task is of.
    static func session(of task: URLSessionTask) -> URLSession? {
        var mirror = Mirror(reflecting: task) as Mirror?
        while let current = mirror, current.subjectType != URLSessionTask.self { mirror = current.superclassMirror }
        return mirror?.children.first { $0.label == "session" }?.value as? URLSession
    }
}

extension URLSessionConfiguration {
    /// Has a session send some header fields more with the requests that start while a closure runs, unless it sends
    /// those already.
    ///
    /// Only for the queue that all sessions share, where nothing else starts meanwhile, and where alone these fields
    /// are read.
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
