#if Hummingbird
import Foundation
import HTTPTypes
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting

/// The guide's middleware for generated clients, compiled and run with real HTTPTypes, and with substitutes that have
/// the signatures of swift-openapi-runtime 1.
@Suite(.timeLimit(.minutes(5))) struct OpenAPITests {
    // From the guide.
    struct TransactionClientMiddleware: ClientMiddleware {
        let transactions: TransactionManager

        func intercept(
            _ request: HTTPRequest, body: HTTPBody?, baseURL: URL, operationID: String,
            next: @Sendable (HTTPRequest, HTTPBody?, URL) async throws -> (HTTPResponse, HTTPBody?)
        ) async throws -> (HTTPResponse, HTTPBody?) {
            guard let url = URL(string: baseURL.absoluteString + (request.path ?? "")) else {
                return try await next(request, body, baseURL)
            }
            let exchange = transactions.openExchange(
                ExchangeRequest(method: request.method.rawValue, url: url, headerFields: recorded(request.headerFields))
            )
            var request = request
            for (name, value) in exchange.headers {
                if let name = HTTPField.Name(name) { request.headerFields[name] = value }
            }
            do {
                let sent = body?.observed { exchange.sent($0) }
                let (response, body) = try await exchange.sending { [request] in try await next(request, sent, baseURL)
                }
                exchange.responded(
                    ExchangeResponse(status: response.status.code, headerFields: recorded(response.headerFields)))
                guard let body else {
                    exchange.finish()
                    return (response, nil)
                }
                let received = body.observed {
                    exchange.received($0)
                } ended: { error in
                    if let error { exchange.fail(error) } else { exchange.finish() }
                }
                return (response, received)
            } catch {
                exchange.fail(error)
                throw error
            }
        }

        private func recorded(_ fields: HTTPFields) -> [HeaderField] {
            fields.map { HeaderField(name: $0.name.rawName, value: $0.value) }
        }
    }

    private enum Order: Int, UseCase {
        static let code = 9
        case placed = 0
    }

    /// Reads the request's body and answers.
    private struct Transport: ClientTransport {
        var status = 201
        var chunks: [String]?
        var bodyError: (any Error)?
        var error: (any Error)?
        let seen = Locked<[HTTPRequest]>([])

        func send(_ request: HTTPRequest, body: HTTPBody?, baseURL: URL, operationID: String) async throws -> (
            HTTPResponse, HTTPBody?
        ) {
            seen.withLock { $0.append(request) }
            if let body { for try await _ in body {} }
            if let error { throw error }
            return (HTTPResponse(status: .init(code: status)), chunks.map { HTTPBody($0, error: bodyError) })
        }
    }

    private let transactions = TransactionManager.testing(correlatedHosts: ["api.example.com"])

    private func order(_ transport: Transport) async throws -> Int {
        let url = try #require(URL(string: "https://api.example.com/v1"))
        let client = Client(
            serverURL: url, transport: transport, middlewares: [TransactionClientMiddleware(transactions: transactions)]
        )
        return try await transactions.perform(Order.self) { _ in
            let (response, body) = try await client.order(HTTPBody(["12", "345"]))
            if let body { for try await _ in body {} }
            return response.status.code
        }
    }

    @Test func anOperationIsAnExchangeWithItsBytes() async throws {
        let transport = Transport(chunks: ["abc", "defg"])
        #expect(try await order(transport) == 201)
        let exchange = try #require(transactions.exchanges.first)
        #expect((exchange.method, exchange.status, exchange.state) == ("POST", 201, .completed))
        #expect(exchange.url == "https://api.example.com/v1/orders?token=[redacted]")
        #expect((exchange.sentByteCount, exchange.receivedByteCount) == (5, 7))
        let field = try #require(HTTPField.Name("Waybill-Transaction"))
        let told = transport.seen.withLock { $0 }.compactMap { $0.headerFields[field] }
        #expect(told.compactMap { TransactionHeader(parsing: $0)?.exchange } == [exchange.id.sequence])
    }

    @Test func anAnswerWithoutABodyIsOverAtOnce() async throws {
        #expect(try await order(Transport(status: 204)) == 204)
        #expect(try transactions.exchanges.map(\.state) == [.completed])
    }

    @Test func whatBreaksIsTheExchangesError() async throws {
        await #expect(throws: Broken.self) { try await order(Transport(error: Broken())) }
        await #expect(throws: Broken.self) { try await order(Transport(chunks: ["a"], bodyError: Broken())) }
        #expect(try transactions.exchanges.map(\.state) == [.failed, .failed])
        #expect(try transactions.exchanges.map(\.status) == [nil, 201])
    }
}

struct ObservedBody: AsyncSequence, Sendable {
    let body: HTTPBody
    let passed: @Sendable (HTTPBody.ByteChunk) -> Void
    let ended: @Sendable ((any Error)?) -> Void

    struct AsyncIterator: AsyncIteratorProtocol {
        var base: HTTPBody.AsyncIterator
        let observed: ObservedBody

        mutating func next() async throws -> HTTPBody.ByteChunk? {
            do {
                let chunk = try await base.next()
                if let chunk { observed.passed(chunk) } else { observed.ended(nil) }
                return chunk
            } catch {
                observed.ended(error)
                throw error
            }
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(base: body.makeAsyncIterator(), observed: self) }
}

extension HTTPBody {
    func observed(
        _ passed: @escaping @Sendable (ByteChunk) -> Void, ended: @escaping @Sendable ((any Error)?) -> Void = { _ in }
    ) -> HTTPBody {
        HTTPBody(
            ObservedBody(body: self, passed: passed, ended: ended), length: length,
            iterationBehavior: iterationBehavior)
    }
}
#endif
