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

/// A request made within a transaction is recorded before it is sent, linked to it, and free of secrets.
@Suite(.timeLimit(.minutes(5))) struct CapturedSessionTests {
    let tx = TransactionManager.testing(correlatedHosts: ["127.0.0.1"])

    @Test func anExchangeIsRecordedWithBothSidesOfIt() async throws {
        let server = try LoopbackServer { _ in .text("hello", status: 201) }
        var request = URLRequest(url: server.url("/login?user=ada&token=s3cret"))
        request.httpMethod = "POST"
        request.setValue("Bearer s3cret", forHTTPHeaderField: "Authorization")
        request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
        try await tx.perform(Login.self) { _ in
            let (data, response) = try await tx.session.upload(for: request, from: Data("four".utf8))
            #expect(data == Data("hello".utf8))
            #expect(response.status == 201)
        }
        #expect(server.requests.first?.body == Data("four".utf8))
        #expect(server.requests.first?.header("Authorization") == "Bearer s3cret", "what is sent is not redacted")

        let exchange = try #require(tx.exchanges.first)
        #expect(exchange.method == "POST")
        #expect(exchange.url == "http://127.0.0.1:\(server.port)/login?user=ada&token=[redacted]")
        #expect(exchange.status == 201)
        #expect(exchange.state == .completed)
        #expect(exchange.sentByteCount == 4)
        #expect(exchange.receivedByteCount == 5)
        #expect(exchange.role == .client)
        #expect(exchange.requestHeaderFields.contains(HeaderField(name: "Authorization", value: "[redacted]")))
        #expect(exchange.requestHeaderFields.contains(HeaderField(name: "Content-Type", value: "text/plain")))
        #expect(exchange.responseHeaderFields.contains { $0.name.lowercased() == "content-type" })
    }

    /// To understand an answer that depends on a cookie, a reader must know that one was sent.
    @Test(arguments: [true, false]) func cookiesOfTheJarAreRecordedWithoutTheirValues(handlesCookies: Bool) async throws
    {
        let server = try LoopbackServer { _ in .init(headers: [("Set-Cookie", "sid=s3cret; Path=/")]) }
        let session = tx.session(configuration: .ephemeral)
        var request = URLRequest(url: server.url())
        request.httpShouldHandleCookies = handlesCookies
        let login = tx.begin(Login.self)
        for _ in 0..<2 { _ = try await session.data(for: request, in: login) }
        request.setValue("own=1", forHTTPHeaderField: "Cookie")
        _ = try await session.data(for: request, in: login)
        let sent = server.requests.map { $0.header("Cookie") != nil }
        let recorded = try tx.exchanges.map { $0.requestHeaderFields.filter { $0.name == "Cookie" }.map(\.value) }
        #expect(sent.last == true && sent.first == false)
        #expect(recorded == sent.map { $0 ? ["[redacted]"] : [] })
    }

    @Test func theHeaderFieldNamesTheTransactionAndTheExchange() async throws {
        let server = try LoopbackServer { _ in .text("") }
        let login = tx.begin(Login.self)
        _ = try await tx.session.data(for: URLRequest(url: server.url()), in: login)
        _ = try await tx.session.data(for: URLRequest(url: server.url()), in: login)
        let told = server.requests.compactMap {
            $0.header("Waybill-Transaction").flatMap { TransactionHeader(parsing: $0) }
        }
        #expect(told.map(\.transaction) == [login.id, login.id])
        #expect(told.map(\.exchange) == (try tx.exchanges.map(\.id.sequence)))
        #expect(told.map(\.source) == (try tx.exchanges.map(\.id.source)))
    }

    @Test func aHostThatIsNotOnTheListGetsNoHeaderField() async throws {
        let server = try LoopbackServer { _ in .text("") }
        let login = tx.begin(Login.self)
        _ = try await tx.session.data(for: URLRequest(url: server.url(host: "localhost")), in: login)
        #expect(server.requests.first?.header("Waybill-Transaction") == nil)
        #expect(try tx.exchanges.count == 1, "the exchange is recorded all the same")
    }

    /// Breaks when a developer who forgot the host looks for the server's events in vain.
    @Test func aForgottenHostIsToldOnce() async throws {
        let told = Locked<[String]>([])
        let tx = TransactionManager.testing { options in
            options.diagnostics = { sentence in told.withLock { $0.append(sentence) } }
        }
        let server = try LoopbackServer { _ in .text("") }
        let login = tx.begin(Login.self)
        for _ in 0..<3 { _ = try await tx.session.data(for: URLRequest(url: server.url()), in: login) }
        tx.diagnostics.settle()
        #expect(told.withLock { $0 }.count == 1)
        #expect(told.withLock { $0 }.first?.contains("correlatedHosts") == true)
    }

    @Test func aCallersOwnValueIsLeftAlone() async throws {
        let server = try LoopbackServer { _ in .text("") }
        var request = URLRequest(url: server.url())
        request.setValue("mine", forHTTPHeaderField: "Waybill-Transaction")
        _ = try await tx.session.data(for: request, in: tx.begin(Login.self))
        #expect(server.requests.first?.header("Waybill-Transaction") == "mine")
    }

    @Test func aRefusedConnectionIsRecordedAsFailed() async throws {
        let request = URLRequest(url: try refusedURL())
        await #expect(throws: URLError.self) {
            try await tx.perform(Login.self) { _ in try await tx.session.data(for: request) }
        }
        let exchange = try #require(tx.exchanges.first)
        #expect(exchange.state == .failed)
        #expect(exchange.status == nil)
        #expect(exchange.error?.domain == NSURLErrorDomain)
        #expect(try tx.last(Login.self)?.outcome == .failed)
    }

    @Test func aCancelledRequestIsRecordedAsCancelledAndSoIsItsTransaction() async throws {
        let arrived = Gate()
        let server = try LoopbackServer { _ in
            arrived.open()
            return .never
        }
        let request = URLRequest(url: server.url())
        let task = Task { try await tx.perform(Login.self) { _ in try await tx.session.data(for: request) } }
        await arrived.opened()
        task.cancel()
        await #expect(throws: URLError.self) { try await task.value }
        #expect(try tx.exchanges.map(\.state) == [.cancelled])
        #expect(try tx.last(Login.self)?.outcome == .cancelled)
    }

    @Test func theConfigurationsResourceTimeoutEndsARequest() async throws {
        let server = try LoopbackServer { _ in .never }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForResource = 0.05
        let session = tx.session(configuration: configuration)
        let error = await #expect(throws: URLError.self) { try await session.data(for: URLRequest(url: server.url())) }
        #expect(error?.code == .timedOut)
    }

    @Test func whatIsSentOutsideAnyTransactionBelongsToNone() async throws {
        let transport = InMemoryTransport()
        tx.delivery = .transport(transport)
        let server = try LoopbackServer { _ in .text("") }
        _ = try await tx.session.data(for: URLRequest(url: server.url()))
        #expect(server.requests.first?.header("Waybill-Transaction") == nil)
        await tx.flush()
        #expect(transport.transactionSets.first?.sources.first?.facts.map(\.part) == [0, 0])
    }

    @Test func aDeadlineEndsACallThatNobodyAnswers() async throws {
        let server = try LoopbackServer { _ in .never }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForResource = 3_600
        let (session, url) = (tx.session(configuration: configuration), server.url())
        let error = await #expect(throws: URLError.self) {
            try await tx.perform(Login.self) { _ in
                _ = try await session.download(from: url, deadline: .milliseconds(50))
            }
        }
        #expect(error?.code == .timedOut)
        #expect(try tx.exchanges.map(\.state) == [.failed])
    }

    @Test func progressOfAnUploadIsTold() async throws {
        let server = try LoopbackServer { .text("\($0.body.count)") }
        let steps = Locked<[TransferProgress]>([])
        let done = Gate()
        var request = URLRequest(url: server.url())
        request.httpMethod = "POST"
        let (data, _) = try await tx.session.upload(for: request, from: Data(count: 2_000_000)) { progress in
            steps.withLock { $0.append(progress) }
            if progress.receivedByteCount > 0 { done.open() }
        }
        await done.opened()
        #expect(data == Data("2000000".utf8))
        let sent = steps.withLock { $0.map(\.sentByteCount) }
        #expect(sent.count > 3)
        #expect(sent == sent.sorted())
        #expect(sent.last == 2_000_000)
        #expect(steps.withLock { $0.last?.expectedSentByteCount } == 2_000_000)
    }

    @Test func theCallersConfigurationHolds() async throws {
        let server = try LoopbackServer { _ in .text("") }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["X-Always": "yes"]
        let session = tx.session(configuration: configuration)
        _ = try await session.data(from: server.url())
        #expect(server.requests.first?.header("X-Always") == "yes")
    }

    /// Breaks when a request joins two traces: that of the configuration's own field, and also ours.
    @Test func aTraceOfTheConfigurationIsKept() async throws {
        let server = try LoopbackServer { _ in .text("") }
        let own = "00-0192f3a24f807b44ac6e9f8e7d6c5b4a-00f067aa0ba902b7-01"
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["TraceParent": own]
        let session = tx.session(configuration: configuration, traceContext: .propagate)
        _ = try await session.data(from: server.url(), in: tx.begin(Login.self))
        _ = try await tx.session(configuration: .ephemeral, traceContext: .propagate)
            .data(from: server.url(), in: tx.begin(Login.self))
        #expect(server.requests.first?.header("traceparent") == own)
        #expect(server.requests.first?.header("tracestate") == nil)
        #expect(server.requests.last?.header("traceparent").map { $0 != own } == true, "the host is a correlated one")
    }

    /// The app's own protocol answers in several pieces.
    @Test func theCallersProtocolClassesAnswer() async throws {
        final class Answering: URLProtocol {
            override class func canInit(with request: URLRequest) -> Bool { request.url?.host() == "nowhere.example" }
            override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
            override func startLoading() {
                guard let url = request.url,
                    let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil)
                else { return }
                client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
                for piece in ["from ", "the ", "app"] { client?.urlProtocol(self, didLoad: Data(piece.utf8)) }
                client?.urlProtocolDidFinishLoading(self)
            }
            override func stopLoading() {}
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [Answering.self]
        let session = tx.session(configuration: configuration)
        let (data, _) = try await session.data(
            from: try #require(URL(string: "http://nowhere.example/")), in: tx.begin(Login.self))
        #expect(data == Data("from the app".utf8))
        #expect(try tx.exchanges.map(\.receivedByteCount) == [12])
    }

    @Test func aSessionThatIsLetGoOfEndsWhatIsUnderWay() async throws {
        let server = try LoopbackServer { _ in .text("late") }
        let answered = Gate()
        var session: CapturedSession? = tx.session(configuration: .ephemeral)
        session?.dataTask(with: server.url()) { data, _, _ in if data == Data("late".utf8) { answered.open() } }
            .resume()
        session = nil
        await answered.opened()
        #expect(answered.isOpen)
    }

    @Test func whileRecordingIsOffRequestsAreSentAsTheyAre() async throws {
        let server = try LoopbackServer { _ in .text("answer") }
        tx.recording = .off
        let (data, _) = try await tx.session.data(from: server.url(), in: tx.begin(Login.self))
        #expect(data == Data("answer".utf8))
        #expect(server.requests.first?.header("Waybill-Transaction") == nil)
        #expect(try tx.exchanges.isEmpty)
        let (bare, _) = try await TransactionManager.disabled.session.data(from: server.url())
        #expect(bare == Data("answer".utf8))
    }

    #if canImport(FoundationNetworking)
    @Test func nothingComesFromACacheOnLinux() async throws {
        let server = try LoopbackServer { _ in
            .init(headers: [("Cache-Control", "max-age=3600")], body: Data("fresh".utf8))
        }
        for _ in 0..<3 { _ = try await tx.session.data(from: server.url()) }
        #expect(server.requests.count == 3)
    }
    #endif

    @Test func aFileThatIsNotThereFailsAndIsRecorded() async throws {
        let server = try LoopbackServer { _ in .text("never asked") }
        var request = URLRequest(url: server.url())
        request.httpMethod = "PUT"
        let put = request
        await #expect(throws: URLError.self) {
            try await tx.perform(Login.self) { _ in
                _ = try await tx.session.upload(for: put, fromFile: URL(filePath: "/nowhere/at/all"))
            }
        }
        #expect(try tx.exchanges.map(\.state) == [.failed])
    }
}
