package import WaybillCore

/// What a check of a whole store has found.
package struct StoreVerification: Hashable, Sendable, Codable {
    /// Sentences, each saying what is wrong; empty: nothing.
    package var problems: [String]
    /// What a collector has not got (yet), and what else is worth knowing and no fault of the store.
    package var remarks: [String]
    /// Transactions.
    package var transactionCount: Int
    /// Facts, counted in their rows.
    package var factCount: Int
    /// Each source as it was recounted.
    package var sources: [SourceBalance]

    /// Whether there is no problem.
    package var isSound: Bool { problems.isEmpty }

    /// A source's facts, counted in three ways that must agree.
    package struct SourceBalance: Hashable, Sendable, Codable {
        package var id: GUID
        /// Facts in the rows.
        package var rowCount: Int
        /// Facts in the ranges: settled (own source) or received.
        package var bookedCount: Int
        /// Booked verdict by verdict.
        package var ledger: Ledger
        package var gaps: [SourceRecord.Gap]
    }
}
