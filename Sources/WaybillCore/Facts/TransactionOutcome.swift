/// How a transaction, or one source's part in it, ended.
///
/// `succeeded`, `failed`, `canceled` and `abandoned` are recorded when a part is closed; the others are derived.
public enum TransactionOutcome: Int, Sendable, Hashable, CaseIterable {
    /// Nothing has closed it yet.
    case open = 0
    /// It reached its aim.
    case succeeded = 1
    /// It did not, because of an error.
    case failed = 2
    /// It was ended before that, by the user or by the app.
    case canceled = 3
    /// The last reference to an unfinished handle went away.
    case abandoned = 4
    /// Its source ended before anything closed it.
    case interrupted = 5
    /// Nothing was recorded for the use case's timeout.
    case timedOut = 6

    /// The word used in sets, in answers and on the command line: `timed_out`.
    public var name: String {
        switch self {
        case .open: "open"
        case .succeeded: "succeeded"
        case .failed: "failed"
        case .canceled: "canceled"
        case .abandoned: "abandoned"
        case .interrupted: "interrupted"
        case .timedOut: "timed_out"
        }
    }

    /// Reads the word; nil for any other.
    public init?(name: some StringProtocol) {
        guard let outcome = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = outcome
    }

    /// Whether a `closed` fact can carry it; the others are derived.
    public var isRecorded: Bool { (1...4).contains(rawValue) }
}

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
