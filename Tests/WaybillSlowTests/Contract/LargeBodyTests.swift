import Foundation
import TestSupport
import Testing
import Waybill

@testable import WaybillTests

#if canImport(FoundationNetworking)
import FoundationNetworking
import WaybillQueries
#endif

/// Bodies that do not fit into any buffer, by every `WayIn`.
@Suite(.timeLimit(.minutes(10))) struct LargeBodyTests {
    @Test(.serialized, arguments: WayIn.all.without(.file)) func aFileOf64MegabytesIsUploaded(way: WayIn) async throws {
        let folder = try TemporaryDirectory()
        let body = WayIn.pattern(64 << 20)
        try body.write(to: folder.file("large"))
        let server = try LoopbackServer { .text($0.body == body ? "the same" : "another") }
        let trial = try await Trial(
            WayIn.Call(request: WayIn.request(server.url(), "PUT"), body: .file(folder.file("large"))), by: way,
            isCompared: false)
        #expect(trial.outcome.body == Data("the same".utf8))
        if !way.limits.contains(.requestBody) { #expect(trial.exchange.sentByteCount == Int64(body.count)) }
    }

    @Test(.serialized, arguments: WayIn.all) func anAnswerOf64MegabytesIsWhole(way: WayIn) async throws {
        let body = WayIn.pattern(64 << 20)
        let server = try LoopbackServer { _ in .init(body: body) }
        let trial = try await Trial(WayIn.Call(request: WayIn.request(server.url())), by: way, isCompared: false)
        #expect(trial.outcome.body == body)
    }
}
