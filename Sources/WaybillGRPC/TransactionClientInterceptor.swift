#if GRPC
public import Foundation
public import GRPCCore
public import Waybill
import WaybillCore

/// Records a client's calls as exchanges of the current transaction, and propagates it to hosts on the manager's list.
///
/// A call is recorded as a `POST` of `/service/method`, with its redacted metadata as header fields. Each attempt is a
/// call. A status other than `OK` is the exchange's error, with the domain `grpc` and the status code. A call fails
/// with `DEADLINE_EXCEEDED` after its deadline. It is cancelled if the app cancels it or stops reading responses.
/// Messages and their byte counts are not recorded.
///
/// At the end of each call, the transaction gets an event `grpc.call`. Its attributes are `rpc.method`,
/// `rpc.response.status_code`, `request_messages`, `response_messages` and, with a deadline, `timeout_us`. Outside any
/// transaction, the call is recorded without an event.
///
/// ## Usage
///
/// ```swift
/// try await withGRPCClient(
///     transport: transport,
///     interceptors: [TransactionClientInterceptor(transactions, server: URL(string: "https://orders.example.com"))]
/// ) { client in
///     ...
/// }
/// ```
///
/// Put it before interceptors that create spans. Those spans then record no second exchange.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
public struct TransactionClientInterceptor: ClientInterceptor {
    private let transactions: TransactionManager
    private let server: URL?
    private let traceContext: TraceContextPolicy?

    /// Creates the interceptor.
    ///
    /// - Parameters:
    ///   - transactions: The client's manager.
    ///   - server: The scheme, host and port of the server; the path is ignored. `nil` uses the resolved address, e.g.
    ///     `http://10.0.0.7:50051` for `ipv4:10.0.0.7:50051`, or the transport's name, `in-process` or `unix`.
    ///   - traceContext: Whether calls carry W3C's `traceparent`; `nil` for the manager's policy.
    public init(_ transactions: TransactionManager, server: URL? = nil, traceContext: TraceContextPolicy? = nil) {
        (self.transactions, self.server, self.traceContext) = (transactions, server, traceContext)
    }

    public func intercept<Input: Sendable, Output: Sendable>(
        request: StreamingClientRequest<Input>, context: ClientContext,
        next: (StreamingClientRequest<Input>, ClientContext) async throws -> StreamingClientResponse<Output>
    ) async throws -> StreamingClientResponse<Output> {
        guard let url = CallTarget.url(of: context, server: server) else { return try await next(request, context) }
        let exchange = transactions.openExchange(
            ExchangeRequest(method: "POST", url: url, headerFields: request.metadata.fields), traceContext: traceContext
        )
        let call = CallRecord(
            "grpc.call", context.descriptor, metadata: request.metadata, exchange, part: TransactionScope.innermost)
        var request = request
        for (name, value) in exchange.headers {
            request.metadata.replaceOrAddString(value, forKey: name.lowercased())
        }
        let produce = request.producer
        // Requests that the app makes while it produces messages are separate exchanges.
        let isSending = ExchangeRecorder.isSending
        request.producer = { writer in
            try await ExchangeRecorder.$isSending.withValue(isSending) {
                try await produce(RPCWriter(wrapping: CountingWriter(writer) { call.sent($0) }))
            }
        }
        do {
            let prepared = request
            var response = try await exchange.sending { try await next(prepared, context) }
            switch response.accepted {
            case .success(var contents):
                call.responded(contents.metadata)
                contents.bodyParts = RPCAsyncSequence(wrapping: CountedParts(parts: contents.bodyParts, call: call))
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

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private struct CountedParts<Message: Sendable>: AsyncSequence, Sendable {
    typealias Parts = RPCAsyncSequence<StreamingClientResponse<Message>.Contents.BodyPart, any Error>
    typealias Element = Parts.Element

    let parts: Parts
    let call: CallRecord

    struct AsyncIterator: AsyncIteratorProtocol {
        var parts: Parts.AsyncIterator
        let call: CallRecord

        mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> Element? {
            let part: Element?
            do {
                part = try await parts.next(isolation: actor)
            } catch {
                call.end(.failed(error))
                throw error
            }
            switch part {
            case .message: call.received(1)
            case .trailingMetadata(let metadata): call.end(.completed(metadata))
            // A cancelled reader receives the end of the sequence without trailers.
            case nil: call.end(.cancelled)
            }
            return part
        }

        mutating func next() async throws -> Element? { try await next(isolation: nil) }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(parts: parts.makeAsyncIterator(), call: call) }
}
#else
/// An interceptor for the calls of gRPC clients. It requires the trait `GRPC`.
@available(
    *, unavailable,
    message: "Add the trait: .package(url: \"…/waybill\", from: \"…\", traits: [\"GRPC\"])"
)
public struct TransactionClientInterceptor {}
#endif
