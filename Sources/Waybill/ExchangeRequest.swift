public import Foundation
public import WaybillCore

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A request for ``ExchangeRecorder``, which redacts it.
public struct ExchangeRequest: Equatable, Sendable {
    /// The method, such as `GET`.
    public var method: String
    /// The URL.
    public var url: URL
    /// The header fields, in the order that the HTTP stack keeps.
    public var headerFields: [HeaderField]

    /// Creates a request.
    public init(method: String = "GET", url: URL, headerFields: [HeaderField] = []) {
        self.method = method
        self.url = url
        self.headerFields = headerFields
    }

    /// Creates a request from a `URLRequest`, with header fields sorted by name; `nil` if it has no URL.
    public init?(_ request: URLRequest) {
        guard let url = request.url else { return nil }
        self.init(
            method: request.httpMethod ?? "GET", url: url,
            headerFields: .init(byName: request.allHTTPHeaderFields ?? [:]))
    }

    func value(for name: String) -> String? { headerFields.value(for: name) }
}

/// The head of a response for ``ExchangeRecorder``, which redacts it.
public struct ExchangeResponse: Equatable, Sendable {
    /// The status code.
    public var status: Int
    /// The header fields, in the order that the HTTP stack keeps.
    public var headerFields: [HeaderField]
    /// The HTTP version, such as `1.1` or `2`; `nil` if it is not known.
    public var httpVersion: String?

    /// Creates a response.
    public init(status: Int, headerFields: [HeaderField] = [], httpVersion: String? = nil) {
        self.status = status
        self.headerFields = headerFields
        self.httpVersion = httpVersion
    }

    /// Creates a response from a `URLResponse`, with fields sorted by name; `nil` if it is not an HTTP response.
    public init?(_ response: URLResponse?) {
        guard let response = response as? HTTPURLResponse else { return nil }
        self.init(status: response.statusCode, headerFields: .init(byName: response.allHeaderFields))
    }

    func value(for name: String) -> String? { headerFields.value(for: name) }
}

extension [HeaderField] {
    /// Sorts by name, since a dictionary has no order.
    init(byName fields: [AnyHashable: Any]) {
        // A cast costs a tenth of a description.
        self = fields.map { name, value in
            HeaderField(name: name as? String ?? "\(name)", value: value as? String ?? "\(value)")
        }.ordered { $0.name < $1.name }
    }
}
