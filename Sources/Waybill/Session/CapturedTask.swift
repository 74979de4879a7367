public import Foundation
import WaybillCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request of a ``CapturedSession`` that can be started, watched and cancelled.
///
/// ## Usage
///
/// ```swift
/// let task = transactions.session.dataTask(with: url) { data, response, error in show(data) }
/// task.resume()
/// ```
///
/// The request is sent and recorded when you resume it. Then it runs to its end without a reference.
public final class CapturedTask: Sendable {
    private struct State {
        var makeSink: (@Sendable () -> any BodySink)?
        var call: HTTPCall?
        var isCancelled = false
    }

    private let open: @Sendable () -> HTTPCall
    private let state: Locked<State>

    init(open: @escaping @Sendable () -> HTTPCall, sink: @escaping @Sendable () -> any BodySink) {
        self.open = open
        state = Locked(State(makeSink: sink))
    }

    /// Sends the request. Only the first call counts, and none after ``cancel()``.
    public func resume() {
        let (makeSink, isCancelled) = state.withLock { ($0.makeSink.take(), $0.isCancelled) }
        guard let makeSink else { return }
        guard !isCancelled else { return makeSink().ended(.failure(URLError(.cancelled))) }
        let call = open()
        let isUnwanted = state.withLock { state in
            state.call = call
            return state.isCancelled
        }
        if isUnwanted { call.cancel() }
        call.start(into: makeSink())
    }

    /// Ends the request with `URLError.cancelled`, unless it has ended. Never waits, and is thread-safe.
    public func cancel() {
        let call = state.withLock { state in
            state.isCancelled = true
            return state.call
        }
        call?.cancel()
        resume()  // only tells the handler
    }

    /// The progress of the request and its response.
    public var progress: TransferProgress { state.withLock { $0.call }?.progress ?? TransferProgress() }
}

extension CapturedSession {
    /// The body of a response in pieces. You can read it once. It throws the error of an incomplete body.
    public struct Bytes: AsyncSequence, AsyncIteratorProtocol, Sendable {
        private let pieces: AsyncThrowingStream<Data, any Error>

        static func open(_ exchange: HTTPCall) async throws(URLError) -> (Bytes, URLResponse) {
            let (pieces, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
            continuation.onTermination = { _ in exchange.cancel() }
            let response = try await exchange.value { StreamSink(head: $0, pieces: continuation) }
            return (Bytes(pieces: pieces), response)
        }

        /// Returns the next piece, never empty; `nil` after the last. Throws `URLError`.
        public mutating func next() async throws -> Data? {
            var iterator = pieces.makeAsyncIterator()
            if let piece = try await iterator.next() { return piece }
            // A cancelled task ends the stream as if the body were complete.
            if Task.isCancelled { throw URLError(.cancelled) }
            return nil
        }

        /// Returns the iterator.
        public func makeAsyncIterator() -> Bytes { self }
    }
}

private final class StreamSink: BodySink {
    private var head: HTTPCall.Completion<URLResponse>?
    private let pieces: AsyncThrowingStream<Data, any Error>.Continuation

    init(
        head: @escaping HTTPCall.Completion<URLResponse>,
        pieces: AsyncThrowingStream<Data, any Error>.Continuation
    ) {
        self.head = head
        self.pieces = pieces
    }

    func responded(_ response: URLResponse) { tellHead(.success(response)) }

    func received(_ bytes: Data) { if !bytes.isEmpty { pieces.yield(bytes) } }

    func ended(_ answer: Result<URLResponse, URLError>) {
        tellHead(answer)
        switch answer {
        case .success: pieces.finish()
        case .failure(let error): pieces.finish(throwing: error)
        }
    }

    private func tellHead(_ answer: Result<URLResponse, URLError>) {
        head?(answer)
        head = nil
    }
}
