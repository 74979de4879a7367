public import WaybillCore

/// A transaction as a line of a list.
///
/// It stands for the part that began it; a part that was joined and whose beginner is not known yet stands in until it
/// is.
public struct TransactionSummary: Hashable, Sendable, Codable, Identifiable {
    /// The transaction's ID.
    public var id: GUID
    /// The use case's code.
    public var useCase: Int
    /// As the beginner's app called it; `use case 17` where no name is known.
    public var useCaseName: String
    /// How it ended, or that it has not.
    public var outcome: TransactionOutcome
    /// Of one that was interrupted, how its process ended; nil: that is not known, or it was not interrupted.
    public var endedBy: SourceEnd?
    /// How the part that stands for it was chosen, or not, among those of its use case; nil: all of them are delivered.
    package var sampling: Fact.Sampling?
    /// Microseconds since 1970.
    package var begunMicroseconds: Int64
    /// From opening to closing; nil while there is no closing.
    package var durationMicroseconds: Int64?
    /// Why it did not succeed; nil where nothing was said.
    public var error: RecordedError?
    /// What was said about it when it was begun.
    public var attributes: Attributes
    /// How many sources took part.
    public var sourceCount: Int
    /// Events of all its parts.
    public var eventCount: Int
    /// Exchanges of all its parts; one seen from both ends counts twice.
    public var exchangeCount: Int
    /// Whether only joined parts are known: the beginner has not flushed yet, or this is a server's own store.
    public var isWaitingForBeginner: Bool
    /// The transaction below which it was begun, whether that is known here or not; nil where it stands by itself.
    public var parent: GUID?
    /// The part of ``parent`` below which it was begun, where the same source has that; nil where another one has.
    public var parentPart: FactID?
    /// The transactions that were begun below it and are known here; nil where there are none.
    public var children: Children?

    /// How many transactions were begun below another one.
    public struct Children: Hashable, Sendable, Codable {
        /// All of them, not counting those below them.
        public var count: Int
        /// Those of them that failed.
        public var failedCount: Int

        /// Makes a count.
        public init(count: Int, failedCount: Int = 0) {
            self.count = count
            self.failedCount = failedCount
        }
    }

    /// Makes a summary.
    package init(
        id: GUID, useCase: Int, useCaseName: String, outcome: TransactionOutcome, begunMicroseconds: Int64,
        durationMicroseconds: Int64?,
        error: RecordedError?, attributes: Attributes, sourceCount: Int, eventCount: Int, exchangeCount: Int,
        isWaitingForBeginner: Bool, endedBy: SourceEnd? = nil,
        parent: GUID? = nil, parentPart: FactID? = nil, children: Children? = nil, sampling: Fact.Sampling? = nil
    ) {
        self.id = id
        self.useCase = useCase
        self.useCaseName = useCaseName
        self.outcome = outcome
        self.endedBy = endedBy
        self.begunMicroseconds = begunMicroseconds
        self.durationMicroseconds = durationMicroseconds
        self.error = error
        self.attributes = attributes
        self.sourceCount = sourceCount
        self.eventCount = eventCount
        self.exchangeCount = exchangeCount
        self.isWaitingForBeginner = isWaitingForBeginner
        self.parent = parent
        self.parentPart = parentPart
        self.children = children
        self.sampling = sampling
    }
}

/// Numbers for a badge.
public struct TransactionCounts: Hashable, Sendable, Codable {
    /// Transactions that are under way: not closed, not interrupted, not timed out.
    public var open: Int
    /// Transactions that failed.
    public var failed: Int
    /// Facts that were recorded here and are not delivered yet.
    public var pending: Int

    /// Makes counts.
    public init(open: Int = 0, failed: Int = 0, pending: Int = 0) {
        self.open = open
        self.failed = failed
        self.pending = pending
    }
}

/// Some rows of a list, and where the next ones start.
public struct RecordPage<Row: Sendable & Codable>: Sendable, Codable {
    /// In the order of the list.
    public var rows: [Row]
    /// Hand it back for the rows that follow; nil when there are none.
    public var next: String?
    /// One sentence on why there are no rows; nil where there are some, or where it was not asked for.
    public var whyEmpty: String?
    /// Hand it back for what has changed since; nil where it was not asked for.
    public var position: String?
    /// One sentence on what was not looked at, where rows may be missing; nil where everything was looked at.
    public var note: String?
    /// How far a page got that ended early; nil where it is full or the list at its end. Not part of its JSON.
    package var progress: SearchProgress?

    private enum CodingKeys: CodingKey { case rows, next, whyEmpty, position, note }

    /// Makes a page.
    public init(rows: [Row], next: String?, whyEmpty: String? = nil, position: String? = nil, note: String? = nil) {
        self.rows = rows
        self.next = next
        self.whyEmpty = whyEmpty
        self.position = position
        self.note = note
    }
}

/// How far a page has got that is neither full nor at the end of its list.
package enum SearchProgress: Sendable, Hashable {
    /// Looked at so many, back to the one that has this place in the list; ``RecordPage/next`` goes on there.
    case lookedAt(Int, through: Place)
    /// Those whose ID or support code the text is; ``RecordPage/next`` begins to look for others that mention it.
    case foundByID

    /// What a list is in the order of.
    package enum Place: Sendable, Hashable {
        /// Microseconds since 1970.
        case time(Int64)
        /// Microseconds; nil: none.
        case duration(Int64?)
    }
}
