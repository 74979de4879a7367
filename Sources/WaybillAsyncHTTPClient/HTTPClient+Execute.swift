#if AsyncHTTPClient
public import AsyncHTTPClient
import Foundation
public import Logging
public import NIOCore
import NIOHTTP1
public import Waybill
import WaybillCore

extension HTTPClient {
    /// Sends and records a request of the current transaction. Outside any transaction, the exchange belongs to none.
    ///
    /// Requests to correlated hosts carry the transaction's header field if the client leaves redirects to this method:
    ///
    /// ```swift
    /// let client = HTTPClient(configuration: HTTPClient.Configuration(redirectConfiguration: .disallow))
    /// let response = try await client.execute(request, timeout: .seconds(10), in: transactions)
    /// ```
    ///
    /// async-http-client keeps most header fields when it follows a redirect to another host. If it follows redirects,
    /// as `HTTPClient.shared` does, requests carry no header field, and `health.hints` reports that.
    ///
    /// The exchange counts bytes in both directions, and ends with the response's body. It fails with the body's error,
    /// and is cancelled if the task is cancelled or the rest is not read.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - timeout: The maximum time to the response's head, including redirects.
    ///   - transactions: The manager that records.
    ///   - redirects: The maximum number of redirects, if the client leaves them to this method; see
    ///     ``execute(_:deadline:in:redirects:traceContext:logger:)``.
    ///   - traceContext: Whether the request carries W3C's `traceparent`; `nil` for the manager's policy.
    ///   - logger: The client's logger.
    /// - Returns: The client's response; its `history` contains all redirected requests.
    /// - Throws: The client's errors, `CancellationError`, and `HTTPClientError.redirectLimitReached`.
    public func execute(
        _ request: HTTPClientRequest, timeout: TimeAmount, in transactions: TransactionManager, redirects: Int = 5,
        traceContext: TraceContextPolicy? = nil, logger: Logger? = nil
    ) async throws -> HTTPClientResponse {
        try await execute(
            request, deadline: .now() + timeout, in: transactions, redirects: redirects, traceContext: traceContext,
            logger: logger)
    }

    /// Sends and records a request like ``execute(_:timeout:in:redirects:traceContext:logger:)``, with a deadline.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - deadline: The deadline for the response's head, including redirects.
    ///   - transactions: The manager that records.
    ///   - redirects: The maximum number of redirects (RFC 9110, section 15.4); 0 returns the 3xx response. The method
    ///     also returns it if the body can't be sent again, or if the target is not HTTP. Requests to another origin
    ///     lose the header fields of the transaction and those with secret names.
    ///   - traceContext: Whether the request carries W3C's `traceparent`; `nil` for the manager's policy.
    ///   - logger: The client's logger.
    public func execute(
        _ request: HTTPClientRequest, deadline: NIODeadline, in transactions: TransactionManager, redirects: Int = 5,
        traceContext: TraceContextPolicy? = nil, logger: Logger? = nil
    ) async throws -> HTTPClientResponse {
        guard let url = URL(string: request.url) else {
            return try await execute(request, deadline: deadline, logger: logger)
        }
        let exchange = transactions.openExchange(
            ExchangeRequest(
                method: request.method.rawValue, url: url, headerFields: request.headers.recorded),
            traceContext: traceContext)
        var request = request
        if leavesRedirects {
            for (name, value) in exchange.headers { request.headers.replaceOrAdd(name: name, value: value) }
        } else if !exchange.headers.isEmpty {
            transactions.sources.noteUncorrelated(
                "A request to \(url.host() ?? "nowhere") carried no header field, because its HTTPClient follows redirects "
                    + "to any host by itself; give it redirectConfiguration: .disallow, and they are followed safely.")
        }
        let policy = RedirectRules(limit: redirects, added: exchange.headers, settings: transactions.sources.settings)
        do {
            return try await exchange.sending {
                try await follow(policy, from: request, deadline, exchange, logger)
            }
        } catch {
            exchange.fail(error.recorded)
            throw error
        }
    }

    private func follow(
        _ rules: RedirectRules, from first: HTTPClientRequest, _ deadline: NIODeadline, _ exchange: ExchangeRecorder,
        _ logger: Logger?
    ) async throws -> HTTPClientResponse {
        var request = first
        var history: [HTTPClientRequestResponse] = []
        while true {
            let sent = request.counted(by: exchange, isFirst: history.isEmpty)
            var response = try await execute(sent, deadline: deadline, logger: logger)
            exchange.note(response.history.dropLast())
            history += response.history
            guard leavesRedirects, rules.limit > 0, let next = rules.request(after: response, to: request) else {
                response.history = history
                exchange.responded(ExchangeResponse(response))
                return response.counted(by: exchange, method: request.method)
            }
            guard history.count <= rules.limit else { throw HTTPClientError.redirectLimitReached }
            if let url = URL(string: next.url) { exchange.redirected(ExchangeResponse(response), to: url) }
            request = next
        }
    }
}

extension ExchangeRecorder {
    fileprivate func note(_ steps: ArraySlice<HTTPClientRequestResponse>) {
        for step in steps {
            let head = step.responseHead
            guard let location = head.headers.first(name: "Location"),
                let url = URL(string: location, relativeTo: URL(string: step.request.url))
            else { continue }
            redirected(
                ExchangeResponse(status: Int(head.status.code), headerFields: head.headers.recorded),
                to: url.absoluteURL)
        }
    }
}
#endif
