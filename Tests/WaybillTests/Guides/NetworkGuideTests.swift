import Foundation
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The snippets of the guide on the network, compiled and run as they appear there.
@Suite(.timeLimit(.minutes(5))) struct NetworkGuideTests {
    private let transactions = TransactionManager.testing(correlatedHosts: ["127.0.0.1"])
    private let server: LoopbackServer
    private let stack = Stack()

    init() throws { server = try LoopbackServer { _ in .text("hello") } }

    private var request: URLRequest { URLRequest(url: server.url()) }

    @Test func aCapturedSession() async throws {
        let login = transactions.begin(Login.self)
        let configuration = URLSessionConfiguration.ephemeral
        try await login.withCurrent {
            let (data, response) = try await transactions.session.data(for: request)
            #expect(data.count == 5 && response.status == 200)
        }
        let (file, _) = try await transactions.session.download(for: request, in: login)
        try FileManager.default.removeItem(at: file)
        let own = transactions.session(configuration: configuration)
        _ = try await own.data(for: request, in: login)
        #expect(try transactions.exchanges.map(\.status) == [200, 200, 200])
    }

    @Test func yourOwnDelegate() async throws {
        let delegate = WaitingDelegate()
        let capturing = transactions.capturing(delegate)
        let session = URLSession(configuration: .default, delegate: capturing, delegateQueue: nil)
        let login = transactions.begin(Login.self)
        await login.withCurrent {
            let task = capturing.task(for: request) { session.dataTask(with: $0) }
            let ended = delegate.end(of: task)
            task.resume()
            await ended.opened()
        }
        #expect(try transactions.exchanges.map(\.status) == [200])
        session.finishTasksAndInvalidate()
    }

    @Test func oneLineAtStartUp() {
        transactions.passiveCapture.start()
        #expect(transactions.passiveCapture.isRunning)
        transactions.passiveCapture.stop()
        #expect(!transactions.passiveCapture.isRunning)
    }

    func watch(_ order: URL, for login: UseCaseTransaction<Login>) async throws {
        let socket = transactions.session.webSocketTask(with: order, in: login)
        try await socket.send(.string(#"{"subscribe":"state"}"#))
        for try await message in socket.messages { show(message) }
        socket.cancel(with: .normalClosure, reason: nil)
    }

    private func show(_ message: URLSessionWebSocketTask.Message) {}

    @Test func aWebSocket() async throws {
        let login = transactions.begin(Login.self)
        transactions.rules.add(NetworkRule("offline", .fail(.notConnectedToInternet)))
        transactions.rules.isEnabled = true
        let order = try #require(URL(string: "wss://api.example.com/orders/17"))
        await #expect(throws: URLError.self) { try await watch(order, for: login) }
        #expect(try transactions.exchanges.map(\.url) == ["wss://api.example.com/orders/17"])
    }

    func pass(_ messages: AsyncStream<Data>, from url: URL, for login: UseCaseTransaction<Login>) async {
        let exchange = transactions.openExchange(ExchangeRequest(url: url), in: login)
        exchange.responded(ExchangeResponse(status: 101))
        for await message in messages { exchange.received(message: message, isText: true) }
        exchange.closed(code: 1000)
    }

    @Test func aWebSocketOfAnotherLibrary() async throws {
        let (messages, continuation) = AsyncStream<Data>.makeStream()
        for text in ["a", "bc"] { continuation.yield(Data(text.utf8)) }
        continuation.finish()
        let url = try #require(URL(string: "wss://api.example.com/orders"))
        await pass(messages, from: url, for: transactions.begin(Login.self))
        let exchange = try #require(transactions.exchanges.first)
        #expect(exchange.transfer.webSocket?.messages.map(\.byteCount) == [1, 2])
        #expect((exchange.state, exchange.receivedByteCount) == (.completed, 3))
    }

    func fetch(_ url: URL, for login: UseCaseTransaction<Login>) async throws -> Data {
        let exchange = transactions.openExchange(ExchangeRequest(method: "GET", url: url), in: login)
        do {
            let response = try await stack.get(url, headers: exchange.headers)
            let fields = response.headers.map { HeaderField(name: $0.name, value: $0.value) }
            exchange.responded(ExchangeResponse(status: response.status, headerFields: fields, httpVersion: "1.1"))
            exchange.received(response.body)
            exchange.finish()
            return response.body
        } catch {
            exchange.fail(error)
            throw error
        }
    }

    @Test func anotherHTTPStack() async throws {
        let login = transactions.begin(Login.self)
        #expect(try await fetch(server.url(), for: login) == Data("hello".utf8))
        await #expect(throws: POSIXError.self) { try await fetch(refusedURL(), for: login) }
        #expect(try transactions.exchanges.map(\.state) == [.completed, .failed])
        #expect(try transactions.exchanges.first?.receivedByteCount == 5)
        #expect(server.requests.first?.header("Waybill-Transaction")?.contains(";n=") == true)
    }

    @Test func anotherHTTPStackThatOnlyWantsToBeTied() async throws {
        let (login, url) = (transactions.begin(Login.self), server.url())
        let response = try await stack.get(url, headers: login.headers(for: url))
        #expect(response.status == 200)
        #expect(try transactions.exchanges.isEmpty)
        #expect(server.requests.first?.header("Waybill-Transaction")?.contains("\(login.id)") == true)
    }

    @Test func filters() throws {
        var options = TransactionManager.Options()
        options.network.include = [RequestPattern(host: .glob("*.example.com"))]
        options.network.exclude = [RequestPattern(path: "/health"), RequestPattern(method: "HEAD")]
        options.network.shouldLog = { request in request.url.query() == nil }
        options.network.headers = HeaderPolicy(["User-Agent": .skip, "X-Device-Name": .mask])
        #expect(options.network.headers == HeaderPolicy(["user-agent": .skip, "x-device-name": .mask]))
        options.network.headers = HeaderPolicy(["Content-Type": .keep, "ETag": .keep], others: .skip)
        do {
            let transactions = TransactionManager { $0 = options }
            #expect(transactions.recording == .on)
        }
        let transactions = TransactionManager.testing { $0 = options }
        for (url, isRecorded) in [
            ("https://api.example.com/a", true), ("https://api.example.com/health", false),
            ("https://api.example.com/a?b", false),
            ("https://elsewhere.example/a", false),
        ] {
            let exchange = transactions.openExchange(ExchangeRequest(url: try #require(URL(string: url))))
            exchange.finish()
            #expect(exchange.isRecorded == isRecorded, "\(url)")
        }
    }

    @Test func bodiesAreKeptWhereTheyWereAskedFor() async throws {
        var options = TransactionManager.Options()
        options.network.bodies = BodyPolicy(hosts: ["api.example.com"], paths: [.glob("/v1/*")])
        options.network.bodies?.maximumByteCount = 64 << 10
        options.network.bodies?.sample = 0.1
        options.network.bodies?.maximumStoreByteCount = 8 << 20
        #expect(TransactionManager.testing { $0 = options }.health.isGood)

        options.network.bodies?.sample = 1
        let transactions = TransactionManager.testing { $0 = options }
        let login = transactions.begin(Login.self)
        let url = try #require(URL(string: "https://api.example.com/v1/login"))
        let open = transactions.openExchange(ExchangeRequest(url: url), in: login)
        open.responded(
            ExchangeResponse(
                status: 200, headerFields: [HeaderField(name: "Content-Type", value: "application/json")]))
        open.received(Data(#"{"token":"x"}"#.utf8))
        open.finish()
        let exchange = try #require(transactions.exchanges.first)
        let body = try await transactions.body(of: exchange.id, .response)
        #expect(body.map { String(decoding: $0.bytes, as: UTF8.self) } == #"{"token":"[redacted]"}"#)
    }

    /// Breaks when the guide shows code that was never compiled.
    @Test func theGuideShowsWhatIsTested() throws {
        let here = URL(filePath: #filePath)
        let oneLine = here.deletingLastPathComponent().appending(path: "../Capture/CapturingDelegateTests.swift")
        // In a test the options are made before the manager.
        let elsewhere = "let transactions = TransactionManager { options in"
        let untested = try Guide.linesOfSnippets("Network.md", notIn: [here, oneLine])
        #expect(untested.filter { $0 != elsewhere } == [])
    }

    /// A stand-in for an HTTP stack.
    private struct Stack {
        func get(_ url: URL, headers: [String: String]) async throws -> RawClient.Response {
            try await RawClient.send("GET", url.path(), to: url.port ?? 80, headers: headers)
        }
    }
}
