import Foundation
import TestSupport
import Testing
import WaybillCore

@testable import WaybillExport
@testable import WaybillQueries
@testable import WaybillStore

@Suite(.timeLimit(.minutes(5))) struct SpanClockTests {
    /// Returns the clock attributes of each exported span, by span name.
    private func offsets(ahead: Int64) throws -> [String: [String: Int64]] {
        let login = LoginHistory()
        var server = login.serverSet()
        server.sources[0].clocks = [ClockAnchor(atMicroseconds: 0, offsetMicroseconds: LoginHistory.begun + ahead)]
        let place = ResolvedLocation.memory(name: GUID().description)
        let store = try Store(place)
        for set in [login.clientSet(), server] {
            let received = ReceivedSet(
                set: Redactor().redacted(set), atMicroseconds: LoginHistory.begun)
            _ = try store.ingest([received])[0].get()
        }
        let export = try StoreReader(place).export(.everything, as: .otlp)
        var found: [String: [String: Int64]] = [:]
        while let piece = try export.piece() {
            for line in piece.split(separator: 0x0A) {
                let traces = try JSONDecoder().decode(Traces.self, from: Data(line))
                for resource in traces.resourceSpans {
                    for span in resource.scopeSpans.flatMap(\.spans) {
                        let clocks = span.attributes.filter { $0.key.hasPrefix("waybill.clock_") }
                        found["\(span.kind) \(span.name) \(found.count)"] = Dictionary(
                            uniqueKeysWithValues: clocks.map { ($0.key, Int64($0.value.intValue ?? "") ?? 0) })
                    }
                }
            }
        }
        return found
    }

    private struct Traces: Decodable {
        struct Resource: Decodable { var scopeSpans: [Scope] }
        struct Scope: Decodable { var spans: [Span] }
        struct Span: Decodable {
            var name: String
            var kind: Int
            var attributes: [Attribute]
        }
        struct Attribute: Decodable {
            struct Value: Decodable { var intValue: String? }
            var key: String
            var value: Value
        }
        var resourceSpans: [Resource]
    }

    /// Breaks when a backend draws a server's part minutes away from the request, without an explanation.
    @Test(arguments: [0, 300_000_000, -3_600_000_000]) func aSpanSaysHowFarItsClockIsFromTheCallers(ahead: Int64) throws
    {
        let store = try offsets(ahead: ahead)
        #expect(
            store.filter { $0.key.hasPrefix("3 ") }.map(\.value) == [[:]],
            "the leading part's own clock is the reference")
        let parts = store.filter { $0.key.hasPrefix("1 ") }
        #expect(parts.count == 2)
        let clocks = parts.values.filter { !$0.isEmpty }
        #expect(clocks.count == 1)
        let offset = try #require(clocks.first?["waybill.clock_offset_us"])
        let uncertainty = try #require(clocks.first?["waybill.clock_uncertainty_us"])
        #expect(abs(offset + ahead) <= uncertainty && uncertainty < 5_000)
    }
}
