import Testing
import WaybillCore

@Suite(.timeLimit(.minutes(5))) struct SpanIDTests {
    /// Other programs compute these IDs, and backends have stored them: they must never change.
    @Test func idsAreThoseOfEveryVersion() throws {
        let source = try #require(GUID("0199f3a2-4e10-7c22-9a4d-1f2e3d4c5b6a"))
        #expect(SpanID(FactID(source: source, sequence: 1)).description == "3b3307fa54fd9ec1")
        #expect(SpanID(FactID(source: source, sequence: 2)).description == "4f820e277d5d5329")
        #expect(source.traceID == "0199f3a24e107c229a4d1f2e3d4c5b6a")
    }

    @Test func noTwoFactsOfASourceShareOne() {
        let source = GUID()
        let ids = Set((0..<100_000).map { SpanID(FactID(source: source, sequence: $0)) })
        #expect(ids.count == 100_000)
    }

    @Test func noIDIsAllZero() {
        #expect(GUID(high: 0, low: 0).traceID == nil)
        #expect(GUID(high: 0, low: 1).traceID == "00000000000000000000000000000001")
    }
}
