#if GRPC
public import Foundation
public import GRPCCore
public import Waybill
import WaybillCore

/// Records the calls of a client, each as an exchange of the current transaction, and tells the server which transaction
/// that is, where the server's host is on the manager's list.
///
/// A call of any kind is a request with `POST` of `/service/method`, and its metadata are the header fields, redacted. Its
/// status and its trailing metadata come with the end of the response: a status other than `OK` is the exchange's error,
/// of domain `grpc` and with its code. An exchange whose deadline has passed has failed with `DEADLINE_EXCEEDED`; one that
/// was canceled, or whose responses are no longer read, is canceled. Besides, the transaction has an event `grpc.call`
/// at the end of each call, with `rpc.method`, `rpc.response.status_code`, `request_messages` and `response_messages`, and
/// `timeout_us` where the call had a deadline. Of several attempts each one is a call. Messages are not kept, and their
/// bytes are not counted.
///
/// Outside any transaction the exchange belongs to none, and there is no event.
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
/// Put it before interceptors that make spans, which then record no exchange of their own.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
public struct TransactionClientInterceptor: ClientInterceptor {
    private let transactions: TransactionManager
    private let server: URL?
    private let traceContext: TraceContextPolicy?

    /// Makes the interceptor.
    ///
    /// - Parameters:
    ///   - transactions: The client's manager.
    ///   - server: Scheme, host and port that the client was made for; its path counts for nothing. A call knows only the
    ///     address that a name was resolved to: nil takes that, e.g. `http://10.0.0.7:50051` for a peer `ipv4:10.0.0.7:50051`,
    ///     and for one without an address how it is reached: `in-process` or `unix`.
    ///   - traceContext: Whether calls carry W3C's `traceparent`; nil: as the manager's options say.
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
        // What the app does while it makes its messages is not this exchange.
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

/// What comes back, counted until its end.
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
            // A reader that stops waiting sees an end without one.
            case nil: call.end(.canceled)
            }
            return part
        }

        mutating func next() async throws -> Element? { try await next(isolation: nil) }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(parts: parts.makeAsyncIterator(), call: call) }
}
#else
/// An interceptor for the calls of gRPC clients; needs the trait `GRPC`.
@available(
    *, unavailable,
    message: "Add the trait: .package(url: \"…/waybill\", from: \"…\", traits: [\"GRPC\"])"
)
public struct TransactionClientInterceptor {}
#endif
