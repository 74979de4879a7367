/// The outcome of a transaction, or of one source's part in it.
///
/// `succeeded`, `failed`, `cancelled` and `abandoned` are recorded when a part is closed. The others are derived.
public enum TransactionOutcome: Int, Sendable, Hashable, CaseIterable {
    /// The transaction has not been closed yet.
    case open = 0
    /// The transaction achieved its goal.
    case succeeded = 1
    /// The transaction failed because of an error.
    case failed = 2
    /// The user or the app cancelled the transaction.
    case cancelled = 3
    /// The last reference to an unfinished handle was released.
    case abandoned = 4
    /// The source ended before it closed the transaction.
    case interrupted = 5
    /// No fact was recorded during the use case's timeout.
    case timedOut = 6

    /// The word used in sets, in answers and on the command line: `timed_out`.
    public var name: String {
        switch self {
        case .open: "open"
        case .succeeded: "succeeded"
        case .failed: "failed"
        case .cancelled: "cancelled"
        case .abandoned: "abandoned"
        case .interrupted: "interrupted"
        case .timedOut: "timed_out"
        }
    }

    /// Creates the outcome with that ``name``; `nil` for other words.
    public init?(name: some StringProtocol) {
        guard let outcome = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = outcome
    }

    /// Whether a `closed` fact can have this outcome. The others are derived.
    public var isRecorded: Bool { (1...4).contains(rawValue) }
}

/// The result of recording a fact.
public enum LogResult: Sendable, Hashable {
    /// The fact is in the journal. It survives a crash from now on, and a power failure after five seconds.
    case journaled
    /// The fact is in memory until the next batch reaches the store, after at most 250 milliseconds. This applies to a
    /// source's first milliseconds, to in-memory stores, and if the journal can't be written.
    case inMemory
    /// There was no room, or the part's opening was refused. The fact is counted, and has no sequence.
    case refused
    /// The app's own hook withheld the fact, or its part's opening. The fact is counted, and has no sequence.
    case withheld
    /// Recording is off.
    case off
}
