import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What is done about an answer that names another place (RFC 9110, section 15.4).
package enum RedirectPolicy: Sendable {
    /// The request is sent there, without these header fields where that is another host. With swift-corelibs-foundation a body is lost on
    /// the way, also where 307 and 308 ask to keep it.
    case follow(droppingFieldsForOtherHosts: [String] = [])
    /// The 3xx is the answer.
    case refuse
}

/// Carries out a redirect policy for one task.
final class RedirectDelegate: NSObject, URLSessionTaskDelegate, Sendable {
    private let policy: RedirectPolicy
    private let host: String?
    private let hasEnded: @Sendable () -> Bool

    /// - Parameter hasEnded: Whether the exchange has, and its task is canceled or about to be.
    init(_ policy: RedirectPolicy, of request: URLRequest, hasEnded: @escaping @Sendable () -> Bool) {
        self.policy = policy
        self.host = request.url?.host()?.lowercased()
        self.hasEnded = hasEnded
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        let answer: @Sendable (URLRequest?) -> Void = { [hasEnded] next in
            #if canImport(FoundationNetworking)
            // There the handler traps when a cancellation has come first. Cancellations run on the delegate queue and set `hasEnded` before.
            session.delegateQueue.addOperation { if !hasEnded() { completionHandler(next) } }
            #else
            completionHandler(next)
            #endif
        }
        guard case .follow(let fields) = policy else { return answer(nil) }
        let clean = without(fields, request)
        let cleaned: @Sendable (URLRequest?) -> Void = { [self] in answer($0.map { without(fields, $0) }) }
        // A task's delegate hides the session's, which may have a say in where its requests go.
        guard let sessions = session.delegate as? any URLSessionTaskDelegate else { return answer(clean) }
        #if canImport(FoundationNetworking)
        sessions.urlSession(session, task: task, willPerformHTTPRedirection: response, newRequest: clean, completionHandler: cleaned)
        #else
        let asked: Void? = sessions.urlSession?(
            session, task: task, willPerformHTTPRedirection: response, newRequest: clean, completionHandler: cleaned)
        if asked == nil { answer(clean) }
        #endif
    }

    private func without(_ fields: [String], _ request: URLRequest) -> URLRequest {
        guard request.url?.host()?.lowercased() != host else { return request }
        var copy = request
        for field in fields { copy.setValue(nil, forHTTPHeaderField: field) }
        return copy
    }
}
