package import WaybillCore

/// Takes facts on the caller's thread and gives each its sequence and its time; never blocks on the store, never throws.
///
/// The seam between recording and storing: the drain takes batches from behind it.
package protocol Recorder: AnyObject, Sendable {
    /// Takes a fact. For an `opened` fact the part is its own sequence, whatever is given.
    func record(_ content: Fact.Content, part: Int) -> Recorded

    /// Takes an event of which there is no more to say: what most facts are.
    func record(event code: Int, part: Int) -> Recorded

    /// Hands over up to `limit` facts that no earlier call handed over, oldest first; empty when there are none.
    func takeBatch(limit: Int) -> [Fact]

    /// The facts of the last batch are in the store.
    func confirmBatch()

    /// The facts of the last batch could not be stored: they are the first of the next one.
    func returnBatch()

    /// A closing for which room is kept will never come.
    func forgoClosing()

    /// Whether enough is stored that it should be synced now, so that its room is free again.
    var wantsSync: Bool { get }

    /// What was confirmed until now is on the disk.
    func confirmSync()

    /// Facts that were not taken for want of room, so far.
    var refusedCount: Int { get }
}

/// What a recorder says of one fact.
package struct Recorded: Sendable {
    /// The fact's sequence; 0 where it was not taken.
    package var sequence: Int
    package var result: LogResult

    package init(sequence: Int, result: LogResult) {
        self.sequence = sequence
        self.result = result
    }

    /// Not taken for want of room.
    package static let refused = Recorded(sequence: 0, result: .refused)
}
