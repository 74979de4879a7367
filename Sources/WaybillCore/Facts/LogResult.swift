/// What became of a fact the moment it was recorded.
public enum LogResult: Sendable, Hashable {
    /// It survives the death of this process.
    case journaled
    /// It is held in memory until the next batch reaches the store, a quarter of a second later at most.
    case inMemory
    /// There was no room, or the part it belongs to was not taken; it is counted, and has no sequence.
    case refused
    /// Recording is off.
    case off
}
