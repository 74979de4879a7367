package import WaybillCore

/// What a recorder hands to the store at once: it becomes one SQLite transaction.
package struct RecordedBatch: Sendable {
    /// The recorder; registered before.
    package var source: GUID
    /// In order of sequence.
    package var facts: [Fact]
    /// Names not handed over before; a repetition does no harm.
    package var names: [RecordedName]
    /// Anchors not handed over before; a repetition does no harm.
    package var clocks: [ClockAnchor]
    /// Facts refused since the source started, for want of room.
    package var refused: Int
    /// The highest sequence that was given, where facts are missing after the last one; 0: none are.
    package var recorded: Int

    package init(
        source: GUID, facts: [Fact], names: [RecordedName] = [], clocks: [ClockAnchor] = [], refused: Int = 0,
        recorded: Int = 0
    ) {
        self.source = source
        self.facts = facts
        self.names = names
        self.clocks = clocks
        self.refused = refused
        self.recorded = recorded
    }
}
