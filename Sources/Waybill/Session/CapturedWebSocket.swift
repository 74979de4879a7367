public import Foundation
import WaybillCore

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A WebSocket that is recorded as one exchange, from its handshake to its close code.
///
/// It has the async methods of `URLSessionWebSocketTask`, and ``messages``. Waybill records the handshake, the number,
/// size and time of messages, pings, and the close code and reason, when the WebSocket ends. With
/// ``NetworkOptions/bodies``, it also stores messages: text by default, or the types `text/plain` and
/// `application/octet-stream` that the policy names. Each direction has one body: a sequence of JSON texts (RFC 7464),
/// such as `{"number":3,"text":"..."}`, with `base64` for binary messages and `cut` for truncated ones.
///
/// ## Usage
///
/// ```swift
/// let socket = transactions.session.webSocketTask(with: orderURL, in: checkout)
/// socket.resume()
/// try await socket.send(.string(#"{"subscribe":"state"}"#))
/// for try await message in socket.messages { show(message) }
/// socket.cancel(with: .normalClosure, reason: nil)
/// ```
///
/// When the last reference is released, it closes as going away (1001) and is recorded as cancelled. Without WebSockets
/// in Foundation, as on some Linux systems, every call throws `URLError.unsupportedURL`, and the exchange fails.
public final class CapturedWebSocket: Sendable {
    private struct State {
        var open: (@Sendable () -> Opened)?
        var opened: Opened?
        var isCancelled = false
        var closeCode: Int?
        var closeReason: Data?
        var readers: [(id: Int, continuation: Reader)] = []
        var readerCount = 0
        var isReceiving = false
        var unread: [URLSessionWebSocketTask.Message] = []
        var maximumMessageSize = 1 << 20
    }

    private typealias Reader = CheckedContinuation<Result<URLSessionWebSocketTask.Message, any Error>, Never>

    struct Opened: Sendable {
        var carrier: any WebSocketCarrier
        var record: ExchangeRecorder
    }

    private let state: Locked<State>
    /// Concurrent callers wait for the first one.
    private let opening = Locked(())

    init(open: @escaping @Sendable () -> Opened) { state = Locked(State(open: open)) }

    deinit {
        guard let opened = state.withLock({ $0.isCancelled ? nil : $0.opened }) else { return }
        opened.record.cancel()
        opened.carrier.close(.goingAway, reason: nil)
    }

    /// Starts the handshake, as does the first message that you send or wait for. Only the first call counts.
    public func resume() { _ = opened }

    /// Sends a message, and returns when the system has accepted it. Throws errors of `URLSession`, or
    /// `URLError.cancelled` as soon as the task is cancelled, although the message may still be sent.
    public func send(_ message: URLSessionWebSocketTask.Message) async throws {
        guard let opened else { throw URLError(.cancelled) }
        opened.record.passed(message, isSent: true)
        try await once { done in opened.carrier.send(message, done) }
    }

    /// Waits for the next message. Concurrent calls receive messages in order.
    ///
    /// - Throws: Errors of `URLSession`, also when the other side closed; see ``closeCode``. `URLError.cancelled` as
    ///   soon as the task is cancelled; the next call then receives its message.
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

    /// Sends a ping and waits for its pong. Throws `URLError.cancelled` as soon as the task is cancelled.
    public func sendPing() async throws {
        guard let opened else { throw URLError(.cancelled) }
        opened.record.pinged()
        try await once { done in opened.carrier.ping(done) }
    }

    /// Closes the WebSocket, with a reason of at most 123 bytes of UTF-8. Never waits, and is thread-safe.
    public func cancel(with closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?) {
        let (opened, isFirst, readers) = state.withLock { state in
            let isFirst = !state.isCancelled
            defer { (state.isCancelled, state.open, state.readers) = (true, nil, []) }
            if isFirst, state.closeCode == nil { (state.closeCode, state.closeReason) = (closeCode.rawValue, reason) }
            return (state.opened, isFirst, state.readers)
        }
        guard isFirst else { return }
        opened?.record.closed(code: closeCode.rawValue, reason: reason.map { String(decoding: $0, as: UTF8.self) })
        opened?.carrier.close(closeCode, reason: reason)
        for reader in readers { reader.continuation.resume(returning: .failure(URLError(.cancelled))) }
    }

    /// Closes the WebSocket as going away (1001).
    public func cancel() { cancel(with: .goingAway, reason: nil) }

    /// The close code of either side. `.invalid` without a close frame, and for codes that the platform does not know.
    public var closeCode: URLSessionWebSocketTask.CloseCode {
        state.withLock { $0.closeCode }.flatMap { .init(rawValue: $0) } ?? .invalid
    }

    /// The reason in the close frame; `nil` without one.
    public var closeReason: Data? { state.withLock { $0.closeReason } }

    /// The maximum size of a received message in bytes; a longer one is an error. Default: 1 MiB, as in URLSession.
    public var maximumMessageSize: Int {
        get { state.withLock { $0.maximumMessageSize } }
        set {
            let carrier = state.withLock { state in
                state.maximumMessageSize = newValue
                return state.opened?.carrier
            }
            carrier?.limit(messageSize: newValue)
        }
    }

    /// The received messages, until the WebSocket closes.
    public var messages: Messages { Messages(socket: self) }

    /// The received messages, in order. After a normal close the sequence ends; otherwise it throws.
    public struct Messages: AsyncSequence, AsyncIteratorProtocol, Sendable {
        fileprivate let socket: CapturedWebSocket

        /// Returns the iterator.
        public func makeAsyncIterator() -> Messages { self }

        /// Returns the next message; `nil` after the last.
        public mutating func next() async throws -> URLSessionWebSocketTask.Message? {
            do { return try await socket.receive() } catch {
                let code = socket.state.withLock { $0.closeCode }
                if !Task.isCancelled, let code, Fact.WebSocket.isNormal(closeCode: code) { return nil }
                throw error
            }
        }
    }

    // MARK: On the way

    /// Opening calls the app's hook, which may use this socket and then finds it not opened.
    private var opened: Opened? {
        if Self.beingOpened == ObjectIdentifier(self) { return state.withLock { $0.opened } }
        return opening.withLock { _ in Self.$beingOpened.withValue(ObjectIdentifier(self)) { openedOnce } }
    }

    @TaskLocal private static var beingOpened: ObjectIdentifier?

    private var openedOnce: Opened? {
        let (known, open) = state.withLock { ($0.opened, $0.open.take()) }
        guard let open else { return known }
        let opened = open()
        let (isCancelled, size) = state.withLock { state in
            if !state.isCancelled { state.opened = opened }
            return (state.isCancelled, state.maximumMessageSize)
        }
        if isCancelled {
            opened.record.cancel()
            return nil
        }
        opened.carrier.limit(messageSize: size)
        // Don't retain the socket, which closes when it is released.
        opened.carrier.start { [weak self] event in
            Self.tell(opened.record, event)
            self?.noted(event)
        }
        return opened
    }

    private func wait(_ id: Int, _ reader: Reader, _ opened: Opened) {
        enum Step { case done(Result<URLSessionWebSocketTask.Message, any Error>), ask, wait }
        let isCancelled = Task.isCancelled
        let step: Step = state.withLock { state in
            if isCancelled || state.isCancelled { return .done(.failure(URLError(.cancelled))) }
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

    private func once(_ body: (@escaping @Sendable (Result<Void, any Error>) -> Void) -> Void) async throws {
        let waiting = Locked<CheckedContinuation<Result<Void, any Error>, Never>?>(nil)
        let resume = { @Sendable (result: Result<Void, any Error>) in
            let continuation = waiting.withLock { $0.take() }
            continuation?.resume(returning: result)
        }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                waiting.withLock { $0 = continuation }
                body(resume)
                // The task was cancelled before the continuation was set.
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
