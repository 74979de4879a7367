public import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The body of an answer in pieces, as they come; see ``CapturedSession/bytes(for:in:deadline:progress:)``.
///
/// It can be read once. Its end is the end of the body; the error that kept the body from coming whole is thrown.
public struct CapturedBytes: AsyncSequence, Sendable {
    private let pieces: AsyncThrowingStream<Data, any Error>

    /// Starts an exchange and waits for the head of its answer.
    static func open(_ exchange: HTTPCall) async throws(URLError) -> (CapturedBytes, URLResponse) {
        let (pieces, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
        continuation.onTermination = { _ in exchange.cancel() }
        let response = try await exchange.value { StreamSink(head: $0, pieces: continuation) }
        return (CapturedBytes(pieces: pieces), response)
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
