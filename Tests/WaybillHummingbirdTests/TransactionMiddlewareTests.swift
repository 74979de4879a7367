#if Hummingbird
import Foundation
import Hummingbird
import NIOCore
import Testing
import Waybill
import WaybillCore
import WaybillHummingbird
import WaybillQueries
import WaybillTesting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One request over a real socket, seen from both ends. Breaks when client and server tell two separate stories.
@Suite(.timeLimit(.minutes(5))) struct TransactionMiddlewareTests {
    enum Login: Int, UseCase {
        static let code = 0
        case requestSent = 1, responseReceived = 2
        case serverStarted = 10, serverAccepted = 11
    }

    struct DatabaseIsBroken: Error {}

    struct SoldOut: HTTPResponseError, RecordableError {
        static var recordedDomain: String { "shop" }
        var recordedCode: Int { 7 }
        var status: HTTPResponse.Status { .conflict }

        func response(from request: Request, context: some RequestContext) throws -> Response {
            Response(status: status)
        }
    }

    let client = TransactionManager.testing(correlatedHosts: ["127.0.0.1"])
    let server: TransactionManager = {
        .testing { options in
            options.server.accepting = .only(Login.self)
            options.diagnostics = { _ in }
        }
    }()

    @Test func aRequestBecomesAPartOfTheClientsTransaction() async throws {
        let id = try await withServer { url in
            try await client.perform(Login.self) { login in
                var request = URLRequest(url: url.appending(path: "login"))
                request.httpMethod = "POST"
                request.setValue("Bearer s3cret", forHTTPHeaderField: "Authorization")
                let (_, response) = try await client.session.upload(for: request, from: Data("password".utf8))
                #expect(response.status == 200)
                return login.id
            }
        }
        let record = try #require(server.transactions(Login.self).first)
        #expect(record.summary.id == id)
        #expect(
            try server.transactions(Login.self).flatMap { $0.events.map(\.event) } == [.serverStarted, .serverAccepted])
        #expect(
            record.parts.map(\.cause) == (try [client.exchanges.first?.id]),
            "the part names the exchange that caused it")
        #expect(record.timeline.map(\.kind) == [.joined, .exchangeBegun, .event, .event, .exchangeFinished, .finished])

        let exchange = try #require(record.exchanges.first)
        #expect(exchange.role == .server)
        #expect(exchange.method == "POST")
        #expect(exchange.url.hasSuffix("/login"))
        #expect(exchange.status == 200)
        #expect(exchange.sentByteCount == 8)
        #expect(
            exchange.requestHeaderFields.contains {
                $0.name.lowercased() == "authorization" && $0.value == "[redacted]"
            })
    }

    /// Breaks when a server's own hook does not see what its middleware records.
    @Test func theServersHookIsAskedAboutWhatTheMiddlewareRecords() async throws {
        let server = TransactionManager.testing { options in
            options.diagnostics = { _ in }
            options.server.accepting = .only(Login.self)
            options.willRecord = { draft in
                switch draft {
                case .exchangeOpened(var request):
                    request.url = request.url.replacing("/patients/17", with: "/patients/*")
                    request.headerFields = []
                    return .exchangeOpened(request)
                case .exchangeClosed(var response):
                    response.headerFields = []
                    return .exchangeClosed(response)
                case .opened, .event, .attributesSet, .closed, .body: return draft
                }
            }
        }
        let router = Router()
        router.add(middleware: TransactionMiddleware(server))
        router.get("patients/17") { _, _ in "private" }
        try await withServer(router) { url in
            _ = try await client.session.data(
                for: URLRequest(url: url.appending(path: "patients/17")), in: client.begin(Login.self))
        }
        let exchange = try #require(server.transactions(Login.self).first?.exchanges.first)
        #expect(exchange.url.hasSuffix("/patients/*") && exchange.status == 200)
        #expect(exchange.requestHeaderFields.isEmpty && exchange.responseHeaderFields.isEmpty)
    }

    @Test func aRequestWithoutTheHeaderFieldLeavesNoTrace() async throws {
        try await withServer { url in
            _ = try await client.session.data(for: URLRequest(url: url.appending(path: "health")))
        }
        #expect(try server.allRecords().isEmpty)
    }

    @Test(arguments: [
        ("teapot", 418, TransactionOutcome.succeeded), ("broken", 500, .failed), ("missing", 404, .succeeded),
    ])
    func thePartIsClosedByTheResponsesStatus(_ path: String, _ status: Int, _ outcome: TransactionOutcome) async throws
    {
        try await withServer { url in
            _ = try await client.session.data(
                for: URLRequest(url: url.appending(path: path)), in: client.begin(Login.self))
        }
        let record = try #require(server.transactions(Login.self).first)
        #expect(record.exchanges.map(\.status) == [status])
        #expect(record.parts.map(\.outcome) == [outcome])
    }

    /// Breaks when every error that is a response is recorded as number 1, which is Swift's number for a struct.
    @Test(arguments: [("invalid", 422), ("teapot", 418), ("overloaded", 503)])
    func anErrorThatIsAResponseIsRecordedWithItsStatus(_ path: String, _ status: Int) async throws {
        try await withServer { url in
            _ = try await client.session.data(
                for: URLRequest(url: url.appending(path: path)), in: client.begin(Login.self))
        }
        let record = try #require(server.transactions(Login.self).first)
        #expect(record.exchanges.map(\.error?.code) == [Int64(status)])
        #expect(record.exchanges.first?.error?.domain.hasSuffix(".HTTPError") == true)
        #expect(record.parts.map(\.error?.code) == [status < 500 ? nil : Int64(status)])
    }

    @Test func anErrorThatSaysWhatIsRecordedKeepsIt() async throws {
        try await withServer { url in
            _ = try await client.session.data(
                for: URLRequest(url: url.appending(path: "sold-out")), in: client.begin(Login.self))
        }
        let error = try #require(server.transactions(Login.self).first?.exchanges.first?.error)
        #expect(error.domain == "shop" && error.code == 7)
    }

    @Test func aFinishInAHandlerWins() async throws {
        try await withServer { url in
            _ = try await client.session.data(
                for: URLRequest(url: url.appending(path: "gave-up")), in: client.begin(Login.self))
        }
        #expect(try server.transactions(Login.self).first?.parts.map(\.outcome) == [.cancelled])
    }

    /// The guide's snippet, unchanged.
    @Test func theGuidesRouterJoins() async throws {
        let transactions = server
        let router = Router()
        router.add(middleware: TransactionMiddleware(transactions))
        router.post("login") { request, context in
            Login.log(.serverStarted)
            return HTTPResponse.Status.ok
        }
        try await withServer(router) { url in
            var request = URLRequest(url: url.appending(path: "login"))
            request.httpMethod = "POST"
            _ = try await client.session.data(for: request, in: client.begin(Login.self))
        }
        #expect(try server.transactions(Login.self).flatMap { $0.events.map(\.event) } == [.serverStarted])
    }

    /// The recipe for a framework without a middleware here: the closure form of `join`.
    @Test func anyOtherFrameworkJoinsWithAClosure() async throws {
        let router = Router()
        router.get("recipe") { request, _ in
            let login = server.join(Login.self) { name in
                request.headers.first { $0.name.canonicalName == name.lowercased() }?.value
            }
            return login.perform { login in
                login.log(.serverStarted)
                return "done"
            }
        }
        let id = try await withServer(router) { url in
            let login = client.begin(Login.self)
            _ = try await client.session.data(for: URLRequest(url: url.appending(path: "recipe")), in: login)
            return login.id
        }
        #expect(try server.transactions(Login.self).map(\.summary.id) == [id])
    }

    private func routes() -> Router<BasicRequestContext> {
        let router = Router()
        router.add(middleware: TransactionMiddleware(server))
        router.post("login") { request, context in
            Login.log(.serverStarted)
            _ = try await request.body.collect(upTo: 1000)
            Login.log(.serverAccepted)
            return HTTPResponse.Status.ok
        }
        router.get("health") { _, _ in "fine" }
        router.get("teapot") { _, _ -> HTTPResponse.Status in throw HTTPError(.init(code: 418)) }
        router.get("invalid") { _, _ -> HTTPResponse.Status in throw HTTPError(.unprocessableContent) }
        router.get("overloaded") { _, _ -> HTTPResponse.Status in throw HTTPError(.serviceUnavailable) }
        router.get("sold-out") { _, _ -> HTTPResponse.Status in throw SoldOut() }
        router.get("broken") { _, _ -> HTTPResponse.Status in throw DatabaseIsBroken() }
        router.get("gave-up") { _, _ -> HTTPResponse.Status in
            Login.current?.finish(.cancelled)
            return .ok
        }
        return router
    }

    private func withServer<Result: Sendable>(
        _ router: Router<BasicRequestContext>? = nil, _ body: (URL) async throws -> Result
    ) async throws -> Result {
        let (ports, port) = AsyncStream<Int>.makeStream()
        let application = Application(
            router: router ?? routes(), configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { port.yield($0.localAddress?.port ?? 0) })
        let running = Task { try await application.run() }
        defer { running.cancel() }
        var iterator = ports.makeAsyncIterator()
        let url = try #require(URL(string: "http://127.0.0.1:\(await iterator.next() ?? 0)"))
        return try await body(url)
    }
}
#endif
