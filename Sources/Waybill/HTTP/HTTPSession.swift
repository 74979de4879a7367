package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// A `URLSession`, used only in the ways that survive cancellation on every platform.
///
/// With swift-corelibs-foundation `URLSession.data(for:)` can deadlock every session of the process when a cancellation meets the end of a
/// request, and can trap when it comes early. So requests are completion-handler tasks with a continuation of our own, see
/// ``HTTPExchange``, and the session has no cache: it is the look-up in the cache that early cancellations trip over.
package struct HTTPSession: Sendable {
    /// The session underneath.
    let session: URLSession

    /// Takes a session, which loses its `urlCache` where Foundation is swift-corelibs-foundation, and must not be invalidated while this is
    /// in use.
    init(_ session: URLSession) {
        self.session = session
        #if canImport(FoundationNetworking)
        // There a session's configuration is the live one; on Apple platforms it is a copy.
        if session.configuration.urlCache != nil { session.configuration.urlCache = nil }
        #endif
    }

    /// Makes a session of its own. It takes a 401 that asks for a name and a password as the answer, which a session without a delegate
    /// waits upon for ever in swift-corelibs-foundation.
    ///
    /// The session lives until ``finishTasksAndInvalidate()``, which its owner must call.
    package init(configuration: URLSessionConfiguration) {
        #if canImport(FoundationNetworking)
        self.init(URLSession(configuration: configuration, delegate: ChallengeDecliner(), delegateQueue: nil))
        #else
        self.init(URLSession(configuration: configuration))
        #endif
    }

    /// Lets requests under way end, and then the session go; it must not be used again.
    package func finishTasksAndInvalidate() { session.finishTasksAndInvalidate() }

    /// Sends a request and waits for all of the answer.
    ///
    /// - Parameters:
    ///   - request: Sent as it is.
    ///   - body: Sent by an upload task, in place of the request's own body; nil for none.
    ///   - redirects: What is done about a 3xx that names another place.
    ///   - deadline: The longest that all of it may take; nil for no limit but the session's own.
    /// - Throws: `.cancelled` as soon as the task is canceled, `.timedOut` at the deadline, or what URLSession says.
    package func data(
        for request: URLRequest, uploading body: Data? = nil, redirects: RedirectPolicy = .follow(), deadline: Duration? = nil
    ) async throws(URLError) -> (Data, URLResponse) {
        let exchange = HTTPExchange(of: request, uploading: body, in: self, redirects: redirects)
        let answer = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                exchange.start(deadline: deadline) { continuation.resume(returning: $0) }
            }
        } onCancel: {
            exchange.cancel()
        }
        return try answer.get()
    }
}
