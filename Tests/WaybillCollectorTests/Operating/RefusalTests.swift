#if Collector
import Foundation
import TestSupport
import Testing
@testable import WaybillCollector
import WaybillCore
import WaybillQueries
import WaybillTesting

/// The collector counts and logs refused requests and their reasons, without secrets and within bounds.
@Suite(.timeLimit(.minutes(5))) struct RefusalTests {
    private let folder: TemporaryDirectory
    private let file: TokenFile

    init() throws {
        folder = try TemporaryDirectory()
        file = TokenFile(folder: folder.url)
    }

    private func counts(_ server: CollectorServer, _ token: BearerToken, of metric: String) async throws -> [String] {
        let text = try await server.get("/metrics", headers: ["Authorization": token.fieldValue]).text
        return text.split(separator: "\n").filter { $0.hasPrefix(metric) && !$0.hasSuffix(" 0") }.map {
            String($0.dropFirst(metric.count))
        }
    }

    @Test func refusalsAreCountedByReasonAndProject() async throws {
        let ingest = try file.add(role: .ingest, project: .standard).secret
        let read = try file.add(role: .read, project: .standard).secret
        let other = try file.add(role: .read, project: #require(ProjectName("shop"))).secret
        var limits = CollectorLimits()
        limits.requestsPerSecond = 2
        limits.pendingByteCount = 10
        let collector = try Collector(folder: folder.url, access: .tokens, limits: limits, clock: ManualClock())
        try await CollectorServer.run(collector) { server async throws in
            let set = Data(LoginHistory().clientSet().encoded())
            let wrong = "Bearer 0123456789abcdef"
            #expect(try await server.post(set, headers: ["Authorization": ingest.fieldValue]).status == 503)
            #expect(try await server.get("/v1/sources", headers: ["Authorization": ingest.fieldValue]).status == 403)
            for _ in 0..<2 {
                #expect(try await server.post(set, headers: ["Authorization": ingest.fieldValue]).status == 503)
            }
            #expect(try await server.post(set, headers: ["Authorization": ingest.fieldValue]).status == 429)
            for _ in 0..<2 {
                #expect(try await server.get("/v1/sources", headers: ["Authorization": wrong]).status == 401)
            }
            #expect(try await server.get("/v1/sources").status == 401)

            #expect(
                try await counts(server, read, of: "waybill_refusals_total") == [
                    #"{project="waybill",reason="role"} 1"#, #"{project="waybill",reason="rate"} 1"#,
                    #"{project="waybill",reason="overload"} 3"#,
                ])
            let unknown = [#"{reason="no_token"} 1"#, #"{reason="unknown_token"} 2"#]
            #expect(try await counts(server, read, of: "waybill_unknown_refusals_total") == unknown)
            #expect(
                try await counts(server, other, of: "waybill_refusals_total").isEmpty,
                "nothing of one project is visible to another")
            #expect(
                try await counts(server, read, of: #"waybill_answers_total{project="waybill",route="POST /v1/sets""#)
                    == [#",status="429"} 1"#, #",status="503"} 3"#])
        }
    }

    /// Breaks when the log contains a secret, or repeated refused requests fill the disk with log lines.
    @Test func aRefusalIsLoggedOnceInAWhileWithTheNameOfTheTokenAndNotItsValue() async throws {
        let ingest = try file.add(role: .ingest, project: .standard)
        let log = LogLines()
        let clock = ManualClock()
        let collector = try Collector(folder: folder.url, access: .tokens, limits: CollectorLimits(), clock: clock)
        try await CollectorServer.run(collector, logger: log.logger) { server async throws in
            func ask(_ field: String) async throws {
                _ = try await server.get("/v1/sources", headers: ["Authorization": field])
            }
            func refused() -> [String] { log.all.filter { $0.hasPrefix("warning refused") } }
            for _ in 0..<5 { try await ask(ingest.secret.fieldValue) }
            for _ in 0..<5 { try await ask("Bearer 0123456789abcdef") }
            #expect(refused().count == 2)
            #expect(
                refused().first?.contains("count=1") == true
                    && refused().first?.contains("token=\(ingest.token.id)") == true)
            #expect(refused().first?.contains("reason=role") == true && refused().first?.contains("status=403") == true)
            #expect(
                refused().last?.contains("reason=unknown_token") == true
                    && refused().last?.contains("token=none") == true)
            clock.advance(by: .seconds(10))
            try await ask(ingest.secret.fieldValue)
            #expect(refused().count == 3 && refused().last?.contains("count=5") == true)
            #expect(!log.all.contains { $0.contains(ingest.secret.text) || $0.contains("0123456789abcdef") })
        }
    }

    @Test func eachKindOfRefusalHasALineOfItsOwn() {
        let log = RefusalLog()
        let kinds = [
            RefusalLog.Kind(refusal: .rate, name: "a"), .init(refusal: .rate, name: "b"),
            .init(refusal: .role, name: "a"),
        ]
        #expect(kinds.map { log.count($0, now: 0) } == [1, 1, 1])
        #expect(kinds.map { log.count($0, now: 9_999_999) } == [nil, nil, nil])
        #expect(log.count(kinds[0], now: 10_000_000) == 2)
        #expect(log.count(kinds[0], now: 19_999_999) == nil)
    }
}
#endif
