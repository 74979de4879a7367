#if GRPC
import Foundation
public import GRPCCore
public import Waybill
import WaybillCore

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
enum CallEnd {
    case completed(Metadata)
    case failed(any Error)
    case cancelled
}

/// A call in progress, on either side. It records one end: cancelled, unless it learns of another.
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
    /// `nil` outside any transaction, and if the exchange is not recorded.
    private let part: OpenPart?
    /// The server's part, which ends with the call; `nil` on a client.
    private let joined: UseCaseTransaction<Int>?
    private let deadline: CallDeadline?
    private let isCancelled: @Sendable () -> Bool
    private let state = Locked(State())

    /// `isCancelled` returns whether the other side has stopped waiting.
    init(
        _ event: String, _ method: MethodDescriptor, metadata: Metadata, _ exchange: ExchangeRecorder, part: OpenPart?,
        closing joined: UseCaseTransaction<Int>? = nil,
        isCancelled: @escaping @Sendable () -> Bool = { Task.isCancelled }
    ) {
        (self.event, self.method, self.exchange, self.part) = (
            event, method, exchange, exchange.isRecorded ? part : nil
        )
        (self.joined, self.isCancelled) = (joined, isCancelled)
        deadline = CallDeadline(metadata)
    }

    deinit { end(.cancelled) }

    func sent(_ count: Int) { state.withLock { $0.requestCount += Int64(count) } }

    func received(_ count: Int) { state.withLock { $0.responseCount += Int64(count) } }

    func responded(_ metadata: Metadata) {
        state.withLock { $0.metadata = metadata }
        if joined == nil { exchange.responded(ExchangeResponse(status: 200, headerFields: metadata.fields)) }
    }

    func end(_ end: CallEnd) {
        let last: State? = state.withLock { state in
            guard !state.hasEnded else { return nil }
            defer { state.hasEnded = true }
            return state
        }
        guard let last else { return }
        let result = result(of: end, isAnswered: last.metadata != nil)
        if let trailers = result.trailers {
            let fields = (last.metadata?.fields ?? []) + trailers.fields
            let status = HeaderField(name: "grpc-status", value: "\(result.code)")
            exchange.responded(ExchangeResponse(status: 200, headerFields: fields + [status]), isTimed: false)
            exchange.finish(error: result.error)
        } else if let error = result.error {
            exchange.fail(error)
        } else {
            exchange.cancel()
        }
        report(result, last)
        close(result)
    }

    private struct Result {
        var code = RPCError.Code.cancelled.rawValue
        var error: (any Error)?
        /// `nil` if no server answered, or the client stopped waiting.
        var trailers: Metadata?

        var isCancelled: Bool { error == nil && trailers == nil }
    }

    private func result(of end: CallEnd, isAnswered: Bool) -> Result {
        let isCancelled = isCancelled()
        let hasRunOut = isCancelled && deadline?.hasPassed == true
        switch end {
        // A client has this result; a server's late result reaches nobody. A server that shuts down also cancels its
        // calls, but the clients receive their results.
        case .completed(let trailers) where joined == nil || !hasRunOut:
            return Result(code: 0, trailers: trailers)
        case .failed(let error) where !isCancelled && !error.isCancellation:
            let status = (error as? any RPCErrorConvertible).map { RPCError($0) }
            let code = status?.code ?? .unknown
            // A transport reports an unreachable server like a server's status, but with a cause.
            let isClients = joined == nil && !isAnswered && status?.cause != nil
            let isLost = isClients || code == .unavailable || code == .deadlineExceeded
            return Result(code: code.rawValue, error: error, trailers: isLost ? nil : status?.metadata ?? [:])
        case .completed, .failed, .cancelled:
            // Deadlines and cancellations end a call in the same way; only the time distinguishes them.
            guard deadline?.hasPassed == true else { return Result() }
            let error = RPCError(code: .deadlineExceeded, message: "")
            return Result(code: error.code.rawValue, error: error)
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
        if result.isCancelled {
            joined.finish(.cancelled)
        } else if GRPCStatus.isServerFailure(result.code) {
            joined.finish(.failed, error: result.error)
        } else {
            joined.finish()
        }
    }
}

/// `grpc-timeout` (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md).
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
struct CallDeadline {
    let timeoutMicroseconds: Int64
    private let latest: ContinuousClock.Instant

    init?(_ metadata: Metadata) {
        let now = ContinuousClock.now
        guard let field = metadata[stringValues: "grpc-timeout"].first(where: { _ in true }),
            let timeout = Self.duration(field)
        else { return nil }
        timeoutMicroseconds = timeout.microseconds
        // The client computed the timeout before it connected, at an unknown time.
        latest = now + timeout * 3 / 4
    }

    var hasPassed: Bool { ContinuousClock.now >= latest }

    private static func duration(_ field: String) -> Duration? {
        guard (2...9).contains(field.utf8.count), let amount = Int64(field.dropLast()), amount >= 0 else { return nil }
        switch field.last {
        case "H": return .seconds(amount * 3_600)
        case "M": return .seconds(amount * 60)
        case "S": return .seconds(amount)
        case "m": return .milliseconds(amount)
        case "u": return .microseconds(amount)
        case "n": return .nanoseconds(amount)
        default: return nil
        }
    }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
enum CallTarget {
    static func url(of context: ClientContext, server: URL?) -> URL? {
        guard let base = server ?? peer(context.remotePeer),
            let place = URLComponents(url: base, resolvingAgainstBaseURL: true)
        else { return nil }
        var target = URLComponents()
        (target.scheme, target.host, target.port) = (place.scheme, place.host, place.port)
        target.path = "/" + context.descriptor.fullyQualifiedMethod
        return target.url
    }

    /// The address of `ipv4:127.0.0.1:31415` or `ipv6:[::1]:443`; otherwise the text before the colon, e.g. `unix`.
    private static func peer(_ text: String) -> URL? {
        let parts = text.split(separator: ":", maxSplits: 1)
        guard let transport = parts.first else { return nil }
        let isAddress = parts.count == 2 && (transport == "ipv4" || transport == "ipv6")
        return URL(string: "http://\(isAddress ? parts[1] : transport)")
    }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
struct CountingWriter<Element: Sendable>: RPCWriterProtocol {
    private let writer: RPCWriter<Element>
    private let wrote: @Sendable (_ count: Int) -> Void

    init(_ writer: RPCWriter<Element>, wrote: @escaping @Sendable (_ count: Int) -> Void) {
        (self.writer, self.wrote) = (writer, wrote)
    }

    func write(_ element: Element) async throws {
        try await writer.write(element)
        wrote(1)
    }

    func write(contentsOf elements: some Sequence<Element>) async throws {
        let elements = Array(elements)
        try await writer.write(contentsOf: elements)
        wrote(elements.count)
    }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension Metadata {
    /// Of binary values, only the length is recorded, because they can't be redacted.
    var fields: [HeaderField] {
        prefix(Limits.headerFields).map { name, value in
            switch value {
            case .string(let text): HeaderField(name: name, value: text)
            case .binary(let bytes): HeaderField(name: name, value: "[\(bytes.count) bytes]")
            }
        }
    }

    func fieldValue(_ name: String) -> String? {
        let values = Array(self[stringValues: name])
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }
}

/// Recorded by its status: the domain `grpc`, the code, and a name such as `DEADLINE_EXCEEDED`.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension RPCError: RecordableError {
    public static var recordedDomain: String { GRPCStatus.domain }
    public var recordedCode: Int { code.rawValue }
    public var recordedName: String? { GRPCStatus.name(of: code.rawValue) }
    public var recordedUnderlying: (any Error)? { cause }
    public var recordedAsCancelled: Bool { code == .cancelled || cause is CancellationError }
}
#endif
