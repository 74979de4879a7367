#if GRPC
public import GRPCCore
public import Waybill
import WaybillCore

/// Joins the transaction that a call belongs to, makes it current for what handles the call, its stream of responses
/// included, and records the server's side of the exchange.
///
/// A call without the header field among its metadata leaves no trace; nor does one of a use case that is not among the
/// manager's `options.useCases`, since metadata can be made up.
///
/// The part is closed when the last response was handed over: as failed where the status says that the server is at fault
/// (`UNKNOWN`, `DEADLINE_EXCEEDED`, `UNIMPLEMENTED`, `INTERNAL`, `UNAVAILABLE`, `DATA_LOSS`), as canceled where the call
/// was, else as succeeded. A `finish` in a handler wins. A call whose deadline has passed has failed with
/// `DEADLINE_EXCEEDED`, whatever its handler gives after that. Besides, the part has an event `grpc.handled` at the end,
/// as ``TransactionClientInterceptor`` has `grpc.call`.
///
/// ## Usage
///
/// ```swift
/// options.useCases = [Login.code]
/// let transactions = TransactionManager(options: options)
/// let server = GRPCServer(
///     transport: transport, services: [Orders()], interceptors: [TransactionServerInterceptor(transactions)])
/// ```
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
public struct TransactionServerInterceptor: ServerInterceptor {
    private let transactions: TransactionManager
    private let traceContext: TraceContextPolicy?

    /// Makes the interceptor.
    ///
    /// - Parameters:
    ///   - transactions: The server's manager.
    ///   - traceContext: Whether W3C's `traceparent` is read; nil: as the manager's options say.
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
            closing: transaction, isCanceled: { context.cancellation.isCancelled })
        var request = request
        request.messages = RPCAsyncSequence(
            wrapping: request.messages.map { message in
                call.sent(1)
                return message
            })
        do {
            let counted = request
            var response = try await transaction.makingCurrent { try await next(counted, context) }
            switch response.accepted {
            case .success(var contents):
                call.responded(contents.metadata)
                let produce = contents.producer
                // It runs once this has returned, and what is current here is not, there.
                contents.producer = { writer in
                    do {
                        let trailers = try await transaction.makingCurrent {
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
