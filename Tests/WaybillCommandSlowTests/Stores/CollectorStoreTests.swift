#if Collector
import Foundation
import StoreConformance
import TestSupport
import Testing
import WaybillCollector
import WaybillTesting

@testable import WaybillCollectorTests
@testable import WaybillCommand

/// A collector, asked over HTTP as the command line asks it.
@Suite(.timeLimit(.minutes(10))) struct CollectorStoreTests {
    /// Breaks when a set, a list, a record, an answer or an export means something else over HTTP than in the store.
    @Test(arguments: seeds(0..<10)) func aCollectorConformsOverHTTP(seed: Int) async throws {
        let (folder, clock) = (try TemporaryDirectory(), ManualClock())
        let token = try TokenFile(folder: folder.url).add(role: .admin, project: .standard).secret
        var limits = CollectorLimits()
        // By the suite's clock hundreds of requests come at once.
        limits.requestsPerSecond = 1_000_000
        let collector = try Collector(folder: folder.url, access: .tokens, limits: limits, clock: clock)
        try await CollectorServer.run(collector) { server in
            let store = RemoteStore(try #require(URL(string: "http://127.0.0.1:\(server.port)")), token: token)
            let findings = await StoreConformance(seeds: seed..<seed + 1, clock: clock) { _ in store }.findings()
            #expect(findings.isEmpty, "\(findings)")
        }
    }
}
#endif
