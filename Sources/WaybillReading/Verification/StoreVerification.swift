package import WaybillCore
import WaybillStore

/// What a check of a whole store has found.
package struct StoreVerification: Hashable, Sendable, Codable {
    /// Sentences, each saying what is wrong; empty: nothing.
    package var problems: [String]
    /// What a collector has not got (yet), and what else is worth knowing and no fault of the store.
    package var remarks: [String]
    /// Transactions; nil where they cannot be counted, as over HTTP.
    package var transactionCount: Int?
    /// Facts, counted in their rows; where that cannot be done, those that the ledgers call delivered, also what was retired since.
    package var factCount: Int
    /// Each source as it was recounted.
    package var sources: [SourceBalance]
    /// Own sources that have ended and of which nothing but sums is left, by app.
    package var totals: [AppTotal] = []
    /// How large each table is with its indexes, the largest first; empty where this SQLite cannot tell (it lacks `dbstat`).
    package var tables: [TableSize] = []

    /// Whether there is no problem.
    package var isSound: Bool { problems.isEmpty }

    /// A source's facts, counted in three ways that must agree.
    package struct SourceBalance: Hashable, Sendable, Codable {
        package var id: GUID
        /// Facts in the rows; nil where they cannot be counted, as over HTTP.
        package var rowCount: Int?
        /// Facts in the ranges: settled (own source) or received; nil as for `rowCount`.
        package var bookedCount: Int?
        /// Booked verdict by verdict.
        package var ledger: Ledger
        package var gaps: [SourceRecord.Gap]
    }

    /// A table's share in the file.
    package struct TableSize: Hashable, Sendable, Codable {
        package var name: String
        package var byteCount: Int
        /// Its bytes for each row of the table of events, so that the sum over all tables is what an event costs, everything included; nil without any.
        package var bytesPerEvent: Double?
    }
}

extension StoreVerification {
    /// What the ledgers of sources say, where nothing else can be looked at.
    package init(ledgersOf records: [SourceRecord]) {
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
