#if AsyncHTTPClient
public import AsyncHTTPClient
import Foundation
public import Logging
public import NIOCore
import NIOHTTP1
public import Waybill
import WaybillCore

extension HTTPClient {
    /// Sends a request of the current transaction, and records it; outside of one, it belongs to none.
    ///
    /// To a correlated host it carries the transaction's header field, once the client leaves redirects to this call:
    ///
    /// ```swift
    /// let client = HTTPClient(configuration: HTTPClient.Configuration(redirectConfiguration: .disallow))
    /// let response = try await client.execute(request, timeout: .seconds(10), in: transactions)
    /// ```
    ///
    /// async-http-client takes header fields along to any host that a response names, but for four of them. What follows
    /// redirects by itself, as `HTTPClient.shared` does, therefore gets no field; `health.hints` says so.
    ///
    /// Bytes are counted both ways as they go. The exchange ends with the response's body: at its end, with the error
    /// that ended it early, or canceled where the task was or where the rest is not read.
    ///
    /// - Parameters:
    ///   - request: Sent as it is, with what is added.
    ///   - timeout: The longest it may take to the response's head, redirects included.
    ///   - transactions: Where to record.
    ///   - redirects: How many redirects are followed, where the client leaves them; see
    ///     ``execute(_:deadline:in:redirects:traceContext:logger:)``.
    ///   - traceContext: Whether it carries W3C's `traceparent`; nil: as the manager's options say.
    ///   - logger: The client's; nil: none.
    /// - Returns: What the client gives; `history` has every request of a row of redirects.
    /// - Throws: What the client throws, `HTTPClientError.deadlineExceeded` and `CancellationError` among it;
    ///   `HTTPClientError.redirectLimitReached`.
    public func execute(
        _ request: HTTPClientRequest, timeout: TimeAmount, in transactions: TransactionManager, redirects: Int = 5,
        traceContext: TraceContextPolicy? = nil, logger: Logger? = nil
    ) async throws -> HTTPClientResponse {
        try await execute(
            request, deadline: .now() + timeout, in: transactions, redirects: redirects, traceContext: traceContext,
            logger: logger)
    }

    /// As ``execute(_:timeout:in:redirects:traceContext:logger:)``, until a point in time.
    ///
    /// - Parameters:
    ///   - request: Sent as it is, with what is added.
    ///   - deadline: When the response's head has to be there, redirects included.
    ///   - transactions: Where to record.
    ///   - redirects: How many redirects are followed by the rules of RFC 9110, section 15.4; 0: the 3xx is the answer.
    ///     To another origin goes no header field that ties to the transaction, nor one that names a secret. The 3xx is
    ///     the answer, too, where the body cannot be sent again, or the place is none of HTTP.
    ///   - traceContext: Whether it carries W3C's `traceparent`; nil: as the manager's options say.
    ///   - logger: The client's; nil: none.
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
    /// Redirects that the client has followed by itself.
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
