import Dispatch
import Foundation
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting

/// A framework's request, with a plain dictionary of lowercase header fields, as in HTTP/2.
struct ServerRequest: Sendable {
    var headers: [String: String] = [:]
}

struct ServerResponse: Sendable {
    var status: Int
}

extension ServerRequest {
    func header(_ name: String) -> String? { headers.first { $0.key.lowercased() == name.lowercased() }?.value }
}

/// The snippets of the guide for servers, compiled and run as they appear there. Those for Hummingbird are in its own
/// tests.
@Suite(.timeLimit(.minutes(5)))
struct InstrumentAServerTests {
    private let transactions = TransactionManager.testing(joining: [Login.code, Purchase.code])
    private let client = TransactionManager.testing(correlatedHosts: ["127.0.0.1"])
    private let status = Locked(200)

    private func check(_ request: ServerRequest) async throws -> ServerResponse {
        if status.withLock({ $0 }) == 0 { throw Refused() }
        return ServerResponse(status: status.withLock { $0 })
    }

    private func request(of transaction: UseCaseTransaction<some Sendable>) throws -> ServerRequest {
        let headers = transaction.headers(for: try #require(URL(string: "http://127.0.0.1")))
        return ServerRequest(headers: Dictionary(uniqueKeysWithValues: headers.map { ($0.key.lowercased(), $0.value) }))
    }

    func logIn(_ request: ServerRequest) async throws -> ServerResponse {
        try await transactions.join(Login.self, header: request.header).perform { login in
            login.log(.serverStarted)
            let response = try await check(request)
            if response.status >= 500 { login.finish(.failed, code: response.status) }
            return response
        }
    }

    func checkSession(_ request: ServerRequest) async throws -> ServerResponse {
        guard let transaction = transactions.join(header: request.header) else { return try await check(request) }
        return try await transaction.perform { _ in
            Login.log(.serverStarted)
            Purchase.log(.started)
            return try await check(request)
        }
    }

    func handle(_ request: ServerRequest, next: (ServerRequest) async throws -> ServerResponse) async throws
        -> ServerResponse
    {
        guard let transaction = transactions.join(header: request.header) else { return try await next(request) }
        let exchange = transactions.openServerExchange(method: "POST", target: "/login", in: transaction)
        do {
            let response = try await transaction.withCurrent { try await next(request) }
            exchange.responded(ExchangeResponse(status: response.status), isTimed: false)
            exchange.finish()
            transaction.finish(response.status < 500 ? .succeeded : .failed)
            return response
        } catch {
            exchange.finish(error: error)
            transaction.finish(.failed, error: error)
            throw error
        }
    }

    @Test(arguments: [200, 503, 0]) func aMiddlewareRecordsTheServersSide(status: Int) async throws {
        self.status.withLock { $0 = status }
        let login = client.begin(Login.self)
        let request = try request(of: login)
        _ = try? await handle(request) { request in
            Login.log(.serverStarted)
            return try await check(request)
        }
        let record = try #require(try await transactions.transaction(login.id))
        #expect(record.parts.map(\.isJoined) == [true])
        #expect(record.parts.first?.outcome == (status == 200 ? .succeeded : .failed))
        #expect(record.exchanges.map(\.role) == [.server])
        #expect(record.exchanges.first?.state == .completed)
        #expect(record.exchanges.first?.status == (status == 0 ? nil : status))
        #expect(record.exchanges.first?.firstByteMicroseconds == nil, "the client's to see")
        #expect((record.exchanges.first?.error == nil) == (status != 0))
        #expect(record.timeline.contains { $0.kind == .event }, "the handler found the transaction current")
    }

    @Test func makingAManager() async throws {
        let directory = try TemporaryDirectory()
        let server = try LoopbackServer { _ in .init(status: 503) }
        let (folder, collectorURL, token): (URL, URL, String?) = (directory.url, server.url(), nil)
        let transactions = TransactionManager(
            store: .directory(folder), delivery: .collector(collectorURL, token: token)
        ) { options in
            options.app = "shop-server"
            options.appVersion = "1.4.2"
            options.server.accepting = .only(Login.self, Purchase.self)
            options.sourceAttributes = ["environment": "staging"]
            options.privacy.additionalSecretNames = ["customer-number"]
            options.diagnostics = { _ in }
        }
        transactions.startDelivery()
        transactions.perform(Login.self, attributes: ["customerNumber": 4711]) { _ in }
        #expect(try transactions.transactions(Login.self).first?.summary.attributes == ["customerNumber": "[redacted]"])
        await transactions.flush(deadline: .seconds(5))
        #expect(transactions.health.hints.isEmpty)
        transactions.stopDelivery()
    }

    /// Breaks when the field is not found in a framework that passes names in lowercase, or a status of 500 counts as a
    /// success.
    @Test(arguments: [(200, TransactionOutcome.succeeded), (404, .succeeded), (500, .failed), (0, .failed)])
    func anyOtherFramework(answer: Int, outcome: TransactionOutcome) async throws {
        status.withLock { $0 = answer }
        let login = client.begin(Login.self)
        _ = try? await logIn(request(of: login))
        let record = try #require(transactions.transactions(Login.self).first)
        #expect(record.summary.id == login.id && record.parts.map(\.outcome) == [outcome])
    }

    /// Breaks when an endpoint's events are booked for a use case that the client is not in.
    @Test func endpointsThatSeveralUseCasesShare() async throws {
        _ = try await checkSession(request(of: client.begin(Purchase.self)))
        #expect(try transactions.last(Purchase.self)?.events.map(\.event) == [.started])
        #expect(try transactions.last(Login.self) == nil)
        _ = try await checkSession(ServerRequest())
        #expect(try transactions.allRecords().count == 1, "without the header field there is no trace")
    }

    @Test func whereCurrentIsNil() async throws {
        let session = 4711
        @Sendable func store(_ session: Int) async {}
        let (queue, isDone) = (DispatchQueue(label: "callbacks"), Gate())
        let login = transactions.begin(Login.self)
        queue.async { login.log(.serverStarted) }
        queue.async { isDone.open() }
        await isDone.opened()
        let detached =
            Task.detached {
                await login.withCurrent {
                    Login.log(.serverAccepted)
                    await store(session)
                }
            }
        await detached.value
        await login.withCurrent {
            _ = await Task.detached { Login.log(.serverRejected) }.value
        }
        #expect(
            try transactions.last(Login.self)?.events.map(\.event) == [.serverStarted, .serverAccepted],
            "and nothing of what had no current transaction")
    }

    @Test func theGuideShowsWhatIsTested() throws {
        let hummingbird = URL(filePath: #filePath).appending(
            path: "../../../WaybillHummingbirdTests/TransactionMiddlewareTests.swift")
        let files = [URL(filePath: #filePath), hummingbird.standardizedFileURL]
        #expect(try Guide.linesOfSnippets("InstrumentAServer.md", notIn: files) == [])
    }
}
