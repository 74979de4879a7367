public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// What a request can be made of: a `URLRequest`, a `URL`, or a URL's text.
public protocol RequestTarget: Sendable {
    /// The request; nil where the text is no URL.
    var urlRequest: URLRequest? { get }
}

extension URLRequest: RequestTarget {
    /// The request itself.
    public var urlRequest: URLRequest? { self }
}

extension URL: RequestTarget {
    /// A `GET`.
    public var urlRequest: URLRequest? { URLRequest(url: self) }
}

extension String: RequestTarget {
    /// A `GET`; nil where this is no URL.
    public var urlRequest: URLRequest? { URL(string: self).map { URLRequest(url: $0) } }
}
