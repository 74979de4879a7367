/// How a transaction, or one source's part in it, ended.
///
/// The first four are recorded when a part is closed. The others are derived: `open` until something closes it, `interrupted` when its source
/// ended first, `timedOut` when nothing was recorded for the use case's timeout.
public enum TransactionOutcome: Int, Sendable, Hashable, CaseIterable {
    case open = 0
    case succeeded = 1
    case failed = 2
    case canceled = 3
    /// The last reference to an unfinished handle went away.
    case abandoned = 4
    case interrupted = 5
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
