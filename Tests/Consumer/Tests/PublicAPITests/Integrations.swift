import Foundation
import Waybill

/// An integration that records the requests of a client, with code around each request.
struct RecordingClient: Sendable {
    var client: ToyClient
    var transactions: TransactionManager

    func send(_ request: ToyRequest) async throws -> ToyResponse {
        guard let url = URL(string: "https://\(request.host)\(request.target)") else { throw URLError(.badURL) }
        let exchange = transactions.openExchange(
            ExchangeRequest(method: request.method, url: url, headerFields: fields(request.headers)))
        var request = request
        for (name, value) in exchange.headers { request.headers.append((name, value)) }
        exchange.sent(byteCount: request.body.count)
        do {
            let response = try await client.send(request)
            exchange.responded(ExchangeResponse(status: response.status, headerFields: fields(response.headers)))
            exchange.received(response.body)
            exchange.finish()
            return response
        } catch {
            exchange.fail(error)
            throw error
        }
    }
}

/// An integration that records the requests of a server: a middleware.
struct RecordingMiddleware: ToyMiddleware {
    var transactions: TransactionManager

    func handle(_ request: ToyRequest, next: @Sendable (ToyRequest) async throws -> ToyResponse) async throws
        -> ToyResponse
    {
        guard let transaction = transactions.join(header: request.header) else { return try await next(request) }
        let exchange = transactions.openServerExchange(
            method: request.method, authority: request.host, target: request.target,
            headerFields: fields(request.headers), in: transaction)
        exchange.expectToSend(byteCount: request.body.count)
        do {
            let response = try await transaction.withCurrent { try await next(request) }
            exchange.responded(
                ExchangeResponse(status: response.status, headerFields: fields(response.headers)), isTimed: false)
            exchange.received(byteCount: response.body.count)
            exchange.finish()
            transaction.finish(response.status < 500 ? .succeeded : .failed)
            return response
        } catch {
            exchange.responded(ExchangeResponse(status: 500), isTimed: false)
            exchange.finish(error: error)
            transaction.finish(.failed, error: error)
            throw error
        }
    }
}

private func fields(_ headers: [(name: String, value: String)]) -> [HeaderField] {
    headers.map { HeaderField(name: $0.name, value: $0.value) }
}
