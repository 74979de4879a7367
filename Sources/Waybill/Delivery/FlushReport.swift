public import WaybillCore

/// What a flush did.
public struct FlushReport: Sendable, Hashable {
    /// Facts that the collector accepted or knew already.
    public var delivered = 0
    /// Facts that the collector rejected, or that the format of a delivery has no place for; they are kept in
    /// quarantine.
    public var rejected = 0
    /// Facts that are still to be delivered.
    public var pending = 0
    /// Facts of transactions that sampling did not choose, and whose end is awaited; not among the pending.
    public var held = 0
    /// Why it stopped before everything was delivered; nil when nothing went wrong.
    public var error: WaybillError?

    /// Makes a report.
    public init(
        delivered: Int = 0, rejected: Int = 0, pending: Int = 0, held: Int = 0, error: WaybillError? = nil
    ) {
        self.delivered = delivered
        self.rejected = rejected
        self.pending = pending
        self.held = held
        self.error = error
    }

    /// Whether nothing is left to deliver.
    public var isComplete: Bool { pending == 0 && error == nil }
}
