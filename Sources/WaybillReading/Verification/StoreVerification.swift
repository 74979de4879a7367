public import WaybillCore
import WaybillStore

/// What a check of a whole store has found.
public struct StoreVerification: Hashable, Sendable, Codable {
    /// Sentences, each saying what is wrong; empty: nothing.
    public var problems: [String]
    /// What a collector has not got (yet), and what else is worth knowing and no fault of the store.
    public var remarks: [String]
    /// Transactions; nil where they cannot be counted, as over HTTP.
    public var transactionCount: Int?
    /// Facts, counted in their rows; where that cannot be done, those that the ledgers call delivered, also what was
    /// retired since.
    public var factCount: Int64
    /// Each source as it was recounted.
    public var sources: [SourceBalance]
    /// Own sources that have ended and of which nothing but sums is left, by app.
    public var totals: [AppTotal] = []
    /// How large each table is with its indexes, the largest first; empty where this SQLite cannot tell (it lacks
    /// `dbstat`).
    public var tables: [TableSize] = []

    /// Whether there is no problem.
    public var isSound: Bool { problems.isEmpty }

    /// A source's facts, counted in three ways that must agree.
    public struct SourceBalance: Hashable, Sendable, Codable {
        /// The source.
        public var id: GUID
        /// Facts in the rows; nil where they cannot be counted, as over HTTP.
        public var rowCount: Int64?
        /// Facts in the ranges: settled (own source) or received; nil as for `rowCount`.
        public var bookedCount: Int64?
        /// Booked verdict by verdict.
        public var ledger: Ledger
        /// What is missing, although later facts are there.
        public var gaps: [SourceRecord.Gap]

        /// Makes a balance.
        public init(
            id: GUID, rowCount: Int64? = nil, bookedCount: Int64? = nil, ledger: Ledger, gaps: [SourceRecord.Gap]
        ) {
            (self.id, self.rowCount, self.bookedCount, self.ledger, self.gaps) = (
                id, rowCount, bookedCount, ledger, gaps
            )
        }
    }

    /// A table's share in the file.
    public struct TableSize: Hashable, Sendable, Codable {
        /// Of the table.
        public var name: String
        /// With its indexes.
        public var byteCount: Int64
        /// Its bytes for each row of the table of events, so that the sum over all tables is what an event costs,
        /// everything included; nil without any.
        public var bytesPerEvent: Double?

        /// Makes a size.
        public init(name: String, byteCount: Int64, bytesPerEvent: Double? = nil) {
            (self.name, self.byteCount, self.bytesPerEvent) = (name, byteCount, bytesPerEvent)
        }
    }

    /// Makes a finding.
    public init(
        problems: [String], remarks: [String] = [], transactionCount: Int? = nil, factCount: Int64,
        sources: [SourceBalance] = [],
        totals: [AppTotal] = [], tables: [TableSize] = []
    ) {
        (self.problems, self.remarks, self.transactionCount, self.factCount) = (
            problems, remarks, transactionCount, factCount
        )
        (self.sources, self.totals, self.tables) = (sources, totals, tables)
    }
}

extension StoreVerification {
    /// What the ledgers of sources say, where nothing else can be looked at.
    public init(ledgersOf records: [SourceRecord]) {
        problems = records.filter { !$0.ledger.isBalanced }.map { "The ledger of source \($0.id) does not balance." }
        remarks = ["Ledgers and gaps were checked. To have the file checked too, verify the collector's folder."]
        factCount = records.reduce(0) { $0 + $1.ledger.delivered }
        sources = records.map { SourceBalance(id: $0.id, ledger: $0.ledger, gaps: $0.gaps) }
    }
}

extension StoreVerification: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var verification = self
        verification.problems = problems.redacted(by: redactor)
        verification.remarks = remarks.redacted(by: redactor)
        for index in totals.indices { verification.totals[index].app = redactor.text(totals[index].app) }
        return verification
    }
}
