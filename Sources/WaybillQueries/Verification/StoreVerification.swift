public import WaybillCore
package import WaybillStore

/// The result of a check of a whole store.
public struct StoreVerification: Hashable, Sendable, Codable {
    /// One sentence per problem; empty for a sound store.
    public var problems: [String]
    /// Missing facts and other observations that are no faults of the store.
    public var remarks: [String]
    /// The number of transactions; `nil` if they can't be counted, as over HTTP.
    public var transactionCount: Int?
    /// The number of facts in rows. Over HTTP, the delivered facts in the ledgers, including retired ones.
    public var factCount: Int64
    /// The sources with their counts.
    public var sources: [SourceBalance]
    package var totals: [AppTotal] = []
    /// The sizes of tables, the largest first; empty if this SQLite lacks `dbstat`.
    public var tables: [TableSize] = []

    /// Adds the result of other sources of the same store.
    package mutating func add(_ other: StoreVerification) {
        problems += other.problems
        remarks += other.remarks
        sources += other.sources
        factCount += other.factCount
    }

    /// Whether there are no problems.
    public var isSound: Bool { problems.isEmpty }

    /// The facts of a source, counted in three ways that must agree.
    public struct SourceBalance: Hashable, Sendable, Codable {
        /// The source.
        public var id: GUID
        /// The facts in rows; `nil` if they can't be counted, as over HTTP.
        public var rowCount: Int64?
        /// The settled or received facts in ranges; `nil` as for `rowCount`.
        public var bookedCount: Int64?
        /// The facts counted by verdict.
        public var ledger: Ledger
        /// The missing facts before later ones.
        public var gaps: [SourceRecord.Gap]

        /// Creates a balance.
        public init(
            id: GUID, rowCount: Int64? = nil, bookedCount: Int64? = nil, ledger: Ledger, gaps: [SourceRecord.Gap]
        ) {
            (self.id, self.rowCount, self.bookedCount, self.ledger, self.gaps) = (
                id, rowCount, bookedCount, ledger, gaps
            )
        }
    }

    /// The size of a table in the file.
    public struct TableSize: Hashable, Sendable, Codable {
        /// The name of the table.
        public var name: String
        /// The bytes of the table and its indexes.
        public var byteCount: Int64
        /// The bytes per row of the table of events. Their sum is the cost of an event; `nil` without events.
        public var bytesPerEvent: Double?

        /// Creates a size.
        public init(name: String, byteCount: Int64, bytesPerEvent: Double? = nil) {
            (self.name, self.byteCount, self.bytesPerEvent) = (name, byteCount, bytesPerEvent)
        }
    }

    package init(remarks: [String] = []) {
        (problems, self.remarks, factCount, sources) = ([], remarks, 0, [])
    }
}

extension StoreVerification {
    /// Creates a result from ledgers alone.
    public init(ledgersOf records: [SourceRecord]) {
        problems = records.filter { !$0.ledger.isBalanced }.map { "The ledger of source \($0.id) does not balance." }
        remarks = ["Ledgers and gaps were checked. To have the file checked too, verify the collector's folder."]
        factCount = records.reduce(0) { $0 + $1.ledger.delivered }
        sources = records.map { SourceBalance(id: $0.id, ledger: $0.ledger, gaps: $0.gaps) }
    }
}

extension StoreVerification: Redactable {
    package mutating func redact(by redactor: Redactor) {
        problems.redact(by: redactor)
        remarks.redact(by: redactor)
        totals.redact(by: redactor)
    }
}

extension StoreReader {
    /// Throws only if the store can't be read. Wrong data is a problem in the result.
    ///
    /// - Parameter counts: The facts of each source, if their rows are kept elsewhere.
    package func verify(_ counts: [GUID: Int64]? = nil) throws(WaybillError) -> StoreVerification {
        try read { () throws(WaybillError) in
            var result = StoreVerification(remarks: warnings)
            let integrity = try connection.statement("PRAGMA integrity_check(20)").rows { row in row.text(0) }
            if integrity != ["ok"] { result.problems += integrity.map { "The file is damaged: \($0)." } }
            for source in try sourceRecords() { try check(source, counts, &result) }
            try checkOrphans(&result)
            try checkLeaders(&result)
            try checkErased(&result)
            try tellLegacyQuarantine(&result)
            result.totals = try connection.totals()
            for total in result.totals where !total.ledger.isBalanced {
                result.problems.append("The totals of \(total.app) do not balance: \(total.ledger.recorded) recorded.")
            }
            result.tables = try tableSizes()
            // Not a problem of the store: an app renamed something, or a debug build did within one version.
            result.remarks += try nameConflicts().map(\.description)
            result.transactionCount = try connection.integer("SELECT count(*) FROM parts WHERE listed_us IS NOT NULL")
            result.factCount = result.sources.reduce(0) { $0 + ($1.rowCount ?? 0) }
            return result
        }
    }

    private func check(
        _ source: SourceRecord, _ counts: [GUID: Int64]?, _ result: inout StoreVerification
    ) throws(WaybillError) {
        let row = try connection.integer("SELECT id FROM sources WHERE uuid = ?", source.id)
        let ranges = try connection.bookedRanges.sequences(of: row)
        let booked = ranges.count
        let ledger = source.ledger
        let retired = try RangeTable.retired(connection).sequences(of: row)
        // Sampled facts stay in the store that recorded them.
        let sampled = try connection.droppedRanges(of: row).filter { $0.reason == .sampled }.sequences
        let kept = source.heardMicroseconds == nil ? ranges.union(sampled) : ranges
        var rows: (booked: Int64, others: Int64) = (counts?[source.id] ?? 0, 0)
        if counts == nil { rows = try factCounts(of: row, booked: kept.subtracting(retired)) }
        let balance = StoreVerification.SourceBalance(
            id: source.id, rowCount: rows.booked + rows.others, bookedCount: booked, ledger: ledger, gaps: source.gaps)
        result.sources.append(balance)
        let name = "Source \(source.id)"
        if !ledger.isBalanced {
            result.problems.append(
                "\(name) does not balance: \(ledger.recorded) recorded, \(ledger.accountedFor) accounted for.")
        }
        if ledger.delivered + ledger.quarantined != booked {
            result.problems.append(
                "\(name): \(ledger.delivered + ledger.quarantined) facts were booked one by one, and \(booked) stand in the ranges."
            )
        }
        if source.heardMicroseconds == nil {
            // Settled facts may have been erased.
            if rows.others != ledger.pending {
                result.problems.append(
                    "\(name): \(ledger.pending) pending facts should be there, and \(rows.others) are.")
            }
        } else if rows.booked != booked - retired.count || rows.others != 0 {
            result.problems.append(
                "\(name): \(booked - retired.count) facts should be there, and \(rows.booked + rows.others) are.")
        }
        if !retired.isEmpty {
            result.remarks.append("\(name): \(retired.count) facts were retired, to keep the store within its limits.")
        }
        if !source.gaps.isEmpty {
            let list = source.gaps.prefix(5).map { $0.first == $0.last ? "\($0.first)" : "\($0.first) to \($0.last)" }
                .joined(
                    separator: ", ")
            let isOne = source.gaps.count == 1 && source.gaps[0].first == source.gaps[0].last
            let told = isOne ? "fact \(list) was" : "facts \(list)\(source.gaps.count > 5 ? " and others" : "") were"
            result.remarks.append("\(name): \(told) not taken in, although later ones were.")
        }
    }

    private func factCounts(of source: Int64, booked: SequenceRanges) throws(WaybillError) -> (
        booked: Int64, others: Int64
    ) {
        var (inside, outside): (Int64, Int64) = (0, 0)
        try connection.statement(SQL.sequences).forEachRow(source) { row in
            if booked.contains(row.int(0)) { inside += 1 } else { outside += 1 }
        }
        return (inside, outside)
    }

    /// Debian and macOS enable dbstat (sqlite.org/dbstat.html). Without it, sizes would need a scan of the file.
    private func tableSizes() throws(WaybillError) -> [StoreVerification.TableSize] {
        let eventCount = try connection.integer("SELECT count(*) FROM events")
        let sizes = try? connection.statement(
            """
            SELECT ifnull(x.tbl_name, d.name), sum(d.pgsize) FROM dbstat d LEFT JOIN sqlite_schema x ON x.name = d.name \
            WHERE d.aggregate = TRUE GROUP BY 1 ORDER BY 2 DESC, 1
            """
        ).rows { row in (name: row.text(0), byteCount: row.int(1)) }
        return (sizes ?? []).map { size in
            StoreVerification.TableSize(
                name: size.name, byteCount: size.byteCount,
                bytesPerEvent: eventCount > 0 ? Double(size.byteCount) / Double(eventCount) : nil)
        }
    }

    private func checkErased(_ result: inout StoreVerification) throws(WaybillError) {
        let count = try connection.integer(
            """
            SELECT (SELECT count(*) FROM parts WHERE guid IN (SELECT guid FROM erased)) \
            + (SELECT count(*) FROM sources WHERE heard_us IS NOT NULL AND installation IN (SELECT guid FROM erased))
            """)
        if count > 0 { result.problems.append("\(count) parts or sources are there although they were erased.") }
    }

    /// Not a problem of the store: it could not read sets of old clients.
    private func tellLegacyQuarantine(_ result: inout StoreVerification) throws(WaybillError) {
        let (rows, count) = try legacyQuarantine(limit: 5)
        for row in rows {
            let name = row.transaction.map { "Transaction \($0)" } ?? "A transaction"
            result.remarks.append("\(name) of a set 0.0.1 could not be read and is in quarantine: \(row.reason).")
        }
        if count > rows.count { result.remarks.append("\(count - rows.count) more of such sets are in quarantine.") }
    }

    private func checkOrphans(_ result: inout StoreVerification) throws(WaybillError) {
        for table in Tables.bySource {
            let count = try connection.integer(
                "SELECT count(*) FROM \(table) WHERE source NOT IN (SELECT id FROM sources)")
            if count > 0 { result.problems.append("\(count) rows of `\(table)` belong to no source.") }
        }
    }

    private func checkLeaders(_ result: inout StoreVerification) throws(WaybillError) {
        let count = try connection.integer(
            "SELECT count(*) FROM (SELECT 1 FROM parts WHERE guid IS NOT NULL GROUP BY guid HAVING count(listed_us) <> 1)"
        )
        if count > 0 { result.problems.append("\(count) transactions have no leading part, or several.") }
    }
}
