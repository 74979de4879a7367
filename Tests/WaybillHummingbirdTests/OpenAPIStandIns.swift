#if Hummingbird
import Foundation
import HTTPTypes

// The parts of OpenAPIRuntime that the guide uses.

struct Broken: Error {}

final class HTTPBody: AsyncSequence, Sendable {
    typealias ByteChunk = ArraySlice<UInt8>
    typealias Element = ByteChunk
    enum Length: Sendable { case known(Int64), unknown }
    enum IterationBehavior: Sendable { case single, multiple }

    let length: Length
    let iterationBehavior: IterationBehavior
    private let make: @Sendable () -> AsyncIterator

    convenience init(_ chunks: [String], error: (any Error)? = nil) {
        self.init(
            AsyncThrowingStream<ByteChunk, any Error> { continuation in
                for chunk in chunks { continuation.yield(ArraySlice(chunk.utf8)) }
                continuation.finish(throwing: error)
            }, length: .unknown, iterationBehavior: .single)
    }

    init<Bytes: AsyncSequence & Sendable>(
        _ bytes: Bytes, length: Length, iterationBehavior: IterationBehavior
    ) where Bytes.Element == ByteChunk {
        (self.length, self.iterationBehavior) = (length, iterationBehavior)
        make = {
            var iterator = bytes.makeAsyncIterator()
            return AsyncIterator { try await iterator.next() }
        }
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        let produce: () async throws -> ByteChunk?
        mutating func next() async throws -> ByteChunk? { try await produce() }
    }

    func makeAsyncIterator() -> AsyncIterator { make() }
}

protocol ClientMiddleware: Sendable {
    func intercept(
        _ request: HTTPRequest, body: HTTPBody?, baseURL: URL, operationID: String,
        next: @Sendable (HTTPRequest, HTTPBody?, URL) async throws -> (HTTPResponse, HTTPBody?)
    ) async throws -> (HTTPResponse, HTTPBody?)
}

protocol ClientTransport: Sendable {
    func send(_ request: HTTPRequest, body: HTTPBody?, baseURL: URL, operationID: String) async throws -> (
        HTTPResponse, HTTPBody?
    )
}

/// A client with an operation, like those that the generator makes.
struct Client {
    let serverURL: URL
    let transport: any ClientTransport
    let middlewares: [any ClientMiddleware]

    func order(_ body: HTTPBody?) async throws -> (HTTPResponse, HTTPBody?) {
        let request = HTTPRequest(method: .post, scheme: nil, authority: nil, path: "/orders?token=hidden")
        guard let middleware = middlewares.first else { throw Broken() }
        return try await middleware.intercept(request, body: body, baseURL: serverURL, operationID: "order") {
            [transport] request, body, url in
            try await transport.send(request, body: body, baseURL: url, operationID: "order")
        }
    }
}
#endif
