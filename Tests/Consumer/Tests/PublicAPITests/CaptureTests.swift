import Testing
import Waybill
import WaybillQueries

enum Login: Int, UseCase {
    static let code = 17
    case started = 0, checked = 1
}

struct Refused: Error {}

/// Integrations for a client and for a server, run against each other. Both are for a stack that Waybill does not know,
/// and use only Waybill's public API.
@Suite(.timeLimit(.minutes(1)))
struct CaptureTests {
    private let app = TransactionManager(store: .inMemory, correlatedHosts: ["api.example.com"])
    private let service: TransactionManager = {
        TransactionManager(store: .inMemory) { $0.server.accepting = .only(Login.self) }
    }()

    private func client(_ handler: @escaping @Sendable (ToyRequest) async throws -> ToyResponse) -> RecordingClient {
        let server = ToyServer(middleware: RecordingMiddleware(transactions: service), handler: handler)
        return RecordingClient(client: ToyClient(server: server), transactions: app)
    }

    private func only(_ manager: TransactionManager) async throws -> TransactionRecord {
        let page = try await manager.transactions(matching: "beginner:any").page()
        #expect(page.rows.count == 1)
        let id = try #require(page.rows.first).id
        return try #require(try await manager.transaction(id))
    }

    @Test func bothSidesOfAnExchangeAreRecordedAndTied() async throws {
        let client = client { request in
            Login.log(.checked)
            return ToyResponse(
                status: 201, headers: [("Content-Type", "text/plain"), ("Set-Cookie", "session=s3cret")],
                body: [1, 2, 3])
        }
        let request = ToyRequest(
            target: "/login?step=1&password=s3cret", headers: [("Authorization", "Bearer s3cret")],
            body: [1, 2, 3, 4, 5])
        let response = try await app.perform(Login.self) { _ in try await client.send(request) }
        #expect(response.status == 201)

        let (sent, served) = (try await only(app), try await only(service))
        #expect(sent.summary.id == served.summary.id, "one transaction, known to both")
        let exchange = try #require(sent.exchanges.first)
        #expect(
            sent.exchanges.count == 1 && exchange.role == .client && exchange.state == .completed
                && exchange.status == 201)
        #expect(exchange.sentByteCount == 5 && exchange.receivedByteCount == 3)

        let part = try #require(served.parts.first)
        #expect(part.isJoined && part.cause == exchange.id, "the server's part names the client's exchange")
        #expect(part.outcome == .succeeded)
        let other = try #require(served.exchanges.first)
        #expect(
            served.exchanges.count == 1 && other.role == .server && other.method == "POST" && other.state == .completed)
        #expect(other.status == 201 && other.sentByteCount == 5 && other.receivedByteCount == 3)
        #expect(
            served.timeline.contains { $0.kind == .event && $0.code == Login.checked.rawValue },
            "the handler's event is in it")
        #expect(!"\(sent) \(served)".contains("s3cret"), "no secret is recorded on either side")
    }

    @Test func aHandlersErrorIsRecordedOnBothSides() async throws {
        let client = client { _ in throw Refused() }
        let response = try await app.perform(Login.self) { _ in try await client.send(ToyRequest(target: "/login")) }
        #expect(response.status == 500)

        let served = try await only(service)
        #expect(served.parts.first?.outcome == .failed)
        let exchange = try #require(served.exchanges.first)
        #expect(exchange.state == .completed && exchange.status == 500 && exchange.error != nil)
        #expect(try await only(app).exchanges.first?.status == 500)
    }

    @Test func whatNeverComesBackIsAFailedExchange() async throws {
        let client = RecordingClient(client: ToyClient(server: nil), transactions: app)
        await #expect(throws: ToyClient.ConnectionLost.self) {
            try await app.perform(Login.self) { _ in try await client.send(ToyRequest(target: "/login")) }
        }
        let record = try await only(app)
        #expect(record.summary.outcome == .failed)
        #expect(record.exchanges.first?.state == .failed && record.exchanges.first?.status == nil)
    }

    @Test func aRequestOfNoTransactionLeavesNoTraceOnTheServer() async throws {
        let client = client { _ in ToyResponse(status: 200) }
        _ = try await client.send(ToyRequest(method: "GET", target: "/health"))
        #expect(try await service.transactions().page().rows.isEmpty)
        #expect(try await service.exchanges().rows.isEmpty)
        #expect(try await app.exchanges().rows.count == 1, "the client's side is recorded, outside any transaction")
    }
}
