public import Foundation
import WaybillCore

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A WebSocket that is recorded as one exchange, from its handshake to its close code.
///
/// It has what `URLSessionWebSocketTask` has, in the async forms, and ``messages`` besides. Recorded are the request and
/// the response of the handshake, how many messages and bytes went each way, when, pings, the close code and its reason.
/// What messages say is kept where ``NetworkOptions/bodies`` asks for bodies, on the device alone: text where no types
/// are named or `text/plain` is, binary where `application/octet-stream` is. All of it is recorded when the WebSocket
/// ends: of one whose process dies, the opening is known, and what was kept of the messages until then.
///
/// ## Usage
///
/// ```swift
/// let socket = transactions.session.webSocketTask(with: "wss://api.example.com/orders/17", in: checkout)
/// socket.resume()
/// try await socket.send(.string(#"{"subscribe":"state"}"#))
/// for try await message in socket.messages { show(message) }
/// socket.cancel(with: .normalClosure, reason: nil)
/// ```
///
/// Where nothing holds it any longer, it is closed as going away (1001), and recorded as canceled. Not every Foundation
/// on Linux has WebSockets; where it has none, every call throws `URLError.unsupportedURL`, with a sentence that says
/// so, and the exchange is recorded as failed.
public final class CapturedWebSocket: Sendable {
    private struct State {
        /// nil once it was resumed.
        var open: (@Sendable () -> Opened)?
        var opened: Opened?
        var isCanceled = false
        var closeCode: Int?
        var closeReason: Data?
        /// Who waits for a message, in order.
        var readers: [(id: Int, continuation: Reader)] = []
        var readerCount = 0
        /// Whether the carrier was asked for a message.
        var isReceiving = false
        /// A message whose reader was canceled.
        var unread: [URLSessionWebSocketTask.Message] = []
        var maximumMessageSize: Int?
    }

    private typealias Reader = CheckedContinuation<Result<URLSessionWebSocketTask.Message, any Error>, Never>

    /// What there is of it once its handshake has begun.
    struct Opened: Sendable {
        var carrier: any WebSocketCarrier
        var record: ExchangeRecorder
    }

    private let state: Locked<State>
    /// Held while it begins, so that who comes meanwhile finds it begun.
    private let opening = Locked(())

    /// - Parameter open: Records the exchange and makes what carries it, once at most.
    init(open: @escaping @Sendable () -> Opened) { state = Locked(State(open: open)) }

    deinit {
        guard let opened = state.withLock({ $0.isCanceled ? nil : $0.opened }) else { return }
        opened.record.cancel()
        opened.carrier.close(.goingAway, reason: nil)
    }

    /// Begins the handshake; only the first call does, and none after ``cancel(with:reason:)``. The first message that is
    /// sent or waited for does it, too.
    public func resume() { _ = opened }

    /// Sends a message; returns when it was handed over to the system.
    ///
    /// - Throws: What `URLSession` throws; `URLError.cancelled` as soon as the task is canceled, which does not take the
    ///   message back.
    public func send(_ message: URLSessionWebSocketTask.Message) async throws {
        guard let opened else { throw URLError(.cancelled) }
        opened.record.passed(message, isSent: true)
        try await once { done in opened.carrier.send(message, done) }
    }

    /// Waits for the next message.
    ///
    /// Of several that wait, each gets one, in order. A message that comes for one that was canceled is the next one's.
    ///
    /// - Throws: What `URLSession` throws, also when the other side has closed: see ``closeCode``; `URLError.cancelled`
    ///   as soon as the task is canceled.
    public func receive() async throws -> URLSessionWebSocketTask.Message {
        guard let opened else { throw URLError(.cancelled) }
        let id = state.withLock { state in
            state.readerCount += 1
            return state.readerCount
        }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in wait(id, continuation, opened) }
        } onCancel: {
            let reader = state.withLock { state in
                state.readers.firstIndex { $0.id == id }.map { state.readers.remove(at: $0).continuation }
            }
            reader?.resume(returning: .failure(URLError(.cancelled)))
        }
        return try result.get()
    }

    /// Sends a ping, and waits for its pong.
    ///
    /// - Throws: What `URLSession` throws; `URLError.cancelled` as soon as the task is canceled.
    public func sendPing() async throws {
        guard let opened else { throw URLError(.cancelled) }
        opened.record.pinged()
        try await once { done in opened.carrier.ping(done) }
    }

    /// Closes it, unless it has ended; never waits, from any thread, at any time.
    ///
    /// - Parameters:
    ///   - closeCode: Why.
    ///   - reason: The same in words: at most 123 bytes of UTF-8; nil for none.
    public func cancel(with closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?) {
        let (opened, isFirst, readers) = state.withLock { state in
            let isFirst = !state.isCanceled
            defer { (state.isCanceled, state.open, state.readers) = (true, nil, []) }
            if isFirst, state.closeCode == nil { (state.closeCode, state.closeReason) = (closeCode.rawValue, reason) }
            return (state.opened, isFirst, state.readers)
        }
        guard isFirst else { return }
        opened?.record.closed(code: closeCode.rawValue, reason: reason.map { String(decoding: $0, as: UTF8.self) })
        opened?.carrier.close(closeCode, reason: reason)
        for reader in readers { reader.continuation.resume(returning: .failure(URLError(.cancelled))) }
    }

    /// Closes it as going away (1001); as ``cancel(with:reason:)``.
    public func cancel() { cancel(with: .goingAway, reason: nil) }

    /// Why it was closed, by either side; `.invalid` while it is open, where no close frame came, and for a code that the
    /// platform has no name for.
    public var closeCode: URLSessionWebSocketTask.CloseCode {
        state.withLock { $0.closeCode }.flatMap { .init(rawValue: $0) } ?? .invalid
    }

    /// What the close frame said in words; nil where there was none, or it said nothing.
    public var closeReason: Data? { state.withLock { $0.closeReason } }

    /// The longest message that can be received, in bytes; a longer one is an error. Default: 1 MiB, as URLSession's.
    public var maximumMessageSize: Int {
        get { state.withLock { $0.opened?.carrier.maximumMessageSize ?? $0.maximumMessageSize } ?? 1 << 20 }
        set {
            let carrier = state.withLock { state in
                state.maximumMessageSize = newValue
                return state.opened?.carrier
            }
            carrier?.maximumMessageSize = newValue
        }
    }

    /// The messages that come, until it is closed.
    public var messages: Messages { Messages(socket: self) }

    /// The messages of a WebSocket, in order; see ``CapturedWebSocket/messages``.
    ///
    /// It ends when either side closes normally, or with a code of the app's own, and throws what ``receive()`` throws
    /// when it ends in another way.
    public struct Messages: AsyncSequence, AsyncIteratorProtocol, Sendable {
        fileprivate let socket: CapturedWebSocket

        /// Makes the iterator, which waits for one message at a time.
        public func makeAsyncIterator() -> Messages { self }

        /// The next message; nil after the last.
        public mutating func next() async throws -> URLSessionWebSocketTask.Message? {
            do { return try await socket.receive() } catch {
                let code = socket.state.withLock { $0.closeCode }
                if !Task.isCancelled, let code, Fact.WebSocket.isNormal(closeCode: code) { return nil }
                throw error
            }
        }
    }

    // MARK: On the way

    /// What there is of it, begun where it was not; nil where it was canceled before.
    ///
    /// Beginning asks the app whether and what to record of it; what the app does with the socket meanwhile finds it not
    /// begun.
    private var opened: Opened? {
        if Self.beingOpened == ObjectIdentifier(self) { return state.withLock { $0.opened } }
        return opening.withLock { _ in Self.$beingOpened.withValue(ObjectIdentifier(self)) { openedOnce } }
    }

    /// The socket whose handshake the current task begins.
    @TaskLocal private static var beingOpened: ObjectIdentifier?

    private var openedOnce: Opened? {
        let (known, open) = state.withLock { state in
            defer { state.open = nil }
            return (state.opened, state.open)
        }
        guard let open else { return known }
        let opened = open()
        let (isCanceled, size) = state.withLock { state in
            if !state.isCanceled { state.opened = opened }
            return (state.isCanceled, state.maximumMessageSize)
        }
        if isCanceled {
            opened.record.cancel()
            return nil
        }
        if let size { opened.carrier.maximumMessageSize = size }
        // Without holding the socket, so that it can be let go of.
        opened.carrier.start { [weak self] event in
            Self.tell(opened.record, event)
            self?.noted(event)
        }
        return opened
    }

    private func wait(_ id: Int, _ reader: Reader, _ opened: Opened) {
        enum Step { case done(Result<URLSessionWebSocketTask.Message, any Error>), ask, wait }
        let isCanceled = Task.isCancelled
        let step: Step = state.withLock { state in
            if isCanceled || state.isCanceled { return .done(.failure(URLError(.cancelled))) }
            if !state.unread.isEmpty { return .done(.success(state.unread.removeFirst())) }
            state.readers.append((id, reader))
            defer { state.isReceiving = true }
            return state.isReceiving ? .wait : .ask
        }
        switch step {
        case .done(let result): reader.resume(returning: result)
        case .ask: ask(opened)
        case .wait: break
        }
    }

    private func ask(_ opened: Opened) {
        opened.carrier.receive { [weak self] result in
            if case .success(let message) = result { opened.record.passed(message, isSent: false) }
            self?.came(result, opened)
        }
    }

    private func came(_ result: Result<URLSessionWebSocketTask.Message, any Error>, _ opened: Opened) {
        let (readers, asksAgain): ([Reader], Bool) = state.withLock { state in
            guard case .success(let message) = result else {
                // There will be no more messages to wait for.
                defer { (state.readers, state.isReceiving) = ([], false) }
                return (state.readers.map(\.continuation), false)
            }
            guard !state.readers.isEmpty else {
                state.unread.append(message)
                state.isReceiving = false
                return ([], false)
            }
            let reader = state.readers.removeFirst().continuation
            state.isReceiving = !state.readers.isEmpty
            return ([reader], state.isReceiving)
        }
        for reader in readers { reader.resume(returning: result) }
        if asksAgain { ask(opened) }
    }

    private func noted(_ event: WebSocketEvent) {
        guard case .closed(let code, let reason) = event else { return }
        state.withLock { state in
            if state.closeCode == nil { (state.closeCode, state.closeReason) = (code, reason) }
        }
    }

    private static func tell(_ record: ExchangeRecorder, _ event: WebSocketEvent) {
        switch event {
        case .opened(let response):
            record.responded(ExchangeResponse(response) ?? ExchangeResponse(status: 101))
            record.opensWebSocket()
        case .closed(let code, let reason):
            record.closed(code: code, reason: reason.map { String(decoding: $0, as: UTF8.self) })
        case .ended(let error, let response):
            if let response = ExchangeResponse(response) { record.responded(response) }
            if let error { record.fail(error) } else { record.finish() }
        case .measured(let measurements): record.measured(measurements)
        }
    }

    /// Waits for a closure to be called, which comes to nothing when the task is canceled.
    private func once(_ body: (@escaping @Sendable (Result<Void, any Error>) -> Void) -> Void) async throws {
        let waiting = Locked<CheckedContinuation<Result<Void, any Error>, Never>?>(nil)
        let resume = { @Sendable (result: Result<Void, any Error>) in
            let continuation = waiting.withLock { waiting in
                defer { waiting = nil }
                return waiting
            }
            continuation?.resume(returning: result)
        }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                waiting.withLock { $0 = continuation }
                body(resume)
                // Canceled before there was anything to resume.
                if Task.isCancelled { resume(.failure(URLError(.cancelled))) }
            }
        } onCancel: {
            resume(.failure(URLError(.cancelled)))
        }
        try result.get()
    }
}

extension ExchangeRecorder {
    fileprivate func passed(_ message: URLSessionWebSocketTask.Message, isSent: Bool) {
        let (bytes, isText): (Data, Bool) =
            if case .string(let text) = message { (Data(text.utf8), true) } else if case .data(let data) = message {
                (data, false)
            } else { (Data(), false) }
        if isSent { sent(message: bytes, isText: isText) } else { received(message: bytes, isText: isText) }
    }
}
