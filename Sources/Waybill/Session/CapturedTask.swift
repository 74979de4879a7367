public import Foundation
import WaybillCore

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A request of a ``CapturedSession`` that can be started, watched and canceled.
///
/// ## Usage
///
/// ```swift
/// let task = transactions.session.dataTask(with: url) { data, response, error in show(data) }
/// task.resume()
/// ```
///
/// Nothing is sent or recorded before it is resumed; a task that is let go of before that is gone, and one that was
/// resumed goes on by itself.
public final class CapturedTask: Sendable {
    private enum State {
        case suspended, starting, canceled
        case started(HTTPCall)
    }

    private let open: @Sendable () -> HTTPCall
    private let makeSink: @Sendable () -> any BodySink
    private let state = Locked(State.suspended)

    /// - Parameters:
    ///   - open: Records the exchange and makes it, once at most.
    ///   - sink: Makes what gets the answer, once at most.
    init(open: @escaping @Sendable () -> HTTPCall, sink: @escaping @Sendable () -> any BodySink) {
        self.open = open
        makeSink = sink
    }

    /// Sends the request; only the first call does, and none after ``cancel()``.
    public func resume() {
        let isFirst = state.withLock { state in
            guard case .suspended = state else { return false }
            state = .starting
            return true
        }
        guard isFirst else { return }
        let exchange = open()
        let isWanted = state.withLock { state in
            guard case .starting = state else { return false }
            state = .started(exchange)
            return true
        }
        if !isWanted { exchange.cancel() }
        exchange.start(into: makeSink())
    }

    /// Ends it with `URLError.cancelled`, unless it has ended; never waits, from any thread, at any time.
    public func cancel() {
        let (exchange, isSuspended): (HTTPCall?, Bool) = state.withLock { state in
            switch state {
            case .suspended:
                state = .canceled
                return (nil, true)
            case .starting:
                state = .canceled
                return (nil, false)
            case .started(let exchange): return (exchange, false)
            case .canceled: return (nil, false)
            }
        }
        exchange?.cancel()
        if isSuspended { makeSink().ended(.failure(URLError(.cancelled))) }
    }

    /// How far it is.
    public var progress: TransferProgress {
        guard case .started(let exchange) = state.withLock({ $0 }) else { return TransferProgress() }
        return exchange.progress
    }
}

extension CapturedSession {
    /// The body of an answer in pieces, as they come; see ``CapturedSession/bytes(for:in:deadline:progress:)``.
    ///
    /// It can be read once. Its end is the end of the body; the error that kept the body from coming whole is thrown.
    public struct Bytes: AsyncSequence, Sendable {
        private let pieces: AsyncThrowingStream<Data, any Error>

        /// Starts an exchange and waits for the head of its answer.
        static func open(_ exchange: HTTPCall) async throws(URLError) -> (Bytes, URLResponse) {
            let (pieces, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
            continuation.onTermination = { _ in exchange.cancel() }
            let response = try await exchange.value { StreamSink(head: $0, pieces: continuation) }
            return (Bytes(pieces: pieces), response)
        }

        /// Reads the pieces.
        public struct AsyncIterator: AsyncIteratorProtocol {
            fileprivate var base: AsyncThrowingStream<Data, any Error>.AsyncIterator

            /// The next piece, never empty; nil after the last.
            ///
            /// - Throws: `URLError`: `.cancelled` when the task is canceled, else what ended the exchange early.
            public mutating func next() async throws -> Data? {
                if let piece = try await base.next() { return piece }
                // A canceled task ends the stream as if the body had been whole.
                if Task.isCancelled { throw URLError(.cancelled) }
                return nil
            }
        }

        /// Makes the iterator; one only reads the body.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(base: pieces.makeAsyncIterator()) }
    }
}

/// Hands out the body as it comes.
private final class StreamSink: BodySink {
    private var head: (@Sendable (Result<URLResponse, URLError>) -> Void)?
    private let pieces: AsyncThrowingStream<Data, any Error>.Continuation

    init(
        head: @escaping @Sendable (Result<URLResponse, URLError>) -> Void,
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

/// What a request can be made of: a `URLRequest`, a `URL`, or a URL's text.
public protocol RequestTarget: Sendable {
    /// The request; nil where the text is no URL.
    var urlRequest: URLRequest? { get }
}

extension URLRequest: RequestTarget {
    /// The request itself.
    public var urlRequest: URLRequest? { self }
}

extension URL: RequestTarget {
    /// A `GET`.
    public var urlRequest: URLRequest? { URLRequest(url: self) }
}

extension String: RequestTarget {
    /// A `GET`; nil where this is no URL.
    public var urlRequest: URLRequest? { URL(string: self).map { URLRequest(url: $0) } }
}
