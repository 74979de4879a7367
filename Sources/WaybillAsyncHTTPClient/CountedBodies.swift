#if AsyncHTTPClient
import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Waybill
import WaybillCore

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

extension HTTPHeaders {
    var recorded: [HeaderField] { map { HeaderField(name: $0.name, value: $0.value) } }
}

extension ExchangeResponse {
    init(_ response: HTTPClientResponse) {
        self.init(
            status: Int(response.status.code), headerFields: response.headers.recorded,
            httpVersion: response.version.major > 1
                ? "\(response.version.major)" : "\(response.version.major).\(response.version.minor)")
    }
}

extension Error {
    /// As an exchange ends with it.
    var recorded: any Error { (self as? HTTPClientError).map(NamedClientError.init) ?? self }
}

/// An error of the client by its name, which is the case of an enum that is not to be seen.
private struct NamedClientError: TransactionError, CustomStringConvertible {
    static let recordedDomain = "AsyncHTTPClient.HTTPClientError"

    let error: HTTPClientError

    var description: String { error.description }
    /// There are no numbers.
    var recordedCode: Int { 0 }
    var recordedAsCanceled: Bool { error == .cancelled }

    /// `HTTPClientError.deadlineExceeded`; what stands behind it in brackets is a value.
    var recordedName: String? {
        let name = error.description.drop { $0 != "." }.dropFirst().prefix { $0 != "(" }
        return name.isEmpty ? nil : String(name)
    }
}

// What async-http-client 1.37 knows and has no public name for is read off its values. Where a version has it elsewhere,
// nothing is found, and what is done then is safe: no header field, no redirect with a body, a body that is not counted.

extension HTTPClient {
    /// Whether a 3xx is handed out as it came.
    var leavesRedirects: Bool {
        Mirror(reflecting: self).descendant("configuration", "redirectConfiguration", "mode").map { "\($0)" }
            == "disallow"
    }
}

extension HTTPClientRequest.Body {
    enum StatedLength { case bytes(Int64), unknown }

    /// How it is given; nil where that cannot be seen, or is none that can be read from outside: its unstable interface
    /// has bodies that write themselves, which trap when they are iterated.
    private var mode: Mirror.Child? {
        let mode = Mirror(reflecting: self).descendant("mode").flatMap { Mirror(reflecting: $0).children.first }
        return ["byteBuffer", "sequence", "asyncSequence"].contains(mode?.label) ? mode : nil
    }

    /// How long it says that it is; nil where that cannot be seen.
    var statedLength: StatedLength? {
        guard let mode else { return nil }
        if let bytes = mode.value as? ByteBuffer { return .bytes(Int64(bytes.readableBytes)) }
        guard let length = Mirror(reflecting: mode.value).descendant("length") else { return nil }
        if let count = Mirror(reflecting: length).descendant("known") as? Int64 { return .bytes(count) }
        return "\(length)" == "unknown" ? .unknown : nil
    }

    /// Whether it gives the same bytes a second time.
    var canBeSentAgain: Bool {
        guard let mode else { return false }
        return mode.value is ByteBuffer
            || Mirror(reflecting: mode.value).descendant("canBeConsumedMultipleTimes") as? Bool == true
    }
}
#endif
