#if Hummingbird
import HTTPTypes
public import Hummingbird
public import Waybill

/// Joins the transaction that a request belongs to, makes it current for the handlers below, and records the server's
/// side of the exchange.
///
/// A request without the header field leaves no trace, so that health probes do not fill the store; nor does one of a
/// use case that is not among the manager's `options.useCases`, since a header field can be made up.
///
/// ## Usage
///
/// ```swift
/// options.useCases = [Login.code]
/// let transactions = TransactionManager(options: options)
/// let router = Router()
/// router.add(middleware: TransactionMiddleware(transactions))
/// router.post("login") { request, context in
///     Login.current?.log(.serverStarted)
///     ...
/// }
/// ```
///
/// The part is closed when the handlers have answered: as succeeded below status 500, else as failed. A `finish` in a
/// handler wins. The exchange's end is the moment when the response's head is ready; a body that is streamed afterwards
/// is not part of its duration.
public struct TransactionMiddleware<Context: RequestContext>: RouterMiddleware {
    private let transactions: TransactionManager
    private let traceContext: TraceContextPolicy?

    /// Makes the middleware.
    ///
    /// - Parameters:
    ///   - transactions: The server's manager.
    ///   - traceContext: Whether W3C's `traceparent` is read; nil: as the manager's options say.
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
        exchange.sends(byteCount: request.headers[.contentLength].flatMap { Int64($0) })
        do {
            let response = try await transaction.makingCurrent { try await next(request, context) }
            exchange.responded(
                ExchangeResponse(status: response.status.code, headerFields: fields(response.headers)), isTimed: false)
            if let byteCount = response.body.contentLength { exchange.received(byteCount: Int64(byteCount)) }
            exchange.finish()
            finish(transaction, status: response.status.code)
            return response
        } catch {
            if error.isCancellation {
                exchange.fail(error)
                transaction.finish(.canceled)
            } else {
                // What the router makes of it: an error that is a response keeps its status, any other becomes a 500.
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
            transaction.finish(.failed, error: status)
        }
    }

    /// Returns what to record of an error: if it is a response, its status is the code, where Swift has no number of
    /// use. An error that says itself what is recorded of it keeps its own.
    private func recorded(_ error: any Error) -> any Error {
        guard let response = error as? any HTTPResponseError, !(error is any TransactionError) else { return error }
        let keepsTexts = transactions.sources.settings?.keepsErrorTexts ?? false
        var recorded = RecordedError(error, includingText: keepsTexts)
        recorded.code = Int64(response.status.code)
        return recorded
    }

    private func fields(_ fields: HTTPFields) -> [HeaderField] {
        fields.map { HeaderField(name: $0.name.rawName, value: $0.value) }
    }
}
#else
/// Middleware that joins the transaction of a request; needs the trait `Hummingbird`.
@available(
    *, unavailable,
    message: "Add the trait: .package(url: \"…/waybill\", from: \"…\", traits: [\"Hummingbird\"])"
)
public struct TransactionMiddleware {}
#endif
