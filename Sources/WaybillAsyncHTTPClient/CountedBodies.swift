#if AsyncHTTPClient
import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Waybill
import WaybillCore

/// Records a response's body while the app reads it, and finishes the exchange at its end.
private struct CountedResponseBody: AsyncSequence, Sendable {
    let base: HTTPClientResponse.Body
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

/// Cancels the exchange when the last reader releases an unread body. Only the first end of an exchange has an effect.
private final class Abandonment: Sendable {
    let exchange: ExchangeRecorder
    /// Retained, because a released response must not cancel its reader.
    private let outer: Abandonment?

    init(_ exchange: ExchangeRecorder, inside outer: Abandonment? = nil) {
        (self.exchange, self.outer) = (exchange, outer)
    }

    deinit { exchange.cancel() }
}

extension HTTPClientRequest {
    func counted(by exchange: ExchangeRecorder, isFirst: Bool) -> HTTPClientRequest {
        guard exchange.isRecorded, let body, let length = body.statedLength else { return self }
        let counted = body.map { (bytes: ByteBuffer) -> ByteBuffer in
            // A redirect repeats the body, and only its length is recorded again.
            if isFirst {
                bytes.withUnsafeReadableBytes { exchange.sent($0) }
            } else {
                exchange.sent(byteCount: Int64(bytes.readableBytes))
            }
            return bytes
        }
        var copy = self
        switch length {
        case .bytes(0): exchange.expectToSend(byteCount: 0)
        case .bytes(let count): copy.body = .stream(counted, length: .known(count))
        case .unknown: copy.body = .stream(counted, length: .unknown)
        }
        return copy
    }
}

extension HTTPClientResponse {
    /// Returns a copy that records the bytes as they are read. Finishes the exchange if there is no body.
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
    var recorded: any Error { (self as? HTTPClientError).map(NamedClientError.init) ?? self }
}

private struct NamedClientError: RecordableError, CustomStringConvertible {
    static let recordedDomain = "AsyncHTTPClient.HTTPClientError"

    let error: HTTPClientError

    var description: String { error.description }
    var recordedCode: Int { 0 }
    var recordedAsCancelled: Bool { error == .cancelled }

    /// For example, `deadlineExceeded`, without the values in parentheses.
    var recordedName: String? {
        let name = error.description.drop { $0 != "." }.dropFirst().prefix { $0 != "(" }
        return name.isEmpty ? nil : String(name)
    }
}

// Reads values that async-http-client 1.37 does not make public, by reflection. If another version lacks them, the
// fallbacks are safe: no header field, no redirect with a body, and no byte counts.

extension HTTPClient {
    var leavesRedirects: Bool {
        Mirror(reflecting: self).descendant("configuration", "redirectConfiguration", "mode").map { "\($0)" }
            == "disallow"
    }
}

extension HTTPClientRequest.Body {
    enum StatedLength { case bytes(Int64), unknown }

    /// Describes a readable body. Bodies of the unstable API write themselves, and trap when iterated.
    private var mode: Mirror.Child? {
        let mode = Mirror(reflecting: self).descendant("mode").flatMap { Mirror(reflecting: $0).children.first }
        return ["byteBuffer", "sequence", "asyncSequence"].contains(mode?.label) ? mode : nil
    }

    var statedLength: StatedLength? {
        guard let mode else { return nil }
        if let bytes = mode.value as? ByteBuffer { return .bytes(Int64(bytes.readableBytes)) }
        guard let length = Mirror(reflecting: mode.value).descendant("length") else { return nil }
        if let count = Mirror(reflecting: length).descendant("known") as? Int64 { return .bytes(count) }
        return "\(length)" == "unknown" ? .unknown : nil
    }

    var canBeSentAgain: Bool {
        guard let mode else { return false }
        return mode.value is ByteBuffer
            || Mirror(reflecting: mode.value).descendant("canBeConsumedMultipleTimes") as? Bool == true
    }
}
#endif
