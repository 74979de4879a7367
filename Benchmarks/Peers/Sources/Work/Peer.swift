public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// The steps of a login.
public enum Step: Int, CaseIterable, Sendable {
    case initiated, validated, keychainRead, requestSent, responseReceived, tokenStored, profileShown, done
}

/// A way to record logins into a folder.
public protocol Peer {
    associatedtype Handle

    /// Opens the records in the folder, or begins with none.
    init(folder: URL) throws

    func begin() -> Handle

    /// Records one event. Once this has returned, the caller considers the event recorded.
    func log(_ step: Step, in login: Handle)

    /// Sends a request, and records it with its outcome.
    func send(_ request: URLRequest, in login: Handle) async throws -> (Data, URLResponse)

    func end(_ login: Handle)

    /// Returns when everything that was recorded is in files.
    func finish() async throws
}
