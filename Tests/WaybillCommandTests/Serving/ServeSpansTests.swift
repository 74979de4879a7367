#if Collector
import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillStore

/// A running collector that forwards received data as spans.
@Suite(.timeLimit(.minutes(5))) struct ServeSpansTests {
    private let folder: TemporaryDirectory
    private let login = LoginHistory()

    init() throws { folder = try TemporaryDirectory() }

    /// Breaks when a restart loses its position, starts over, or leaves out data that arrived while no collector ran.
    @Test func spansGoOutAsTheyComeAndNotAgainAfterARestart() async throws {
        let backend = try SpanBackend()
        let serve = try await ServeProcess.start(folder, "--otlp", backend.url)
        #expect(await serve.post(login.clientSet()) != nil)
        #expect(await serve.post(login.serverSet()) != nil)
        await backend.hasSpans(3)
        // The collector notes a round before it begins the next one.
        let first = backend.spans
        #expect(await serve.post(LoginHistory().serverSet()) != nil)
        await backend.hasSpans(4)
        serve.process.kill()
        try folder.makeStore(of: LoginHistory().serverSet())

        let again = try await ServeProcess.start(folder, "--otlp", backend.url)
        await backend.hasSpans(5)
        #expect(await again.post(LoginHistory().serverSet()) != nil)
        await backend.hasSpans(6)
        #expect(first.allSatisfy { span in backend.spans.count { $0 == span } == 1 })
    }

    @Test func aBackendThatIsAwayDelaysAndLosesNothing() async throws {
        let closed = try SpanBackend { _ in .init(status: 401) }
        let serve = try await ServeProcess.start(folder, "--otlp", closed.url)
        #expect(await serve.post(login.clientSet()) != nil)
        await closed.wasAsked(1)
        #expect(await serve.post(login.serverSet()) != nil)
        serve.process.terminate()
        #expect(await serve.status() == 0)

        let busy = try SpanBackend { number in
            number < 3 ? .init(status: 503, headers: [("Retry-After", "0")]) : .text("{}", type: "application/json")
        }
        let again = try await ServeProcess.start(folder, "--otlp", busy.url)
        await busy.hasSpans(3)
        #expect(again.port != 0)
    }

    @Test func whatTheBackendRejectsIsCountedAndNotSentAgain() async throws {
        let answer = #"{"partialSuccess":{"rejectedSpans":"1","errorMessage":"too old"}}"#
        let backend = try SpanBackend { number in .text(number == 0 ? answer : "{}", type: "application/json") }
        let serve = try await ServeProcess.start(folder, "--otlp", backend.url)
        #expect(await serve.post(login.serverSet()) != nil)
        await backend.wasAsked(1)
        #expect(await serve.post(LoginHistory().serverSet()) != nil)
        await backend.wasAsked(2)
        let metrics = try await RawClient.send("GET", "/metrics", to: serve.port).text
        #expect(metrics.contains(#"waybill_spans_total{project="waybill",verdict="rejected"} 1"#))
        #expect(Set(backend.spans).count == backend.spans.count)
    }

    @Test func everyProjectIsSentWithTheHeaderFieldsThatTheBackendAsksFor() async throws {
        try folder.makeStore(of: login.clientSet(), login.serverSet())
        let shop = try Store(.file(folder.file("shop.sqlite")))
        _ = try shop.ingest(LoginHistory().serverSet(), receivedAt: LoginHistory.begun)
        for project in ["waybill", "shop"] { _ = try await folder.addToken("ingest", "--project", project) }
        let backend = try SpanBackend()
        let serve = try await ServeProcess.start(
            folder, "--otlp", backend.url, asksForToken: true, environment: ["WAYBILL_OTLP_HEADERS": "api-key=k"])
        await backend.hasSpans(4)
        #expect(backend.server.requests.allSatisfy { $0.path == "/v1/traces" && $0.header("api-key") == "k" })
        serve.process.terminate()
        #expect(await serve.status() == 0)
    }

    /// Breaks when shutdown waits for an answer that never comes.
    @Test func aBackendThatDoesNotAnswerDoesNotHoldUpTheEnd() async throws {
        let backend = try SpanBackend { _ in .never }
        let serve = try await ServeProcess.start(folder, "--otlp", backend.url)
        #expect(await serve.post(login.serverSet()) != nil)
        await backend.wasAsked(1)
        serve.process.terminate()
        #expect(await serve.status() == 0)

        // Spans in flight don't count as sent.
        let other = try SpanBackend()
        let again = try await ServeProcess.start(folder, "--otlp", other.url)
        await other.hasSpans(1)
        #expect(again.port != 0)
    }
}

/// A tracing backend with scripted answers that tests can wait for.
private final class SpanBackend: Sendable {
    private struct State {
        var requestCount = 0
        var spans: [String] = []
        var waiting: [(isMet: @Sendable (State) -> Bool, gate: Gate)] = []
    }

    let server: LoopbackServer
    private let state: Locked<State>

    /// - Parameter answer: Receives the number of earlier requests.
    init(
        _ answer: @escaping @Sendable (Int) -> LoopbackServer.Response = { _ in .text("{}", type: "application/json") }
    ) throws {
        let state = Locked(State())
        self.state = state
        server = try LoopbackServer { request in
            let number = state.withLock { $0.requestCount }
            let response = answer(number)
            state.withLock { state in
                state.requestCount += 1
                if response.status == 200 { state.spans += Self.spans(in: request.body) }
                for one in state.waiting where one.isMet(state) { one.gate.open() }
            }
            return response
        }
    }

    var url: String { server.url().absoluteString }

    /// The IDs of the accepted spans, in order of arrival.
    var spans: [String] { state.withLock { $0.spans } }

    /// Returns once the backend has accepted `count` different spans.
    func hasSpans(_ count: Int) async { await wait { Set($0.spans).count >= count } }

    /// Returns once the backend has received `count` requests.
    func wasAsked(_ count: Int) async { await wait { $0.requestCount >= count } }

    private func wait(until isMet: @escaping @Sendable (State) -> Bool) async {
        let gate = Gate()
        state.withLock { state in
            if isMet(state) { gate.open() } else { state.waiting.append((isMet, gate)) }
        }
        await gate.opened()
    }

    private static func spans(in body: Data) -> [String] {
        String(decoding: body, as: UTF8.self).matches(of: #/"spanId":"([0-9a-f]+)"/#).map { String($0.1) }
    }
}
#endif
