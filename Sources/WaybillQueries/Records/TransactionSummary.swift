public import WaybillCore

/// A transaction as a row of a list. Until its beginner arrives, a joined part represents it.
public struct TransactionSummary: Hashable, Sendable, Codable, Identifiable {
    /// The ID of the transaction.
    public var id: GUID
    /// The code of the use case.
    public var useCase: Int
    /// The name of the use case in the beginner's app; `use case 17` without a known name.
    public var useCaseName: String
    /// The outcome.
    public var outcome: TransactionOutcome
    /// The end of the process of an interrupted transaction; `nil` if it is unknown or not interrupted.
    public var endedBy: SourceEnd?
    package var sampling: Fact.Sampling?
    package var begunMicroseconds: Int64
    package var durationMicroseconds: Int64?
    /// The error; `nil` without one.
    public var error: RecordedError?
    /// The attributes of the part.
    public var attributes: Attributes
    /// The number of sources.
    public var sourceCount: Int
    /// The number of events in all parts.
    public var eventCount: Int
    /// The number of exchanges in all parts. An exchange that both ends recorded counts twice.
    public var exchangeCount: Int
    /// Whether only joined parts are known: the beginner has not flushed yet, or this is a server's own store.
    public var isWaitingForBeginner: Bool
    /// The parent, known here or not; `nil` without one.
    public var parent: GUID?
    /// The part of ``parent`` in the same source; `nil` if another source has it.
    public var parentPart: FactID?
    /// The number of known children; `nil` without any.
    public var children: Children?

    /// The number of children of a transaction.
    public struct Children: Hashable, Sendable, Codable {
        /// All children, without their descendants.
        public var count: Int
        /// The failed children.
        public var failedCount: Int

        /// Creates a count.
        public init(count: Int, failedCount: Int = 0) {
            self.count = count
            self.failedCount = failedCount
        }
    }

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

extension TransactionSummary {
    private enum DerivedKeys: CodingKey { case supportCode }

    /// Also writes the support code, which readers of JSON would otherwise have to derive from the ID.
    public func encode(to encoder: any Encoder) throws {
        var derived = encoder.container(keyedBy: DerivedKeys.self)
        try derived.encode(id.supportCode.description, forKey: .supportCode)
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(id, forKey: .id)
        try members.encode(useCase, forKey: .useCase)
        try members.encode(useCaseName, forKey: .useCaseName)
        try members.encode(outcome, forKey: .outcome)
        try members.encodeIfPresent(endedBy, forKey: .endedBy)
        try members.encodeIfPresent(sampling, forKey: .sampling)
        try members.encode(begunMicroseconds, forKey: .begunMicroseconds)
        try members.encodeIfPresent(durationMicroseconds, forKey: .durationMicroseconds)
        try members.encodeIfPresent(error, forKey: .error)
        try members.encode(attributes, forKey: .attributes)
        try members.encode(sourceCount, forKey: .sourceCount)
        try members.encode(eventCount, forKey: .eventCount)
        try members.encode(exchangeCount, forKey: .exchangeCount)
        try members.encode(isWaitingForBeginner, forKey: .isWaitingForBeginner)
        try members.encodeIfPresent(parent, forKey: .parent)
        try members.encodeIfPresent(parentPart, forKey: .parentPart)
        try members.encodeIfPresent(children, forKey: .children)
    }
}

/// The numbers for a badge.
public struct TransactionCounts: Hashable, Sendable, Codable {
    /// The number of open transactions, which are not interrupted or timed out.
    public var open: Int
    /// The number of failed transactions.
    public var failed: Int
    /// The number of facts recorded here that are not delivered yet.
    public var pending: Int

    /// Creates counts.
    public init(open: Int = 0, failed: Int = 0, pending: Int = 0) {
        self.open = open
        self.failed = failed
        self.pending = pending
    }
}

/// Rows of a list, and the position of the next ones.
public struct RecordPage<Row: Sendable & Codable>: Sendable, Codable {
    /// The rows in the order of the list.
    public var rows: [Row]
    /// The cursor for the next page; `nil` on the last one.
    public var next: String?
    /// One sentence on why there are no rows; `nil` if there are some, or if nobody asked.
    public var whyEmpty: String?
    /// The position for listing later changes; `nil` if nobody asked.
    public var position: String?
    /// One sentence on skipped data if rows may be missing; otherwise `nil`.
    public var note: String?
    package var progress: SearchProgress?

    private enum CodingKeys: CodingKey { case rows, next, whyEmpty, position, note }

    /// Creates a page.
    public init(rows: [Row], next: String?, whyEmpty: String? = nil, position: String? = nil, note: String? = nil) {
        self.rows = rows
        self.next = next
        self.whyEmpty = whyEmpty
        self.position = position
        self.note = note
    }
}

package enum SearchProgress: Sendable, Hashable {
    /// It examined this many transactions, down to this place. ``RecordPage/next`` continues there.
    case lookedAt(Int, through: Place)
    /// It found transactions by ID or support code. ``RecordPage/next`` searches for the text.
    case foundByID

    package enum Place: Sendable, Hashable {
        case time(Int64)
        case duration(Int64?)
    }
}
