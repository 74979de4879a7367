import Dispatch
import Foundation
import WaybillCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One request and what became of it, told exactly once: the first of answered, failed, canceled and too late.
///
/// It stands between the transport and those who want to know: the record, the progress, and the sink that makes of the
/// answer what was asked for.
final class HTTPCall: HTTPEvents {
    private enum Stage {
        case prepared, starting, running, ended
        /// Ended from outside before the transport's `start` had returned: it has to be canceled then.
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

    /// Makes an exchange that has not begun.
    ///
    /// - Parameters:
    ///   - outgoing: Looked at only; the transport has its own.
    ///   - transport: Takes the request there.
    ///   - redirects: What is done about a 3xx that names another place.
    ///   - deadline: The longest it may take from its start; nil for no limit but the transport's own.
    ///   - record: Told all that happens.
    ///   - sentBytes: The bytes of the request's body, for the record; nil: it is told their number.
    ///   - progress: Called after each step, where the transport tells of it; nil: not called.
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

    /// How far it is.
    var progress: TransferProgress { state.withLock { $0.progress } }

    /// Sends the request, once; sends nothing where the exchange was canceled before.
    ///
    /// - Parameter sink: Gets the answer. Its `ended` is called once: on the transport's thread, the one that cancels,
    ///   or the deadline's queue.
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
        if outgoing.data?.isEmpty == true { record.sends(byteCount: 0) }
        // Without the lock held: to make a task waits for URLSession's queue, and `cancel()` must never wait for that.
        transport.start(telling: self)
        let isAbandoned = state.withLock { state in
            if state.stage == .starting { state.stage = .running }
            return state.stage == .abandoned
        }
        if isAbandoned { transport.cancel() }
    }

    /// Ends the exchange with `.cancelled`, unless it has ended; never waits.
    func cancel() { end(URLError(.cancelled)) }

    private func makeTimer(_ deadline: Duration) -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(queue: .global())
        timer.schedule(deadline: .now() + min(deadline.timeInterval, 1e9))
        timer.setEventHandler { [weak self] in self?.end(URLError(.timedOut)) }
        return timer
    }

    // MARK: What the transport tells

    func sent(byteCount: Int64, expected: Int64?) {
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

    func responded(_ response: URLResponse) {
        let progress = step { state in
            state.response = response
            state.progress.expectedReceivedByteCount =
                response.expectedContentLength >= 0 ? response.expectedContentLength : nil
            state.sink?.responded(response)
        }
        guard let progress else { return }
        if let response = ExchangeResponse(response) { record.responded(response) }
        record.received(byteCount: 0)  // a body of nothing is never told of
        tellProgress?(progress)
    }

    func received(_ bytes: Data) {
        var failure: URLError?
        let progress = step { state in
            state.progress.receivedByteCount += Int64(bytes.count)
            do { try state.sink?.received(bytes) } catch {
                failure =
                    error as? URLError ?? URLError(.cannotWriteToFile, userInfo: [NSUnderlyingErrorKey: error])
            }
        }
        guard let progress else { return }
        record.received(bytes)
        if let failure { return end(failure) }
        tellProgress?(progress)
    }

    func measured(_ measurements: TransferMeasurements) { record.measured(measurements) }

    func ended(_ error: URLError?) { end(error, byTransport: true) }

    /// Takes a step, unless the exchange has ended; gives how far it is then. The lock keeps the sink's calls apart
    /// from its end.
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
    /// Sends the request and waits for its end, which comes at once when the task is canceled.
    ///
    /// - Parameter sink: Makes what gets the answer and hands over what it made of it.
    func value<Value: Sendable>(
        into sink: (@escaping @Sendable (Result<Value, URLError>) -> Void) -> any BodySink
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
    /// In seconds, as Foundation and Dispatch take it.
    var timeInterval: Double { self / .seconds(1) }
}

/// How far an exchange is, in bytes of its bodies.
public struct TransferProgress: Hashable, Sendable {
    /// Bytes of the request's body that were sent; a redirect that asks for the body again counts it again.
    public var sentByteCount: Int64 = 0
    /// Of how many in all; nil where that is not known, as of a stream.
    public var expectedSentByteCount: Int64?
    /// Bytes of the response's body that came, decoded.
    public var receivedByteCount: Int64 = 0
    /// Of how many in all, before they were decoded; nil where the server does not say.
    public var expectedReceivedByteCount: Int64?

    init() {}
}

/// The bytes of a request's body once more, in the order in which they are sent: for the record, where it keeps bodies.
final class SentBytes: Sendable {
    private enum Origin {
        case data(Data)
        case file(FileHandle)
        case stream(StreamCopy)
    }

    private let origin: Locked<Origin>

    /// Prepares to see the body of a request, whose stream is replaced by one that is seen through; nil where there is
    /// none to be seen.
    ///
    /// - Parameter isWanted: Whether files and streams are worth the trouble.
    init?(of outgoing: inout OutgoingRequest, isWanted: Bool) {
        if let data = outgoing.data {
            origin = Locked(.data(data))
        } else if isWanted, case .file(let url) = outgoing.body, let file = try? FileHandle(forReadingFrom: url) {
            origin = Locked(.file(file))
        } else if isWanted, case .own = outgoing.body, let copy = StreamCopy(of: &outgoing.request) {
            origin = Locked(.stream(copy))
        } else {
            return nil
        }
    }

    /// The next bytes; nil where they are not to be had, as when a redirect asks for the body again.
    func next(_ count: Int) -> Data? {
        origin.withLock { origin in
            switch origin {
            case .data(let data):
                guard data.count >= count else { return nil }
                origin = .data(data.dropFirst(count))
                return data.prefix(count)
            case .file(let file): return (try? file.read(upToCount: count)).flatMap { $0.count == count ? $0 : nil }
            case .stream(let copy): return copy.next(count)
            }
        }
    }
}

#if canImport(FoundationNetworking)
/// A stream that passes on another, and remembers what was read until it was asked for: a buffer's worth, since
/// URLSession tells of every read, on the queue where it reads.
final class StreamCopy: InputStream {
    private let inner: InputStream
    private var seen = Data()

    /// Takes the place of a request's stream; nil where it has none.
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
/// Streams cannot be seen through on Apple platforms: CFNetwork asks of them what a subclass in Swift cannot give.
/// Their length is recorded.
final class StreamCopy {
    init?(of request: inout URLRequest) { return nil }

    func next(_ count: Int) -> Data? { nil }
}
#endif
