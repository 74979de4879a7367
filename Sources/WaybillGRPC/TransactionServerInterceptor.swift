#if GRPC
public import GRPCCore
public import Waybill
import WaybillCore

/// Joins the transaction of a call, makes it current for the handler, and records the server's side of the exchange.
///
/// Calls without the header field in their metadata are not recorded. Metadata can be forged, so calls whose use case
/// is not in the manager's `options.server.accepting` are not recorded either.
///
/// The interceptor closes the part after the last response. It failed with a status that is the server's fault
/// (`UNKNOWN`, `DEADLINE_EXCEEDED`, `UNIMPLEMENTED`, `INTERNAL`, `UNAVAILABLE`, `DATA_LOSS`), is cancelled if the call
/// was, and succeeded otherwise. A `finish` in a handler has precedence. After its deadline, a call fails with
/// `DEADLINE_EXCEEDED` whatever the handler returns. The part's last event is `grpc.handled`, with the attributes of
/// `grpc.call` at ``TransactionClientInterceptor``.
///
/// ## Usage
///
/// ```swift
/// let transactions = TransactionManager { $0.server.accepting = .only(Login.self) }
/// let server = GRPCServer(
///     transport: transport, services: [Orders()], interceptors: [TransactionServerInterceptor(transactions)])
/// ```
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
public struct TransactionServerInterceptor: ServerInterceptor {
    private let transactions: TransactionManager
    private let traceContext: TraceContextPolicy?

    /// Creates the interceptor.
    ///
    /// - Parameters:
    ///   - transactions: The server's manager.
    ///   - traceContext: Whether to read W3C's `traceparent`; `nil` for the manager's policy.
    public init(_ transactions: TransactionManager, traceContext: TraceContextPolicy? = nil) {
        (self.transactions, self.traceContext) = (transactions, traceContext)
    }

    public func intercept<Input: Sendable, Output: Sendable>(
        request: StreamingServerRequest<Input>, context: ServerContext,
        next: @Sendable (StreamingServerRequest<Input>, ServerContext) async throws -> StreamingServerResponse<Output>
    ) async throws -> StreamingServerResponse<Output> {
        guard
            let transaction = transactions.join(
                traceContext: traceContext, header: { request.metadata.fieldValue($0) })
        else {
            return try await next(request, context)
        }
        let exchange = transactions.openServerExchange(
            method: "POST", target: "/" + context.descriptor.fullyQualifiedMethod,
            headerFields: request.metadata.fields,
            in: transaction)
        let call = CallRecord(
            "grpc.handled", context.descriptor, metadata: request.metadata, exchange, part: transaction.part,
            closing: transaction, isCancelled: { context.cancellation.isCancelled })
        var request = request
        request.messages = RPCAsyncSequence(
            wrapping: request.messages.map { message in
                call.sent(1)
                return message
            })
        do {
            let counted = request
            var response = try await transaction.withCurrent { try await next(counted, context) }
            switch response.accepted {
            case .success(var contents):
                call.responded(contents.metadata)
                let produce = contents.producer
                // The producer runs after this method returns, when the transaction is no longer current.
                contents.producer = { writer in
                    do {
                        let trailers = try await transaction.withCurrent {
                            try await produce(RPCWriter(wrapping: CountingWriter(writer) { call.received($0) }))
                        }
                        call.end(.completed(trailers))
                        return trailers
                    } catch {
                        call.end(.failed(error))
                        throw error
                    }
                }
                response.accepted = .success(contents)
            case .failure(let error):
                call.end(.failed(error))
            }
            return response
        } catch {
            call.end(.failed(error))
            throw error
        }
    }
}
#endif
