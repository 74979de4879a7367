public import Foundation
import WaybillCore

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A `URLSession` whose requests are recorded as network exchanges, tied to the transaction they are made for.
///
/// The caller sees what `URLSession` gives, but for two things: there is no cache on Linux, and the configuration's
/// `timeoutIntervalForResource` is obeyed there too. Recording never delays or fails a request. A request inside a transaction carries the
/// header field if its host is on the manager's list, unless the caller set that field; a redirect to another host loses it.
///
/// ## Usage
///
/// ```swift
/// let (data, response) = try await transactions.session.data(for: request)
/// ```
public final class CapturedSession: Sendable {
    private let http: HTTPSession
    private let deadline: Duration
    private let recording: Recording
    private let diagnostics: Diagnostics

    init(configuration: URLSessionConfiguration, recording: Recording, diagnostics: Diagnostics) {
        http = HTTPSession(configuration: configuration)
        deadline = .seconds(configuration.timeoutIntervalForResource)
        self.recording = recording
        self.diagnostics = diagnostics
    }

    deinit { http.finishTasksAndInvalidate() }

    /// Sends a request for the current transaction, and waits for the whole answer.
    ///
    /// - Throws: What `URLSession` throws; `URLError.cancelled` as soon as the task is canceled.
    public func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        try await send(request, body: nil, for: CurrentTransaction.innermost)
    }

    /// As ``data(for:)``, for a transaction that is not the current one.
    public func data<Event>(
        for request: URLRequest, in transaction: UseCaseTransaction<Event>
    ) async throws -> (Data, URLResponse) {
        try await send(request, body: nil, for: transaction.part)
    }

    /// Sends a request with a body for the current transaction, and waits for the whole answer.
    ///
    /// - Throws: What `URLSession` throws; `URLError.cancelled` as soon as the task is canceled.
    public func upload(for request: URLRequest, from body: Data) async throws -> (Data, URLResponse) {
        try await send(request, body: body, for: CurrentTransaction.innermost)
    }

    /// As ``upload(for:from:)``, for a transaction that is not the current one.
    public func upload<Event>(
        for request: URLRequest, from body: Data, in transaction: UseCaseTransaction<Event>
    ) async throws -> (Data, URLResponse) {
        try await send(request, body: body, for: transaction.part)
    }

    private func send(_ request: URLRequest, body: Data?, for part: OpenPart?) async throws -> (Data, URLResponse) {
        guard let source = recording.source(of: part), let url = request.url else {
            return try await http.data(for: request, uploading: body, deadline: deadline)
        }
        // Recorded before the request is sent: what never comes back is seen all the same.
        let exchange = OpenExchange(Fact.ExchangeOpened(request, url: url, redactor: source.settings.redactor), part: part, source: source)
        let sentByteCount = (body ?? request.httpBody)?.count
        let headerName = source.settings.headerName
        do {
            let (data, response) = try await http.data(
                for: tied(request, to: part, by: exchange, of: source), uploading: body,
                redirects: .follow(droppingFieldsForOtherHosts: [headerName]), deadline: deadline)
            exchange.close(
                .completed, status: response.status, sentByteCount: sentByteCount, receivedByteCount: data.count,
                headerFields: response.sortedHeaderFields)
            return (data, response)
        } catch {
            exchange.close(error.code == .cancelled ? .canceled : .failed, sentByteCount: sentByteCount, error: error)
            throw error
        }
    }

    /// The request with the header field, where it is to have one.
    private func tied(_ request: URLRequest, to part: OpenPart?, by exchange: OpenExchange, of source: RunningSource) -> URLRequest {
        guard let part, part.source === source, let url = request.url else { return request }
        let headerName = source.settings.headerName
        guard source.correlates(with: url) else {
            diagnostics.once(
                "A request to \(url.host() ?? "nowhere") inside a transaction carried no \(headerName) header field; add the host to correlatedHosts if it is yours."
            )
            return request
        }
        guard request.value(forHTTPHeaderField: headerName) == nil else { return request }
        var request = request
        request.setValue(
            part.headerValue(exchange: exchange.sequence > 0 ? exchange.sequence : nil), forHTTPHeaderField: headerName)
        return request
    }
}

extension Fact.ExchangeOpened {
    /// What is kept of a request.
    init(_ request: URLRequest, url: URL, redactor: Redactor) {
        let address = redactor.url(url.absoluteString)
        let fields = (request.allHTTPHeaderFields ?? [:]).map { Fact.HeaderField(name: $0.key, value: $0.value) }
        self.init(
            method: request.httpMethod ?? "GET", scheme: address.scheme, host: address.host, port: address.port, path: address.path,
            query: address.query, headerFields: redactor.headerFields(fields.sorted { $0.name < $1.name }))
    }
}

extension URLResponse {
    /// By name: Foundation does not keep their order.
    fileprivate var sortedHeaderFields: [Fact.HeaderField] {
        guard let fields = (self as? HTTPURLResponse)?.allHeaderFields else { return [] }
        return fields.map { Fact.HeaderField(name: "\($0.key)", value: "\($0.value)") }.sorted { $0.name < $1.name }
    }
}
