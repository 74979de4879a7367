import Foundation
import TestSupport
import Testing
import WaybillCore

@testable import Waybill

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The request for a set on the wire: compressed, and modified by the app's middleware.
@Suite(.timeLimit(.minutes(5)))
struct RequestTests {
    private let set: OutgoingSet

    init() {
        let facts = (2...201).map {
            Fact(sequence: $0, part: 1, atMicroseconds: $0 * 250, content: .event(Fact.Event(code: 1)))
        }
        let share = TransactionSet.Share(
            source: SourceIdentity(id: GUID()), clocks: [ClockAnchor(atMicroseconds: 0, offsetMicroseconds: 0)],
            ledger: Ledger(recorded: 201, pending: 201), facts: facts)
        let made = TransactionSet(id: GUID(), sources: [share])
        set = OutgoingSet(id: made.id, body: made.encoded(), factCount: 200)
    }

    // MARK: Compression

    @Test func aBodyIsCompressed() async throws {
        let collector = try ScriptedCollector()
        _ = try await URLSessionTransport(collector: collector.server.url()).send(set)
        let request = try #require(collector.server.requests.first)
        #expect(request.header("Content-Encoding") == "gzip")
        #expect(request.header("Content-Length") == "\(request.body.count)")
        #expect(request.body.count * 5 < set.body.count)
        #expect(gunzip(request.body) == set.body)
    }

    @Test func aBodyThatWouldNotBecomeSmallerIsSentAsItIs() async throws {
        let server = try LoopbackServer { _ in .closed }
        let small = OutgoingSet(id: GUID(), body: Array("{}".utf8), factCount: 0)
        _ = try? await URLSessionTransport(collector: server.url()).send(small)
        #expect(server.requests.first?.header("Content-Encoding") == nil)
        #expect(server.requests.first?.body == Data("{}".utf8))
    }

    /// Breaks when a collector of an older version accepts nothing from newer clients.
    @Test func aCollectorThatTakesNoCompressedBodyGetsItAsItIsAndIsNotAskedAgain() async throws {
        let collector = try ScriptedCollector([{ _ in .init(status: 415) }])
        let transport = URLSessionTransport(collector: collector.server.url())
        for _ in 0..<2 { #expect(try await transport.send(set).acceptedCount == 200) }
        #expect(collector.server.requests.map { $0.header("Content-Encoding") } == ["gzip", nil, nil])
        #expect(collector.server.requests.last?.body == Data(set.body))
    }

    // MARK: Middleware

    @Test func middlewareHasTheLastWordOnARequest() async throws {
        let collector = try ScriptedCollector()
        let transport = URLSessionTransport(collector: collector.server.url(), token: "one") { request in
            var request = request
            request.setValue("\(request.httpBody?.count ?? 0)", forHTTPHeaderField: "X-Signed-Bytes")
            request.setValue("Bearer two", forHTTPHeaderField: "Authorization")
            return request
        }
        _ = try await transport.send(set)
        let request = try #require(collector.server.requests.first)
        #expect(request.header("X-Signed-Bytes") == "\(request.body.count)")
        #expect(request.header("Authorization") == "Bearer two")
    }

    @Test func middlewareMayEncodeTheBodyInAnotherWay() async throws {
        let collector = try ScriptedCollector()
        let transport = URLSessionTransport(collector: collector.server.url()) { [set] request in
            var request = request
            request.setValue(nil, forHTTPHeaderField: "Content-Encoding")
            request.httpBody = Data(set.body)
            return request
        }
        #expect(try await transport.send(set).acceptedCount == 200)
        #expect(collector.server.requests.first?.body == Data(set.body))
    }

    @Test func aFailureOfTheMiddlewareIsOneOfTheFlushAndNothingIsSent() async throws {
        struct NoKey: Error {}
        let collector = try ScriptedCollector()
        let transport = URLSessionTransport(collector: collector.server.url()) { _ in throw NoKey() }
        let set = set
        await #expect(throws: NoKey.self) { try await transport.send(set) }
        #expect(collector.requestCount == 0)
    }
}
