#if AsyncHTTPClient
import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Waybill

/// The body of a request, whose bytes are recorded as the client takes them.
private struct CountedRequestBody: AsyncSequence, Sendable {
    let base: HTTPClientRequest.Body
    let exchange: ExchangeRecorder
    /// Of a body that a redirect asks for once more, the length is recorded alone.
    let isFirst: Bool

    struct AsyncIterator: AsyncIteratorProtocol {
        var base: HTTPClientRequest.Body.AsyncIterator
        let exchange: ExchangeRecorder
        let isFirst: Bool

        mutating func next() async throws -> ByteBuffer? {
            guard let bytes = try await base.next() else { return nil }
            if isFirst {
                bytes.withUnsafeReadableBytes { exchange.sent($0) }
            } else {
                exchange.sent(byteCount: Int64(bytes.readableBytes))
            }
            return bytes
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(base: base.makeAsyncIterator(), exchange: exchange, isFirst: isFirst)
    }
}

/// The body of a response, whose bytes are recorded as they are read, and with whose end the exchange ends.
private struct CountedResponseBody: AsyncSequence, Sendable {
    let base: HTTPClientResponse.Body
    /// Until somebody reads.
    let unread: Abandonment

    struct AsyncIterator: AsyncIteratorProtocol {
        var base: HTTPClientResponse.Body.AsyncIterator
        let reading: Abandonment

        mutating func next() async throws -> ByteBuffer? {
            let exchange = reading.exchange
            do {
                guard let bytes = try await base.next() else {
                    exchange.finish()
                    return nil
                }
                bytes.withUnsafeReadableBytes { exchange.received($0) }
                return bytes
            } catch {
                exchange.fail(error.recorded)
                throw error
            }
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(base: base.makeAsyncIterator(), reading: Abandonment(unread.exchange, inside: unread))
    }
}

/// Cancels the exchange where the last one lets go of a body that has not been read to its end. Only the first end of an
/// exchange counts.
private final class Abandonment: Sendable {
    let exchange: ExchangeRecorder
    /// Kept, so that a response that is let go of does not end what is read.
    private let outer: Abandonment?

    init(_ exchange: ExchangeRecorder, inside outer: Abandonment? = nil) {
        (self.exchange, self.outer) = (exchange, outer)
    }

    deinit { exchange.cancel() }
}

extension HTTPClientRequest {
    /// The same, its bytes recorded as they are sent.
    func counted(by exchange: ExchangeRecorder, isFirst: Bool) -> HTTPClientRequest {
        guard exchange.isRecorded, let body, let length = body.statedLength else { return self }
        var copy = self
        switch length {
        case .bytes(0): exchange.sends(byteCount: 0)
        case .bytes(let count):
            copy.body = .stream(
                CountedRequestBody(base: body, exchange: exchange, isFirst: isFirst), length: .known(count))
        case .unknown:
            copy.body = .stream(
                CountedRequestBody(base: body, exchange: exchange, isFirst: isFirst), length: .unknown)
        }
        return copy
    }
}

extension HTTPClientResponse {
    /// The same, its bytes recorded as they are read; the exchange has ended where none will come.
    func counted(by exchange: ExchangeRecorder, method: HTTPMethod) -> HTTPClientResponse {
        guard exchange.isRecorded else { return self }
        exchange.received(byteCount: 0)
        if method == .HEAD || [204, 304].contains(status.code) || headers.first(name: "Content-Length") == "0" {
            exchange.finish()
            return self
        }
        var copy = self
        copy.body = .stream(CountedResponseBody(base: body, unread: Abandonment(exchange)))
        return copy
    }
}
#endif
