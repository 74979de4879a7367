import Foundation
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting

/// The middleware of the guide for Vapor, compiled and run. The stand-ins have the signatures of Vapor 4.
@Suite(.timeLimit(.minutes(5))) struct VaporTests {
    // The parts of `NIOHTTP1` and Vapor that the guide uses.
    struct HTTPMethod { let rawValue: String }
    struct HTTPResponseStatus { let code: UInt }
    struct URI { let string: String }

    struct HTTPHeaders: Sequence {
        var fields: [(name: String, value: String)] = []

        func first(name: String) -> String? { fields.first { $0.name.lowercased() == name.lowercased() }?.value }
        func makeIterator() -> IndexingIterator<[(name: String, value: String)]> { fields.makeIterator() }
    }

    final class Request: Sendable {
        let method = HTTPMethod(rawValue: "POST")
        let url = URI(string: "/login?token=hidden")
        let headers: HTTPHeaders

        init(_ headers: HTTPHeaders) { self.headers = headers }
    }

    final class Response: Sendable {
        let status: HTTPResponseStatus

        init(status: UInt) { self.status = HTTPResponseStatus(code: status) }
    }

    protocol AbortError: Error {
        var status: HTTPResponseStatus { get }
    }

    protocol AsyncResponder: Sendable {
        func respond(to request: Request) async throws -> Response
    }

    protocol AsyncMiddleware: Sendable {
        func respond(to request: Request, chainingTo next: any AsyncResponder) async throws -> Response
    }

    struct Middlewares {
        var all: [any AsyncMiddleware] = []

        mutating func use(_ middleware: any AsyncMiddleware) { all.append(middleware) }
    }

    struct Application { var middleware = Middlewares() }

    // From the guide.
    struct TransactionMiddleware: AsyncMiddleware {
        let transactions: TransactionManager

        func respond(to request: Request, chainingTo next: any AsyncResponder) async throws -> Response {
            guard let transaction = transactions.join(header: { request.headers.first(name: $0) }) else {
                return try await next.respond(to: request)
            }
            let exchange = transactions.openServerExchange(
                method: request.method.rawValue, authority: request.headers.first(name: "Host"),
                target: request.url.string,
                headerFields: request.headers.map { HeaderField(name: $0.name, value: $0.value) }, in: transaction)
            do {
                let response = try await transaction.withCurrent { try await next.respond(to: request) }
                exchange.responded(ExchangeResponse(status: Int(response.status.code)), isTimed: false)
                exchange.finish()
                transaction.finish(response.status.code < 500 ? .succeeded : .failed)
                return response
            } catch {
                let status = (error as? any AbortError).map { Int($0.status.code) } ?? 500
                exchange.responded(ExchangeResponse(status: status), isTimed: false)
                exchange.finish(error: error)
                if status < 500 { transaction.finish() } else { transaction.finish(.failed, error: error) }
                throw error
            }
        }
    }

    struct Abort: AbortError { let status: HTTPResponseStatus }
    struct Broken: Error {}

    enum Answer: Sendable { case status(UInt), abort(UInt), error }

    private struct Handler: AsyncResponder {
        let answer: Answer

        func respond(to request: Request) async throws -> Response {
            Login.log(.serverStarted)
            switch answer {
            case .status(let status): return Response(status: status)
            case .abort(let status): throw Abort(status: HTTPResponseStatus(code: status))
            case .error: throw Broken()
            }
        }
    }

    private func handle(_ headers: HTTPHeaders, _ answer: Answer, _ transactions: TransactionManager) async throws {
        var app = Application()
        app.middleware.use(TransactionMiddleware(transactions: transactions))
        let middleware = try #require(app.middleware.all.first)
        _ = try? await middleware.respond(to: Request(headers), chainingTo: Handler(answer: answer))
    }

    @Test(arguments: [
        (Answer.status(200), TransactionOutcome.succeeded, 200), (.status(404), .succeeded, 404),
        (.status(503), .failed, 503), (.abort(401), .succeeded, 401), (.abort(502), .failed, 502),
        (.error, .failed, 500),
    ]) func aRequestJoinsAndItsStatusDecides(_ answer: Answer, _ outcome: TransactionOutcome, _ status: Int)
        async throws
    {
        let server = TransactionManager.testing(joining: [Login.code])
        let client = TransactionManager.testing(correlatedHosts: ["api.example.com"])
        let url = try #require(URL(string: "https://api.example.com/login"))
        let fields = client.perform(Login.self) { login in
            client.openExchange(ExchangeRequest(method: "POST", url: url), in: login).headers
        }
        try await handle(
            HTTPHeaders(fields: fields.map { ($0.key, $0.value) } + [("Host", "api.example.com")]), answer, server)
        try await handle(HTTPHeaders(), answer, server)
        let record = try #require(server.transactions(Login.self).first)
        #expect(record.parts.map(\.outcome) == [outcome])
        #expect(record.parts.map(\.cause) == (try client.exchanges.map(\.id)))
        let exchange = try #require(try server.exchange)
        #expect((exchange.role, exchange.method, exchange.status) == (.server, "POST", status))
        #expect(exchange.url.hasSuffix("api.example.com/login?token=[redacted]"))
        #expect(try server.last(Login.self)?.events.map(\.event) == [.serverStarted])
    }
}

extension TransactionManager {
    /// The only exchange; `nil` if there are several or none.
    fileprivate var exchange: TransactionRecord.Exchange? {
        get throws { try exchanges.count == 1 ? exchanges.first : nil }
    }
}
