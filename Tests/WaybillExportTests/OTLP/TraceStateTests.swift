import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillStore

@testable import WaybillExport
@testable import WaybillQueries

/// The sampling information that a tracing backend receives.
@Suite(.timeLimit(.minutes(5))) struct TraceStateTests {
    private struct State {
        var threshold: UInt64
        var random: UInt64

        /// Parses "TraceState: Probability Sampling" of OpenTelemetry, which omits a threshold's trailing zeros.
        init?(_ text: String?) {
            guard let match = text?.wholeMatch(of: #/ot=th:([0-9a-f]{1,14});rv:([0-9a-f]{14})/#) else { return nil }
            let threshold = match.1 + String(repeating: "0", count: 14 - match.1.count)
            guard let threshold = UInt64(threshold, radix: 16), let random = UInt64(match.2, radix: 16) else {
                return nil
            }
            (self.threshold, self.random) = (threshold, random)
        }

        var count: Double { 1 / (1 - Double(threshold) / 0x1p56) }
    }

    private func state(
        _ root: GUID, _ perMillion: Int, _ outcome: TransactionOutcome, isChosen: Bool? = nil, took: Int64 = 1
    ) -> String? {
        Fact.Sampling(
            perMillion: perMillion, isChosen: isChosen ?? root.isChosen(perMillion: perMillion), slowMicroseconds: 10
        ).traceState(root: root, outcome: outcome, tookMicroseconds: took)
    }

    /// Breaks when a backend weighs sampled spans differently than answers do, or a later sampler finds that a span
    /// should not have passed.
    @Test func aSpanCountsForAsManyAsItStandsFor() throws {
        for perMillion in [0, 100, 333_333, 500_000, 999_999] {
            for _ in 0..<200 {
                let root = GUID()
                let isChosen = root.isChosen(perMillion: perMillion)
                let failed = try #require(State(state(root, perMillion, .failed)))
                #expect(failed.threshold == 0)
                #expect(try #require(State(state(root, perMillion, .succeeded, took: 11))).threshold == 0)
                let succeeded = State(state(root, perMillion, .succeeded))
                #expect((succeeded != nil) == isChosen)
                guard let succeeded else { continue }
                #expect(succeeded.random >= succeeded.threshold && succeeded.random == failed.random)
                let weight = 1_000_000 / Double(perMillion)
                #expect(abs(succeeded.count - weight) < weight / 1_000_000)
            }
        }
    }

    @Test func zerosAtTheEndAreLeftOut() throws {
        let chosen = try #require((0..<1_000).lazy.map { _ in GUID() }.first { $0.isChosen(perMillion: 250_000) })
        #expect(state(chosen, 500_000, .succeeded)?.hasPrefix("ot=th:8;rv:") == true)
        #expect(state(chosen, 250_000, .succeeded)?.hasPrefix("ot=th:c;rv:") == true)
        #expect(state(chosen, 250_000, .failed)?.hasPrefix("ot=th:0;rv:") == true)
    }

    /// Breaks when the trace state has a threshold that contradicts the trace's own randomness.
    @Test func whereTheRootIsNotKnownNothingIsSaid() throws {
        let chosen = try #require((0..<1_000).lazy.map { _ in GUID() }.first { $0.isChosen(perMillion: 100_000) })
        #expect(state(chosen, 100_000, .failed, isChosen: false) == nil)
    }

    /// Breaks when the device's own spans, which are complete, count as a sample.
    @Test func theCollectorSaysItAndTheDeviceDoesNot() throws {
        func spans(isReceived: Bool) throws -> String {
            let place = ResolvedLocation.memory(name: GUID().description)
            let store = try Store(place)
            let history = LoginHistory()
            var set = history.clientSet()
            for index in set.sources[0].facts.indices {
                guard case .opened(var opened) = set.sources[0].facts[index].content else { continue }
                opened.sampling = Fact.Sampling(root: opened.transaction, perMillion: 500_000, slowMicroseconds: nil)
                set.sources[0].facts[index].content = .opened(opened)
            }
            _ = try store.ingest(set, receivedAt: LoginHistory.begun)
            if !isReceived { try store.connection.execute("UPDATE sources SET heard_us = NULL") }
            let export = try StoreReader(place).export(.everything, as: .otlp)
            return String(decoding: try #require(try export.piece()), as: UTF8.self)
        }
        let (received, own) = (try spans(isReceived: true), try spans(isReceived: false))
        #expect(received.contains(#""traceState":"ot=th:0;rv:"#), "it failed")
        #expect(!own.contains("traceState"))
        for text in [received, own] {
            #expect(text.contains(#"{"key":"waybill.sample_ppm","value":{"intValue":"500000"}}"#))
        }
    }
}
