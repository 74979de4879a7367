#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

extension URLResponse {
    /// The HTTP status code; 0 where this is no answer to an HTTP request.
    public var status: Int { (self as? HTTPURLResponse)?.statusCode ?? 0 }

    /// Whether the status is one of success, 200 to 299 (RFC 9110, section 15.3).
    public var isSuccess: Bool { (200..<300).contains(status) }
}
