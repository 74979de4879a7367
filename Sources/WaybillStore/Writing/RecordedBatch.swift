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
    /// Facts that were recorded and are lost.
    package var dropped: [DroppedRange]
    /// Facts refused since the source started, for want of room.
    package var refused: Int64

    package init(
        source: GUID, facts: [Fact], names: [RecordedName] = [], clocks: [ClockAnchor] = [],
        dropped: [DroppedRange] = [], refused: Int64 = 0
    ) {
        self.source = source
        self.facts = facts
        self.names = names
        self.clocks = clocks
        self.dropped = dropped
        self.refused = refused
    }
}
