import Testing
import WaybillCore

/// What makes an event more than its code.
@Suite(.timeLimit(.minutes(5))) struct PlainEventTests {
    /// Breaks when something is said of an event that neither takes room in the journal and the store, nor is redacted.
    @Test func anEventIsPlainWhenNothingIsSaidOfItButItsCode() {
        #expect(Fact.Event(code: 7).isPlain)
        #expect(!Fact.Event(code: 7, error: RecordedError(code: 1)).isPlain)
        #expect(!Fact.Event(code: 7, attributes: ["a": 1]).isPlain)
    }

    /// Breaks when a member was added of which `isPlain` knows nothing: then it has to be looked at there, and here.
    @Test func everyMemberOfAnEventIsKnown() {
        #expect(Mirror(reflecting: Fact.Event(code: 7)).children.map(\.label) == ["code", "error", "attributes"])
    }
}
