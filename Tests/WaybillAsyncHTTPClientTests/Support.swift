#if AsyncHTTPClient
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import TestSupport
import Tracing
import Waybill
import WaybillAsyncHTTPClient
import WaybillQueries
import WaybillTesting

enum Login: Int, UseCase {
    static let code = 0
    case initiated = 0
}

extension TransactionManager {
    /// Returns a manager whose requests to this machine by IP address carry the field.
    static func capturing(
        hosts: [String] = ["127.0.0.1"], traceContext: TraceContextPolicy = .off
    ) -> TransactionManager {
        .testing(correlatedHosts: hosts) { options in
            (options.diagnostics, options.server.traceContext) = ({ _ in }, traceContext)
        }
    }

    /// The only exchange of the only transaction; `nil` unless there is exactly one exchange.
    var exchange: TransactionRecord.Exchange? {
        get throws { try exchanges.count == 1 ? exchanges.first : nil }
    }
}

extension HTTPClient.Configuration {
    /// The configuration from the guide.
    static var leavingRedirects: HTTPClient.Configuration {
        HTTPClient.Configuration(redirectConfiguration: .disallow)
    }
}

/// Runs a test's body with a new client.
@discardableResult
func withClient<Result: Sendable>(
    _ configuration: HTTPClient.Configuration = .leavingRedirects, _ body: (HTTPClient) async throws -> Result
) async throws -> Result {
    let client = HTTPClient(configuration: configuration)
    let result: Swift.Result<Result, any Error>
    do { result = .success(try await body(client)) } catch { result = .failure(error) }
    try await client.shutdown()
    return try result.get()
}

extension HTTPClientRequest {
    init(_ url: URL, _ method: HTTPMethod = .GET) {
        self.init(url: url.absoluteString)
        self.method = method
    }
}

extension LoopbackServer.Request {
    /// The transaction's field, parsed.
    var told: TransactionHeader? { header("Waybill-Transaction").flatMap { TransactionHeader(parsing: $0) } }
}

/// A body of `count` pieces.
struct Pieces: AsyncSequence, Sendable {
    let piece: ByteBuffer
    let count: Int
    /// The error thrown after the last piece; `nil` for none.
    var error: (any Error)?

    struct AsyncIterator: AsyncIteratorProtocol {
        let pieces: Pieces
        var given = 0

        mutating func next() async throws -> ByteBuffer? {
            guard given < pieces.count else {
                if let error = pieces.error { throw error }
                return nil
            }
            given += 1
            return pieces.piece
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pieces: self) }
}
#endif
