import Foundation
import Work

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Records nothing, to measure the clock, the requests and the program itself.
struct Bare: Peer {
    init(folder: URL) {}
    func begin() {}
    func log(_ step: Step, in login: Void) {}
    func send(_ request: URLRequest, in login: Void) async throws -> (Data, URLResponse) {
        try await URLSession.shared.data(for: request)
    }
    func end(_ login: Void) {}
    func finish() {}
}

try await Work.run(Bare.self)
