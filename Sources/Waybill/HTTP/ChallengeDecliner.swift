#if canImport(FoundationNetworking)
import Foundation
import FoundationNetworking

/// Declines to authenticate, for sessions of our own.
///
/// swift-corelibs-foundation holds a 401 with `WWW-Authenticate: Basic realm=...` back until somebody has a password, for ever where nobody
/// has, and past every time-out. Declined, the task ends as canceled, with the 401 as its response: `HTTPExchange` makes that the answer.
/// It asks the session's delegate only, not the task's.
final class ChallengeDecliner: NSObject, URLSessionTaskDelegate, Sendable {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        completionHandler(.cancelAuthenticationChallenge, nil)
    }
}
#endif
