import Testing
import WaybillCore

/// A plain event consists of its code alone.
@Suite(.timeLimit(.minutes(5))) struct PlainEventTests {
    /// Breaks when an event's details get no room in the journal and the store, and aren't redacted.
    @Test func anEventIsPlainWhenNothingIsSaidOfItButItsCode() {
        #expect(Fact.Event(code: 7).isPlain)
        #expect(!Fact.Event(code: 7, error: RecordedError(code: 1)).isPlain)
        #expect(!Fact.Event(code: 7, attributes: ["a": 1]).isPlain)
    }

    /// Breaks when an event gets a member that `isPlain` doesn't check: update `isPlain` and this list.
    @Test func everyMemberOfAnEventIsKnown() {
        #expect(Mirror(reflecting: Fact.Event(code: 7)).children.map(\.label) == ["code", "error", "attributes"])
    }
}
