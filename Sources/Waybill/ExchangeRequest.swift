public import Foundation
public import WaybillCore

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A request, as ``ExchangeRecorder`` is told of it; secrets are taken out there.
public struct ExchangeRequest: Hashable, Sendable {
    /// `GET`, `POST`.
    public var method: String
    /// Where it goes.
    public var url: URL
    /// In order, as far as the HTTP stack keeps it.
    public var headerFields: [HeaderField]

    /// Makes a request.
    public init(method: String = "GET", url: URL, headerFields: [HeaderField] = []) {
        self.method = method
        self.url = url
        self.headerFields = headerFields
    }

    /// What is known of a `URLRequest` before it is sent, its header fields by name; nil where it has no URL.
    public init?(_ request: URLRequest) {
        guard let url = request.url else { return nil }
        self.init(
            method: request.httpMethod ?? "GET", url: url,
            headerFields: .init(byName: request.allHTTPHeaderFields ?? [:]))
    }

    /// The value of a header field, by its name in any case; nil where it is absent.
    func value(for name: String) -> String? {
        headerFields.value(for: name)
    }
}

/// The head of a response, as ``ExchangeRecorder`` is told of it; secrets are taken out there.
public struct ExchangeResponse: Hashable, Sendable {
    /// The status code.
    public var status: Int
    /// In order, as far as the HTTP stack keeps it.
    public var headerFields: [HeaderField]
    /// The version of HTTP: `1.1`, `2`; nil where the stack does not tell.
    public var httpVersion: String?

    /// Makes the head of a response.
    public init(status: Int, headerFields: [HeaderField] = [], httpVersion: String? = nil) {
        self.status = status
        self.headerFields = headerFields
        self.httpVersion = httpVersion
    }

    /// What URLSession tells of a response, its header fields by name; nil where it is none to an HTTP request.
    public init?(_ response: URLResponse?) {
        guard let response = response as? HTTPURLResponse else { return nil }
        self.init(status: response.statusCode, headerFields: .init(byName: response.allHeaderFields))
    }

    /// The value of a header field, by its name in any case; nil where it is absent.
    func value(for name: String) -> String? {
        headerFields.value(for: name)
    }
}

extension [HeaderField] {
    /// Of a dictionary, which has lost their order.
    init(byName fields: [AnyHashable: Any]) {
        self = fields.map { HeaderField(name: "\($0.key)", value: "\($0.value)") }.sorted { $0.name < $1.name }
    }
}
