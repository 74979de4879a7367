import Foundation
import TestSupport
import Testing
import WaybillCore

@testable import WaybillExport

@Suite(.timeLimit(.minutes(5))) struct TraceBackendTests {
    private static let line = Array(
        #"{"resourceSpans":[{"scopeSpans":[{"spans":[{"spanId":"a","startTimeUnixNano":"1","links":[{"spanId":"c"}]},{"spanId":"b","startTimeUnixNano":"1","name":"\"startTimeUnixNano\":"}]}]}]}"#
            .utf8)

    /// Makes a server that answers by a script, and then accepts everything.
    private func server(_ script: [LoopbackServer.Response] = []) throws -> LoopbackServer {
        let rest = Locked(script)
        return try LoopbackServer { _ in
            rest.withLock { $0.isEmpty ? nil : $0.removeFirst() } ?? .text("{}", type: "application/json")
        }
    }

    /// Makes a backend, and records how long it waits.
    private func backend(_ server: LoopbackServer, _ path: String = "/", headers: [String: String] = [:]) throws -> (
        TraceBackend, waits: Locked<[Duration]>
    ) {
        let waits = Locked<[Duration]>([])
        return (
            try TraceBackend(server.url(path), headers: headers) { wait in waits.withLock { $0.append(wait) } }, waits
        )
    }

    @Test func aLineIsARequest() async throws {
        let server = try server()
        let (backend, _) = try backend(server, headers: ["api-key": "k"])
        #expect(try await backend.send(Self.line) == SpanReceipt(acceptedCount: 2))
        let request = try #require(server.requests.first)
        #expect(request.method == "POST" && request.path == "/v1/traces" && Array(request.body) == Self.line)
        #expect(request.header("Content-Type") == "application/json" && request.header("api-key") == "k")
    }

    @Test func anAddressWithAPathIsTakenAsItIs() async throws {
        let server = try server()
        _ = try await backend(server, "/otlp/traces").0.send(Self.line)
        #expect(server.requests.map(\.path) == ["/otlp/traces"])
        #expect(throws: WaybillError.self) { try TraceBackend(URL(filePath: "/tmp")) }
    }

    @Test(arguments: [#""1""#, "1"]) func whatTheBackendRejectsIsBooked(count: String) async throws {
        let body = #"{"partialSuccess":{"rejectedSpans":\#(count),"errorMessage":"too old, Bearer abcdefghijklmnop"}}"#
        let server = try server([.text(body, type: "application/json")])
        let receipt = try await backend(server).0.send(Self.line)
        #expect(receipt.acceptedCount == 1 && receipt.rejectedCount == 1)
        #expect(receipt.message?.hasPrefix("too old") == true && receipt.message?.contains("abcdefghijklmnop") == false)
    }

    @Test(arguments: [400, 413, 422]) func whatIsMalformedIsNotSentAgain(status: Int) async throws {
        let server = try server([.text(#"{"code":3,"message":"no such field"}"#, status: status)])
        let receipt = try await backend(server).0.send(Self.line)
        #expect(receipt == SpanReceipt(rejectedCount: 2, message: "no such field"))
        #expect(server.requests.count == 1)
    }

    @Test(arguments: [429, 502, 503, 504]) func whatIsTemporaryIsSentAgainWhenTheBackendSaysSo(status: Int) async throws
    {
        let server = try server([.init(status: status, headers: [("Retry-After", "7")]), .init(status: status)])
        let (backend, waits) = try backend(server)
        #expect(try await backend.send(Self.line).acceptedCount == 2)
        #expect(waits.withLock { $0 } == [.seconds(7), .seconds(2)])
    }

    /// Breaks when the wait until a date uses another clock than the given one.
    @Test func aDateWithoutTheBackendsOwnGoesByTheClock() async throws {
        // Sun, 06 Nov 1994 08:49:37 GMT
        struct Fixed: TransactionClock {
            func uptimeMicroseconds() -> Int64 { 0 }
            func wallMicroseconds() -> Int64 { 784_111_777_000_000 }
        }
        let server = try server([.init(status: 503, headers: [("Retry-After", "Sun, 06 Nov 1994 08:49:48 GMT")])])
        let waits = Locked<[Duration]>([])
        let backend = try TraceBackend(server.url(), clock: Fixed()) { wait in waits.withLock { $0.append(wait) } }
        #expect(try await backend.send(Self.line).acceptedCount == 2)
        #expect(waits.withLock { $0 } == [.seconds(11)])
    }

    @Test func aBackendThatHasNoTimeIsAskedABoundedNumberOfTimes() async throws {
        let server = try server(Array(repeating: .init(status: 503, headers: [("Retry-After", "86400")]), count: 20))
        let (backend, waits) = try backend(server)
        let error = await #expect(throws: WaybillError.self) { try await backend.send(Self.line) }
        #expect(error?.code == .transport)
        #expect(server.requests.count == TraceBackend.attemptLimit)
        #expect(
            waits.withLock { $0 } == Array(repeating: TraceBackend.longestWait, count: TraceBackend.attemptLimit - 1))
    }

    @Test(arguments: [301, 401, 403, 404, 405, 415, 500]) func whatDoesNotTakeUsIsAnErrorAtOnce(status: Int)
        async throws
    {
        let server = try server(
            Array(repeating: .init(status: status, headers: [("Location", "/elsewhere")]), count: 2))
        let backend = try backend(server).0
        let error = await #expect(throws: WaybillError.self) { try await backend.send(Self.line) }
        #expect(error?.code == .refused)
        #expect(server.requests.count == 1)
    }

    @Test func aBackendThatIsNotThereIsTriedAgain() async throws {
        let waits = Locked(0)
        let backend = try TraceBackend(refusedURL()) { _ in waits.withLock { $0 += 1 } }
        let error = await #expect(throws: WaybillError.self) { try await backend.send(Self.line) }
        #expect(error?.code == .transport && waits.withLock { $0 } == TraceBackend.attemptLimit - 1)
    }

    @Test func fieldsComeFromTheVariablesOfOpenTelemetry() {
        let environment = ["OTEL_EXPORTER_OTLP_HEADERS": "api-key=secret%20one, x=a=b,broken,evil=%0d%0aHost:x"]
        #expect(TraceBackend.headers(of: environment) == ["api-key": "secret one", "x": "a=b"])
        #expect(
            TraceBackend.headers(of: environment.merging(["OTEL_EXPORTER_OTLP_TRACES_HEADERS": "t=1"]) { $1 }) == [
                "t": "1"
            ])
        #expect(TraceBackend.headers(of: [:]).isEmpty)
    }
}
