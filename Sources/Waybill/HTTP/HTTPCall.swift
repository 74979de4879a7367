import Dispatch
import Foundation
import WaybillCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One request. It completes exactly once: with a response, an error, a cancellation or a timeout.
final class HTTPCall: HTTPEvents {
    private enum Stage {
        case prepared, starting, running, ended
        /// Ended before the transport's `start` returned, which must then cancel.
        case abandoned
    }

    private struct State {
        var stage = Stage.prepared
        var transport: (any HTTPTransport)?
        var sink: (any BodySink)?
        var response: URLResponse?
        var timer: (any DispatchSourceTimer)?
        var progress = TransferProgress()

        var isUnderWay: Bool { stage == .starting || stage == .running }
    }

    private let outgoing: OutgoingRequest
    private let redirects: RedirectPolicy
    private let deadline: Duration?
    private let record: ExchangeRecorder
    private let sentBytes: SentBytes?
    private let tellProgress: (@Sendable (TransferProgress) -> Void)?
    private let state: Locked<State>

    init(
        of outgoing: OutgoingRequest, by transport: any HTTPTransport, redirects: RedirectPolicy = .follow(),
        deadline: Duration? = nil,
        record: ExchangeRecorder = ExchangeRecorder(), sentBytes: SentBytes? = nil,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) {
        self.outgoing = outgoing
        self.redirects = redirects
        self.deadline = deadline
        self.record = record
        self.sentBytes = sentBytes
        tellProgress = progress
        state = Locked(State(transport: transport))
    }

    var progress: TransferProgress { state.withLock { $0.progress } }

    /// The sink's `ended` runs once, on the thread of the transport, of the cancellation or of the deadline.
    func start(into sink: any BodySink) {
        let timer = deadline.map(makeTimer)
        nonisolated(unsafe) let sink = sink  // nothing else has it yet
        let transport: (any HTTPTransport)? = state.withLock { state in
            guard state.stage == .prepared else { return nil }
            (state.stage, state.sink, state.timer) = (.starting, sink, timer)
            return state.transport
        }
        timer?.activate()
        guard let transport else {
            timer?.cancel()
            return sink.ended(.failure(URLError(.cancelled)))
        }
        if outgoing.data?.isEmpty == true { record.expectToSend(byteCount: 0) }
        // Without the lock: creating a task waits for URLSession's queue, and `cancel()` must never wait for that.
        transport.start(telling: self)
        let isAbandoned = state.withLock { state in
            if state.stage == .starting { state.stage = .running }
            return state.stage == .abandoned
        }
        if isAbandoned { transport.cancel() }
    }

    func cancel() { end(URLError(.cancelled)) }

    private func makeTimer(_ deadline: Duration) -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(queue: .global())
        timer.schedule(deadline: .now() + min(deadline.timeInterval, 1e9))
        timer.setEventHandler { [weak self] in self?.end(URLError(.timedOut)) }
        return timer
    }

    // MARK: What the transport tells

    func tell(_ event: HTTPEvent) {
        switch event {
        case .waits: record.mark("waits for connectivity")
        case .sent(let byteCount, let expected): sent(byteCount, expected: expected)
        case .responded(let response): responded(response)
        case .received(let bytes): received(bytes)
        case .measured(let measurements): record.measured(measurements)
        case .ended(let error): end(error, byTransport: true)
        }
    }

    private func sent(_ byteCount: Int64, expected: Int64?) {
        let progress = step { state in
            state.progress.sentByteCount += byteCount
            state.progress.expectedSentByteCount = expected
        }
        guard let progress else { return }
        if let bytes = sentBytes?.next(Int(clamping: byteCount)) {
            record.sent(bytes)
        } else {
            record.sent(byteCount: byteCount)
        }
        tellProgress?(progress)
    }

    func redirected(by response: HTTPURLResponse, to request: URLRequest) -> URLRequest? {
        guard let next = redirects.request(after: request, of: outgoing.request) else { return nil }
        if let answer = ExchangeResponse(response), let url = next.url { record.redirected(answer, to: url) }
        return next
    }

    // The head and the body are recorded first: as soon as the sink has them, the caller may let go of the exchange.

    private func responded(_ response: URLResponse) {
        if let response = ExchangeResponse(response) { record.responded(response) }
        record.received(byteCount: 0)  // a body of nothing is never told of
        let progress = step { state in
            state.response = response
            state.progress.expectedReceivedByteCount =
                response.expectedContentLength >= 0 ? response.expectedContentLength : nil
            state.sink?.responded(response)
        }
        if let progress { tellProgress?(progress) }
    }

    private func received(_ bytes: Data) {
        record.received(bytes)
        var failure: URLError?
        let progress = step { state in
            state.progress.receivedByteCount += Int64(bytes.count)
            do { try state.sink?.received(bytes) } catch {
                failure =
                    error as? URLError ?? URLError(.cannotWriteToFile, userInfo: [NSUnderlyingErrorKey: error])
            }
        }
        guard let progress else { return }
        if let failure { return end(failure) }
        tellProgress?(progress)
    }

    /// The lock separates the sink's calls from its end.
    private func step(_ body: (inout State) -> Void) -> TransferProgress? {
        state.withLock { state in
            guard state.isUnderWay else { return nil }
            body(&state)
            return state.progress
        }
    }

    private func end(_ error: URLError?, byTransport: Bool = false) {
        let last: State? = state.withLock { state in
            guard state.stage != .ended, state.stage != .abandoned else { return nil }
            defer {
                state = State(
                    stage: state.stage == .starting && !byTransport ? .abandoned : .ended, progress: state.progress)
            }
            return state
        }
        guard let last else { return }
        last.timer?.cancel()
        let answer: Result<URLResponse, URLError> =
            if let error { .failure(error) } else if let response = last.response { .success(response) } else {
                .failure(URLError(.badServerResponse))
            }
        switch answer {
        case .success: record.finish()
        case .failure(let error): record.fail(error)
        }
        last.sink?.ended(answer)
        if last.stage == .running, !byTransport { last.transport?.cancel() }
    }
}

extension HTTPCall {
    typealias Completion<Value> = @Sendable (Result<Value, URLError>) -> Void

    func value<Value: Sendable>(
        into sink: (@escaping Completion<Value>) -> any BodySink
    ) async throws(URLError) -> Value {
        let answer = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in start(into: sink { continuation.resume(returning: $0) }) }
        } onCancel: {
            cancel()
        }
        return try answer.get()
    }
}

extension Duration {
    var timeInterval: Double { self / .seconds(1) }
}

/// The progress of an exchange, in bytes of its bodies.
public struct TransferProgress: Equatable, Sendable {
    /// The sent bytes of the request's body. A redirect may send the body again, which counts again.
    public var sentByteCount: Int64 = 0
    /// The size of the request's body; `nil` if it is not known, as for a stream.
    public var expectedSentByteCount: Int64?
    /// The received bytes of the response's body, decoded.
    public var receivedByteCount: Int64 = 0
    /// The size of the response's body before decoding; `nil` if the server does not send it.
    public var expectedReceivedByteCount: Int64?

    init() {}
}

/// The bytes of a request's body for the record, in the order of sending.
final class SentBytes: Sendable {
    private let read: Locked<(_ count: Int) -> Data?>

    /// Files and streams are only read if `isWanted`.
    init?(of outgoing: inout OutgoingRequest, isWanted: Bool) {
        if var data = outgoing.data {
            read = Locked { count in
                guard data.count >= count else { return nil }
                defer { data.removeFirst(count) }
                return data.prefix(count)
            }
        } else if isWanted, case .file(let url) = outgoing.body, let file = try? FileHandle(forReadingFrom: url) {
            read = Locked { count in (try? file.read(upToCount: count)).flatMap { $0.count == count ? $0 : nil } }
        } else if isWanted, case .own = outgoing.body, let copy = StreamCopy(of: &outgoing.request) {
            read = Locked(copy.next)
        } else {
            return nil
        }
    }

    /// Returns `nil` if a redirect sends the body again.
    func next(_ count: Int) -> Data? { read.withLock { $0(count) } }
}

#if canImport(FoundationNetworking)
/// Keeps the bytes that were read, at most a buffer: URLSession reports each read on the same queue.
final class StreamCopy: InputStream {
    private let inner: InputStream
    private var seen = Data()

    init?(of request: inout URLRequest) {
        guard let stream = request.httpBodyStream else { return nil }
        inner = stream
        super.init(data: Data())
        request.httpBodyStream = self
    }

    func next(_ count: Int) -> Data? {
        guard seen.count >= count else { return nil }
        defer { seen.removeFirst(count) }
        return seen.prefix(count)
    }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
        let count = inner.read(buffer, maxLength: length)
        if count > 0 { seen.append(buffer, count: count) }
        return count
    }

    override var hasBytesAvailable: Bool { inner.hasBytesAvailable }
    override var streamStatus: Stream.Status { inner.streamStatus }
    override var streamError: (any Error)? { inner.streamError }
    override func open() { inner.open() }
    override func close() { inner.close() }
}
#else
/// CFNetwork needs more of a stream than a Swift subclass can provide. Only the length is recorded.
final class StreamCopy {
    init?(of request: inout URLRequest) { return nil }

    func next(_ count: Int) -> Data? { nil }
}
#endif
