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

    init(configuration: URLSessionConfiguration, recording: Recording) {
        http = HTTPSession(configuration: configuration)
        deadline = .seconds(configuration.timeoutIntervalForResource)
        self.recording = recording
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
        guard let told = ExchangeRequest(request) else {
            return try await http.data(for: request, uploading: body, deadline: deadline)
        }
        // Recorded before the request is sent: what never comes back is seen all the same.
        let exchange = recording.openExchange(told, part: part)
        exchange.sends(byteCount: (body ?? request.httpBody)?.count)
        var request = request
        for (name, value) in exchange.headers { request.setValue(value, forHTTPHeaderField: name) }
        do {
            let (data, response) = try await http.data(
                for: request, uploading: body, redirects: .follow(droppingFieldsForOtherHosts: Array(exchange.headers.keys)),
                deadline: deadline)
            if let response = ExchangeResponse(response) { exchange.respondedUntimed(response) }
            exchange.received(data)
            exchange.finish()
            return (data, response)
        } catch {
            exchange.fail(error)
            throw error
        }
    }
}
