package import WaybillCore

/// What a recorder says of one fact.
package struct Recorded: Sendable {
    /// The fact's sequence; 0 where it was not taken.
    package var sequence: Int64
    package var result: LogResult

    package init(sequence: Int64, result: LogResult) {
        self.sequence = sequence
        self.result = result
    }

    /// Not taken for want of room.
    package static let refused = Recorded(sequence: 0, result: .refused)

    /// Not taken because the app did not want it recorded.
    package static let withheld = Recorded(sequence: 0, result: .withheld)
}
