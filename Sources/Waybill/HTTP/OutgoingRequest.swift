import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request and its body, before it is sent.
struct OutgoingRequest: Sendable {
    /// Where the body comes from.
    enum Body: Sendable {
        /// The request itself: its data, its stream, or none.
        case own
        case data(Data)
        case file(URL)
    }

    var request: URLRequest
    var body = Body.own

    /// The body, where it is in memory.
    var data: Data? {
        switch body {
        case .own: request.httpBody
        case .data(let data): data
        case .file: nil
        }
    }
}
