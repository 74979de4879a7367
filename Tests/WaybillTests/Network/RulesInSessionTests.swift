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

/// Rules act on every form of the captured session. Only the record tells their answers from those of `URLSession`.
@Suite(.timeLimit(.minutes(5)))
struct RulesInSessionTests {
    private let tx: TransactionManager
    /// Opens when a request is about to be sent.
    private let opened = Gate()

    init() { self.init(clock: ManualClock()) }

    private init(clock: ManualClock) {
        let opened = self.opened
        tx = .testing(clock: clock, correlatedHosts: ["127.0.0.1"]) { options in
            options.diagnostics = { _ in }
            options.network.shouldLog = { _ in
                opened.open()
                return true
            }
        }
        tx.rules.isEnabled = true
    }

    private func request(_ url: URL, _ method: String = "GET") -> URLRequest {
        var request = URLRequest(url: url)
        request.httpMethod = method
        return request
    }

    private func outcome(_ call: WayIn.Call, by way: WayIn) async -> Outcome {
        await tx.perform(Login.self) { _ in await Outcome { try await way.send(call, tx) } }
    }

    // MARK: Mock

    @Test(arguments: WayIn.session) func aMockIsWhatBareURLSessionGivesOfAServerThatAnswersTheSame(way: WayIn)
        async throws
    {
        let body = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 >> 4) })
        let server = try LoopbackServer { _ in
            .init(status: 409, headers: [("Content-Type", "a/b"), ("X-One", "1")], body: body)
        }
        let call = WayIn.Call(request: request(server.url("/a?b=c")))
        tx.rules.add(
            NetworkRule(
                "conflict",
                .mock(
                    NetworkRule.Response(
                        status: 409,
                        headerFields: [.init(name: "Content-Type", value: "a/b"), .init(name: "X-One", value: "1")],
                        body: body
                    ))))
        let mocked = await outcome(call, by: way)
        #expect(server.requests.isEmpty)
        #expect(mocked == (await Outcome { try await BareSession.send(call) }))

        let exchange = try #require(tx.exchanges.first)
        #expect(exchange.state == .completed)
        #expect(exchange.transfer.isMocked)
        #expect(exchange.transfer.rule == "conflict")
        #expect(exchange.status == 409)
        #expect(exchange.receivedByteCount == 200_000)
        #expect(tx.rules.hits == ["conflict": 1])
    }

    @Test(arguments: WayIn.session) func aMockTakesWhatIsUploaded(way: WayIn) async throws {
        let folder = try TemporaryDirectory()
        try Data(count: 5).write(to: folder.file("body"))
        tx.rules.add(NetworkRule("created", matching: RequestPattern(method: "PUT"), .mock(.text("{}", status: 201))))
        let url = try refusedURL()
        let isUpload = way.name == "session.data and upload" || way.name == "session.dataTask and uploadTask"
        for body in [WayIn.Call.Body.data(Data(count: 7)), .file(folder.file("body"))] {
            #expect(await outcome(WayIn.Call(request: request(url, "PUT"), body: body), by: way).status == 201)
        }
        #expect(
            try tx.exchanges.map(\.sentByteCount) == [7, isUpload ? 5 : nil], "the length of a stream is not known")
    }

    @Test(arguments: WayIn.session) func aMockedRedirectIsTheAnswer(way: WayIn) async throws {
        let url = try refusedURL()
        tx.rules.add(
            NetworkRule(
                "elsewhere",
                .mock(
                    NetworkRule.Response(
                        status: 302, headerFields: [.init(name: "Location", value: url.absoluteString)])))
        )
        #expect(await outcome(WayIn.Call(request: request(url)), by: way).status == 302)
        #expect(try tx.exchanges.first?.transfer.redirects == [])
    }

    @Test func fieldsOfOneNameAreJoinedAsURLSessionJoinsThem() async throws {
        tx.rules.add(
            NetworkRule(
                "two",
                .mock(
                    NetworkRule.Response(headerFields: [
                        .init(name: "Vary", value: "Accept"), .init(name: "vary", value: "Origin"),
                    ]))))
        let (_, response) = try await tx.session.data(for: URLRequest(url: try refusedURL()))
        #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Vary") == "Accept, Origin")
    }

    /// Breaks when a rule decides by less than what is sent and recorded.
    @Test func aRuleSeesTheFieldsThatTheSessionAdds() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["X-Tenant": "acme"]
        let pattern = RequestPattern(headerFields: ["x-tenant": "acme", "Waybill-Transaction": .glob("*")])
        tx.rules.add(NetworkRule("tenant", matching: pattern, .mock(NetworkRule.Response(status: 418))))
        let url = try refusedURL()
        try await tx.perform(Login.self) { _ in
            let (_, response) = try await tx.session(configuration: configuration).data(from: url)
            #expect((response as? HTTPURLResponse)?.statusCode == 418)
        }
    }

    @Test func aMockedDownloadTellsItsProgress() async throws {
        tx.rules.add(NetworkRule("large", .mock(NetworkRule.Response(body: Data(count: 100_000)))))
        let told = Locked<[TransferProgress]>([])
        let done = Gate()
        let (file, response) = try await tx.session.download(for: URLRequest(url: try refusedURL())) { progress in
            told.withLock { $0.append(progress) }
            if progress.receivedByteCount == 100_000 { done.open() }
        }
        defer { try? FileManager.default.removeItem(at: file) }
        await done.opened()
        #expect(response.expectedContentLength == 100_000)
        #expect(told.withLock { $0.map(\.receivedByteCount) } == [0, 65_536, 100_000])
        #expect(told.withLock { $0.map(\.expectedReceivedByteCount) } == [100_000, 100_000, 100_000])
    }

    // MARK: Fail and cut

    @Test(arguments: WayIn.session) func aFailureIsThrownAndRecorded(way: WayIn) async throws {
        let server = try LoopbackServer { _ in .text("") }
        tx.rules.add(NetworkRule("offline", .fail(.notConnectedToInternet)))
        #expect(await outcome(WayIn.Call(request: request(server.url())), by: way) == .failed(.notConnectedToInternet))
        #expect(server.requests.isEmpty)
        let exchange = try #require(tx.exchanges.first)
        #expect(exchange.state == .failed)
        #expect(exchange.error == RecordedError(domain: NSURLErrorDomain, code: -1009))
        #expect(exchange.transfer.isMocked)
        #expect(exchange.transfer.rule == "offline")
    }

    @Test func aFailureNamesTheURLThatFailed() async throws {
        tx.rules.add(NetworkRule("offline", .fail(.timedOut)))
        let url = try refusedURL("/a")
        let error = await #expect(throws: URLError.self) { try await tx.session.data(for: URLRequest(url: url)) }
        #expect(error?.failingURL == url)
    }

    @Test(arguments: WayIn.session) func aConnectionIsCutWithinTheBody(way: WayIn) async throws {
        let server = try LoopbackServer { _ in .init(body: Data(count: 500_000)) }
        tx.rules.add(NetworkRule("tunnel", .cut(afterByteCount: 1000)))
        #expect(await outcome(WayIn.Call(request: request(server.url())), by: way) == .failed(.networkConnectionLost))
        let exchange = try #require(tx.exchanges.first)
        #expect(exchange.state == .failed)
        #expect(exchange.status == 200)
        #expect(exchange.receivedByteCount == 1000)
        #expect(exchange.transfer.rule == "tunnel")
        #expect(!exchange.transfer.isMocked, "a server was asked")
    }

    @Test func aStreamThatIsCutGivesWhatCameBefore() async throws {
        let server = try LoopbackServer { _ in .init(body: Data(count: 500_000)) }
        tx.rules.add(NetworkRule("tunnel", .cut(afterByteCount: 70_000)))
        let (bytes, _) = try await tx.session.bytes(for: URLRequest(url: server.url()))
        var count = 0
        let error = await #expect(throws: URLError.self) { for try await piece in bytes { count += piece.count } }
        #expect(error?.code == .networkConnectionLost)
        #expect(count == 70_000)
    }

    // MARK: NetworkRule.Throttle

    @Test(arguments: WayIn.session) func aThrottleChangesNothingButTheTime(way: WayIn) async throws {
        let body = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 >> 3) })
        let target = try LoopbackServer { request in .init(status: 203, body: body + request.body) }
        let server = try LoopbackServer { _ in .redirect(to: target.url("/there")) }
        tx.rules.add(
            NetworkRule("slow", .throttle(NetworkRule.Throttle(latency: .milliseconds(1), bytesPerSecond: 50_000_000))))
        for call in [
            WayIn.Call(request: request(server.url())),
            WayIn.Call(request: request(target.url(), "POST"), body: .data(Data(count: 70_000))),
        ] {
            #expect(await outcome(call, by: way) == (await Outcome { try await BareSession.send(call) }))
        }
        #expect(try tx.exchanges.map(\.transfer.rule) == ["slow", "slow"])
        #expect(try tx.exchanges.map(\.transfer.isMocked) == [false, false])
        #expect(try tx.exchanges.first?.transfer.redirects.count == 1)
        #expect(try tx.exchanges.last?.sentByteCount == 70_000)
    }

    // MARK: Cancellation and deadline

    static let endless: [NetworkRule.Action] = [
        .mock(NetworkRule.Response(delay: .seconds(86_400))), .fail(.timedOut, after: .seconds(86_400)),
        .throttle(NetworkRule.Throttle(latency: .seconds(86_400))),
    ]

    @Test(arguments: WayIn.session, endless) func whatWaitsForARuleIsCancelledAtOnce(
        way: WayIn, action: NetworkRule.Action
    ) async throws {
        let server = try LoopbackServer { _ in .text("") }
        let waiting = Self(clock: ManualClock(movesByItself: false))
        waiting.tx.rules.add(NetworkRule("endless", action))
        let call = WayIn.Call(request: request(server.url()))
        let running = Task { await waiting.outcome(call, by: way) }
        await waiting.opened.opened()
        running.cancel()
        #expect(await running.value == .failed(.cancelled))
        #expect(try waiting.tx.exchanges.map(\.state) == [.cancelled])
        #expect(server.requests.isEmpty)
    }

    @Test(arguments: endless) func whatWaitsForARuleHasADeadline(action: NetworkRule.Action) async throws {
        tx.rules.add(NetworkRule("endless", action))
        let url = try refusedURL()
        let error = await #expect(throws: URLError.self) {
            try await tx.session.data(for: URLRequest(url: url), deadline: .seconds(3_600))
        }
        #expect(error?.code == .timedOut)
    }

    // MARK: In sequence, and on the test's clock

    /// Breaks when a test of a retry waits as long as its mocks say, or sees only one answer.
    @Test func aRetrySeesTheAnswersInSequenceAndNoRealTimePasses() async throws {
        let clock = ManualClock()
        let tests = Self(clock: clock)
        let hour = Duration.seconds(3_600)
        tests.tx.rules.add([
            NetworkRule("down", .mock(NetworkRule.Response(status: 503, delay: hour)), times: 2),
            NetworkRule("up", .mock(.text("[]", delay: hour))),
        ])
        let url = try refusedURL()
        var statuses: [Int?] = []
        try await tests.tx.perform(Login.self) { _ in
            for _ in 0..<9 where statuses.isEmpty || statuses.last == 503 {
                let (_, response) = try await tests.tx.session.data(for: URLRequest(url: url))
                statuses.append(response.status)
            }
        }
        #expect(statuses == [503, 503, 200])
        #expect(tests.tx.rules.hits == ["down": 2, "up": 1])
        let took = try tests.tx.exchanges.map { exchange in exchange.closed?.timeIntervalSince(exchange.opened) }
        #expect(took == [3_600, 3_600, 3_600], "they took that time by the clock")
        #expect(clock.uptimeMicroseconds() == 3 * 3_600_000_000)
    }

    /// Breaks when a test can't check an app's display while the app waits.
    @Test func aClockThatDoesNotMoveByItselfHoldsTheAnswerBack() async throws {
        let clock = ManualClock(movesByItself: false)
        let tests = Self(clock: clock)
        tests.tx.rules.add(NetworkRule("slow", .mock(.text("late", delay: .seconds(3_600)))))
        let (url, isAnswered) = (try refusedURL(), Locked(false))
        let running = Task {
            let (data, _) = try await tests.tx.session.data(for: URLRequest(url: url))
            isAnswered.withLock { $0 = true }
            return data
        }
        await tests.opened.opened()
        #expect(!isAnswered.withLock { $0 } && clock.uptimeMicroseconds() == 0)
        try await eventually("the clock gets there") {
            clock.advance(by: .seconds(600))
            return isAnswered.withLock { $0 }
        }
        #expect(try await running.value == Data("late".utf8))
    }

    @Test func anAnswerThatTricklesIsCancelledOnTheWay() async throws {
        let server = try LoopbackServer { _ in .init(body: Data(count: 100_000)) }
        tx.rules.add(NetworkRule("trickle", .throttle(NetworkRule.Throttle(bytesPerSecond: 100))))
        let (bytes, response) = try await tx.session.bytes(for: URLRequest(url: server.url()))
        #expect(response.status == 200)
        for try await piece in bytes {
            #expect(piece.count == 10, "a tenth of a second's")
            break
        }
    }

    // MARK: When they act

    @Test(arguments: WayIn.session) func rulesThatAreOffDoNothing(way: WayIn) async throws {
        let server = try LoopbackServer { _ in .text("real") }
        tx.rules.add(NetworkRule("mock", .mock(.text("mocked"))))
        tx.rules.isEnabled = false
        #expect(await outcome(WayIn.Call(request: request(server.url())), by: way).body == Data("real".utf8))
        #expect(tx.rules.hits == ["mock": 0])
        #expect(try tx.exchanges.first?.transfer.rule == nil)
    }

    @Test func rulesActWhileNothingIsRecorded() async throws {
        tx.rules.add(NetworkRule("mock", .mock(.text("mocked"))))
        tx.recording = .off
        let (data, _) = try await tx.session.data(for: URLRequest(url: try refusedURL()))
        #expect(data == Data("mocked".utf8))
    }

    @Test func aRuleCanGoByTheTransactionsHeaderField() async throws {
        let url = try refusedURL()
        let login = tx.begin(Login.self)
        tx.rules.add(
            NetworkRule(
                "mine",
                matching: RequestPattern(headerFields: ["waybill-transaction": .contains(login.id.description)]),
                .mock(.text("{}"))
            ))
        let (_, response) = try await tx.session.data(for: URLRequest(url: url), in: login)
        #expect(response.status == 200)
        await #expect(throws: URLError.self) {
            try await tx.session.data(for: URLRequest(url: url), in: tx.begin(Login.self))
        }
        #expect(tx.rules.hits == ["mine": 1])
    }

    @Test(arguments: WayIn.session) func aRuleCanGoByABodyThatIsInMemory(way: WayIn) async throws {
        let server = try LoopbackServer { _ in .text("real") }
        tx.rules.add(NetworkRule("ada", matching: RequestPattern(body: .contains("ada")), .mock(.text("mocked"))))
        func answer(_ body: WayIn.Call.Body) async -> Data? {
            await outcome(WayIn.Call(request: request(server.url(), "POST"), body: body), by: way).body
        }
        #expect(await answer(.data(Data("user=ada".utf8))) == Data("mocked".utf8))
        #expect(await answer(.data(Data("user=grace".utf8))) == Data("real".utf8))
        #expect(await answer(.stream(Data("user=ada".utf8))) == Data("real".utf8), "a stream is not looked at")
    }

    @Test func deliveryIsBeyondTheReachOfRules() async throws {
        let server = try LoopbackServer { _ in .text("", status: 503) }
        tx.rules.add(NetworkRule("offline", .fail(.notConnectedToInternet)))
        tx.delivery = .collector(server.url())
        tx.begin(Login.self).finish()
        _ = await tx.flush()
        #expect(server.requests.count == 1)
        #expect(tx.rules.hits == ["offline": 0])
    }
}

extension RulesInSessionTests {
    /// Each cancelled call ends and its record is closed, at any stage: 600 requests, 8 at a time.
    @Test func cancellationsAtAnyTimeLeaveNothingOpen() async throws {
        let server = try LoopbackServer { _ in .init(body: Data(count: 3000)) }
        tx.rules.add([
            NetworkRule(
                "mock", matching: RequestPattern(path: "/mock"),
                .mock(NetworkRule.Response(body: Data(count: 200_000), delay: .microseconds(200)))),
            NetworkRule("cut", matching: RequestPattern(path: "/cut"), .cut(afterByteCount: 100)),
            NetworkRule(
                "slow", .throttle(NetworkRule.Throttle(latency: .microseconds(100), bytesPerSecond: 5_000_000))),
        ])
        let paths = ["/mock", "/cut", "/slow"]
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    for number in 0..<75 {
                        let url = server.url(paths[(worker + number) % 3])
                        let running = Task {
                            try await tx.session.data(for: URLRequest(url: url), in: tx.begin(Login.self))
                        }
                        for _ in 0..<Int.random(in: 0..<200) { await Task.yield() }
                        running.cancel()
                        _ = await running.result
                    }
                }
            }
        }
        let exchanges = try tx.exchanges
        #expect(exchanges.count == 600)
        #expect(exchanges.allSatisfy { $0.closedMicroseconds != nil })
        #expect(tx.rules.hits.values.reduce(0, +) == 600)
        #expect(
            exchanges.allSatisfy { $0.transfer.rule != nil && [.cancelled, .completed, .failed].contains($0.state) })
    }
}
