#if Hummingbird
import HTTPTypes
public import Hummingbird
public import Waybill

/// Joins a request's transaction, makes it current for the handlers, and records the server's side of the exchange.
///
/// Requests without the header field are not recorded, so health probes do not fill the store. Header fields can be
/// forged, so requests whose use case is not in the manager's `options.server.accepting` are not recorded either.
///
/// ## Usage
///
/// ```swift
/// let transactions = TransactionManager { $0.server.accepting = .only(Login.self) }
/// let router = Router()
/// router.add(middleware: TransactionMiddleware(transactions))
/// router.post("login") { request, context in
///     Login.log(.serverStarted)
///     ...
/// }
/// ```
///
/// The middleware closes the part when the handlers return: as succeeded below status 500, otherwise as failed. A
/// `finish` in a handler has precedence. The exchange ends when the response's head is ready, before a streamed body.
public struct TransactionMiddleware<Context: RequestContext>: RouterMiddleware {
    private let transactions: TransactionManager
    private let traceContext: TraceContextPolicy?

    /// Creates the middleware.
    ///
    /// - Parameters:
    ///   - transactions: The server's manager.
    ///   - traceContext: Whether to read W3C's `traceparent`; `nil` for the manager's policy.
    public init(_ transactions: TransactionManager, traceContext: TraceContextPolicy? = nil) {
        self.transactions = transactions
        self.traceContext = traceContext
    }

    public func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard
            let transaction = transactions.join(
                traceContext: traceContext, header: { name in HTTPField.Name(name).flatMap { request.headers[$0] } })
        else {
            return try await next(request, context)
        }

        let exchange = transactions.openServerExchange(
            method: request.method.rawValue, authority: request.head.authority, target: request.uri.string,
            headerFields: fields(request.headers), in: transaction)
        exchange.expectToSend(byteCount: request.headers[.contentLength].flatMap { Int64($0) })
        do {
            let response = try await transaction.withCurrent { try await next(request, context) }
            exchange.responded(
                ExchangeResponse(status: response.status.code, headerFields: fields(response.headers)), isTimed: false)
            if let byteCount = response.body.contentLength { exchange.received(byteCount: Int64(byteCount)) }
            exchange.finish()
            finish(transaction, status: response.status.code)
            return response
        } catch {
            if error.isCancellation {
                exchange.fail(error)
                transaction.finish(.cancelled)
            } else {
                let status = (error as? any HTTPResponseError)?.status.code ?? 500
                let recorded = recorded(error)
                exchange.responded(ExchangeResponse(status: status), isTimed: false)
                exchange.finish(error: recorded)
                finish(transaction, status: status, error: recorded)
            }
            throw error
        }
    }

    private func finish(_ transaction: UseCaseTransaction<Int>, status: Int, error: (any Error)? = nil) {
        if status < 500 {
            transaction.finish(.succeeded)
        } else if let error {
            transaction.finish(.failed, error: error)
        } else {
            transaction.finish(.failed, code: status)
        }
    }

    /// The code of an error that is a response is its status, unless it has its own.
    private func recorded(_ error: any Error) -> any Error {
        guard let response = error as? any HTTPResponseError, !(error is any RecordableError) else { return error }
        let keepsTexts = transactions.sources.settings?.options.privacy.keepsErrorTexts ?? false
        var recorded = RecordedError(error, includingText: keepsTexts)
        recorded.code = Int64(response.status.code)
        return recorded
    }

    private func fields(_ fields: HTTPFields) -> [HeaderField] {
        fields.map { HeaderField(name: $0.name.rawName, value: $0.value) }
    }
}
#else
/// Middleware that joins the transaction of a request. It requires the trait `Hummingbird`.
@available(
    *, unavailable,
    message: "Add the trait: .package(url: \"…/waybill\", from: \"…\", traits: [\"Hummingbird\"])"
)
public struct TransactionMiddleware {}
#endif
