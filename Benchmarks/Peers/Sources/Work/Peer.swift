public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// What happens in a login.
public enum Step: Int, CaseIterable, Sendable {
    case initiated, validated, keychainRead, requestSent, responseReceived, tokenStored, profileShown, done
}

/// A way to record logins into a folder.
public protocol Peer {
    associatedtype Handle

    /// Opens what is in the folder, or begins with an empty one.
    init(folder: URL) throws

    func begin() -> Handle

    /// Records one event; once this has returned, the caller takes it for recorded.
    func log(_ step: Step, in login: Handle)

    /// Sends a request, and records it with what became of it.
    func send(_ request: URLRequest, in login: Handle) async throws -> (Data, URLResponse)

    func end(_ login: Handle)

    /// Returns when all that was recorded is in files.
    func finish() async throws
}
