import Foundation
import Testing
import Waybill

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A way to make recorded requests, for the contract to test. `WaysIn.swift` lists them all.
struct WayIn: Sendable, CustomTestStringConvertible {
    /// A request as the contract makes it.
    struct Call: Sendable {
        enum Body: Sendable {
            case none
            case data(Data)
            /// A body from a stream of unknown length.
            case stream(Data)
            case file(URL)
        }

        var request: URLRequest
        var body = Body.none

        /// The request with its body, for ways that accept a body only inside the request.
        var requestWithBody: URLRequest {
            var copy = request
            switch body {
            case .none: break
            case .data(let data): copy.httpBody = data
            case .stream(let data): copy.httpBodyStream = InputStream(data: data)
            case .file(let file): copy.httpBodyStream = InputStream(url: file)
            }
            return copy
        }
    }

    /// A limit of a way, which the contract therefore does not test. The guide on capture names each of them.
    enum Limit: Sendable, CaseIterable {
        /// The length of the request's body is not recorded.
        case requestBody
        /// The length of the response's body is not recorded.
        case responseBody
        /// No time of the first byte is recorded.
        case firstByte
        /// Redirects are not recorded.
        case redirects
        /// A redirect to another host keeps the header field, or one to the same host loses it.
        case fieldOverRedirects
        /// The request carries no header field unless its code adds it.
        case field
        /// A 401 that asks for a name and a password is not answered, as with bare `URLSession` on Linux.
        case challenge
        /// A file cannot be uploaded.
        case file
        /// A body of unknown length cannot be sent.
        case stream
        /// Errors differ from those of `URLSession`.
        case errors
        /// A request that is cancelled before it is sent is not recorded.
        case unsent
        /// A compressed answer is returned compressed.
        case compression
    }

    var name: String
    var limits: Set<Limit> = []
    /// Makes the request for the current transaction. It returns and throws the same as the caller gets; cancelling the
    /// task cancels the request.
    var send: @Sendable (Call, TransactionManager) async throws -> (Data, URLResponse)

    var testDescription: String { name }
}

extension [WayIn] {
    /// Returns the ways without a limit.
    func without(_ limit: WayIn.Limit) -> [WayIn] { filter { !$0.limits.contains(limit) } }
}

extension WayIn {
    /// A request that a test can tell from others.
    static func request(_ url: URL, _ method: String = "GET") -> URLRequest {
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.setValue("test", forHTTPHeaderField: "X-Made-By")
        return request
    }

    /// Bytes that show their position in the whole.
    static func pattern(_ count: Int) -> Data {
        var data = Data(count: count)
        data.withUnsafeMutableBytes { bytes in
            for index in stride(from: 0, to: bytes.count, by: 1021) {
                bytes[index] = UInt8(truncatingIfNeeded: index / 1021)
            }
        }
        return data
    }
}
