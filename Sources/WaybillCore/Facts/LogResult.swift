/// What became of a fact the moment it was recorded.
public enum LogResult: Sendable, Hashable {
    /// It is in the journal: it survives the death of this process from now on, and a power cut five seconds from now.
    case journaled
    /// It is held in memory until the next batch reaches the store, a quarter of a second later at most: in the first
    /// milliseconds of a source, in a store in memory, and where no journal can be made or written.
    case inMemory
    /// There was no room, or the part it belongs to was not taken; it is counted, and has no sequence.
    case refused
    /// The app's own hook kept it from being recorded, or the opening of the part it belongs to; it is counted, and has
    /// no sequence.
    case withheld
    /// Recording is off.
    case off
}
