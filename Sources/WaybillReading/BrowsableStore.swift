public import Foundation
public import WaybillCore

/// A store at hand that pages can be made of: what they show beside what every store tells.
public protocol BrowsableStore: RecordStore {
    /// What a page of sources or of one source shows of them, besides their records; one that is not known is left out.
    func details(of sources: [GUID], upTo limits: SourceDetails.Limits) async throws -> [GUID: SourceDetails]

    /// One source, by its ID, its support code, or the beginning of that.
    func source(_ key: String) async throws -> SourceRecord

    /// Names of apps, in order.
    func apps(limit: Int) async throws -> [String]

    /// The names that were recorded, and what is worth knowing of them; where there are very many, those of use cases
    /// that have transactions.
    func names() async throws -> [RecordedName]

    /// How many codes have several names.
    func nameConflictCount() async throws -> Int

    /// When each version of an app was first started.
    func firstStarts() async throws -> [AppVersion: Date]

    /// A number that is another one when anything has changed.
    func version() async throws -> Int64

    /// How many errors transactions hold: events that carry one, and exchanges that failed; only those that have some.
    func errorCounts(of transactions: [GUID]) async throws -> [GUID: Int]

    /// The transactions that the same source began just before and just after this one; nil where there is none.
    func neighbors(of transaction: GUID) async throws -> (before: TransactionSummary?, after: TransactionSummary?)

    /// What is on its way, what was rejected, and what came.
    ///
    /// - Parameter hours: How many of the last ones are counted by the hour.
    func delivery(hours: Int) async throws -> DeliveryState

    /// Facts that were rejected and are still there, the newest first.
    func quarantined(limit: Int) async throws -> [QuarantinedFact]
}

/// What is told of one source besides its record.
public struct SourceDetails: Sendable {
    /// How far its clock was from those of others; nil where nothing is known.
    public var clocks: SourceClocks?
    /// About when missing facts were recorded.
    public var gaps: [GapTime]
    /// The transactions that it took part in last, the latest first.
    public var transactions: [TransactionSummary]
    /// When its latest fact was recorded; nil where there is none. Of a source that was received, only where
    /// transactions are told, too.
    public var latestFact: Date?
    /// When the first set of it brought facts; nil for a source of this very store, and where no transactions are told.
    public var firstArrival: Date?

    /// Makes details.
    public init(
        clocks: SourceClocks?, gaps: [GapTime], transactions: [TransactionSummary], latestFact: Date?,
        firstArrival: Date?
    ) {
        self.clocks = clocks
        self.gaps = gaps
        self.transactions = transactions
        self.latestFact = latestFact
        self.firstArrival = firstArrival
    }

    /// About when a source's missing facts were recorded: the facts around them that are there.
    public struct GapTime: Hashable, Sendable {
        /// What is missing.
        public var gap: SourceRecord.Gap
        /// When a fact before was recorded; nil: there is none.
        public var after: Date?
        /// The same of a fact behind; nil: there is none.
        public var before: Date?

        /// Makes a gap's times.
        public init(gap: SourceRecord.Gap, after: Date?, before: Date?) {
            self.gap = gap
            self.after = after
            self.before = before
        }
    }

    /// How much of each is told; 0: it is not looked for.
    public struct Limits: Sendable, Hashable {
        /// Other clocks that this one is compared with.
        public var clocks: Int
        /// Gaps of which the time is told.
        public var gaps: Int
        /// Transactions that it took part in.
        public var transactions: Int

        /// Makes limits.
        public init(clocks: Int, gaps: Int = 0, transactions: Int = 0) {
            self.clocks = clocks
            self.gaps = gaps
            self.transactions = transactions
        }
    }
}

extension SourceDetails: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var details = self
        details.clocks = clocks.redacted(by: redactor)
        details.transactions = transactions.redacted(by: redactor)
        return details
    }
}
