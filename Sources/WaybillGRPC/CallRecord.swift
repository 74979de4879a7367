#if GRPC
import GRPCCore
import Waybill
import WaybillCore

/// How a call ended, as far as the side that sees it end knows.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
enum CallEnd {
    /// With the status `OK`, and trailing metadata.
    case completed(Metadata)
    case failed(any Error)
    case canceled
}

/// One call under way, on either side: records its end once, and as canceled where it is not told.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
final class CallRecord: Sendable {
    private struct State {
        var requestCount: Int64 = 0
        var responseCount: Int64 = 0
        var metadata: Metadata?
        var hasEnded = false
    }

    private let event: String
    private let method: MethodDescriptor
    private let exchange: ExchangeRecorder
    /// nil: outside any transaction, or the exchange is not recorded.
    private let part: OpenPart?
    /// The server's part, which ends with the call; nil on a client.
    private let joined: UseCaseTransaction<Int>?
    private let deadline: CallDeadline?
    private let isCanceled: @Sendable () -> Bool
    private let state = Locked(State())

    /// - Parameters:
    ///   - event: What the event at its end is called.
    ///   - metadata: Those of the request.
    ///   - closing: What ends with the call.
    ///   - isCanceled: Whether the other side no longer waits; by default, whether the task was canceled.
    init(
        _ event: String, _ method: MethodDescriptor, metadata: Metadata, _ exchange: ExchangeRecorder, part: OpenPart?,
        closing joined: UseCaseTransaction<Int>? = nil,
        isCanceled: @escaping @Sendable () -> Bool = { Task.isCancelled }
    ) {
        // Of several interceptors one records it.
        (self.event, self.method, self.exchange, self.part) = (
            event, method, exchange, exchange.isRecorded ? part : nil
        )
        (self.joined, self.isCanceled) = (joined, isCanceled)
        deadline = CallDeadline(metadata)
    }

    deinit { end(.canceled) }

    /// Messages of the request.
    func sent(_ count: Int) { state.withLock { $0.requestCount += Int64(count) } }

    /// Messages of the response.
    func received(_ count: Int) { state.withLock { $0.responseCount += Int64(count) } }

    /// The response begins.
    func responded(_ metadata: Metadata) {
        state.withLock { $0.metadata = metadata }
        // A server's first byte is the client's to see.
        if joined == nil { exchange.responded(ExchangeResponse(status: 200, headerFields: metadata.fields)) }
    }

    /// Only the first call counts.
    func end(_ end: CallEnd) {
        let last: State? = state.withLock { state in
            guard !state.hasEnded else { return nil }
            defer { state.hasEnded = true }
            return state
        }
        guard let last else { return }
        let result = result(of: end, isAnswered: last.metadata != nil)
        switch result {
        case .answered(let code, let error, let trailers):
            let fields = (last.metadata?.fields ?? []) + trailers.fields
            let status = Fact.HeaderField(name: "grpc-status", value: "\(code)")
            exchange.responded(ExchangeResponse(status: 200, headerFields: fields + [status]), isTimed: false)
            exchange.finish(error: error)
        case .lost(_, let error): exchange.fail(error)
        case .canceled: exchange.cancel()
        }
        report(result, last)
        close(result)
    }

    /// What became of it.
    private enum Result {
        /// The server said so.
        case answered(code: Int, error: (any Error)?, trailers: Metadata)
        /// No server said anything, or the client was no longer there.
        case lost(code: Int, error: any Error)
        case canceled

        var code: Int {
            switch self {
            case .answered(let code, _, _), .lost(let code, _): code
            case .canceled: RPCError.Code.cancelled.rawValue
            }
        }

        var error: (any Error)? {
            switch self {
            case .answered(_, let error, _): error
            case .lost(_, let error): error
            case .canceled: nil
            }
        }
    }

    private func result(of end: CallEnd, isAnswered: Bool) -> Result {
        let isCanceled = isCanceled()
        let hasRunOut = isCanceled && deadline?.hasPassed == true
        switch end {
        // A client has it, then; what a server hands over too late goes nowhere. A server that ends cancels its calls, too,
        // and what comes of them is heard.
        case .completed(let trailers) where joined == nil || !hasRunOut:
            return .answered(code: 0, error: nil, trailers: trailers)
        case .failed(let error) where !isCanceled && !error.isCancellation:
            let status = (error as? any RPCErrorConvertible).map { RPCError($0) }
            let code = status?.code ?? .unknown
            // A transport that reaches no server says so in a server's words; what has a cause is no server's.
            let isClients = joined == nil && !isAnswered && status?.cause != nil
            return isClients || code == .unavailable || code == .deadlineExceeded
                ? .lost(code: code.rawValue, error: error)
                : .answered(code: code.rawValue, error: error, trailers: status?.metadata ?? [:])
        case .completed, .failed, .canceled:
            // A deadline ends a call as a cancellation does, on both sides; only the time tells them apart.
            guard deadline?.hasPassed == true else { return .canceled }
            let error = RPCError(code: .deadlineExceeded, message: "")
            return .lost(code: error.code.rawValue, error: error)
        }
    }

    private func report(_ result: Result, _ last: State) {
        guard let part else { return }
        var attributes: Attributes = [
            "rpc.method": .string(method.fullyQualifiedMethod),
            "rpc.response.status_code": .string(GRPCStatus.name(of: result.code) ?? "\(result.code)"),
            "request_messages": .integer(last.requestCount), "response_messages": .integer(last.responseCount),
        ]
        if let deadline { attributes["timeout_us"] = .integer(deadline.timeoutMicroseconds) }
        part.report(event, attributes: attributes)
    }

    private func close(_ result: Result) {
        guard let joined else { return }
        switch result {
        case .canceled: joined.finish(.canceled)
        case .answered, .lost:
            if GRPCStatus.isServerFailure(result.code) {
                joined.finish(.failed, error: result.error)
            } else {
                joined.finish()
            }
        }
    }
}
#endif
