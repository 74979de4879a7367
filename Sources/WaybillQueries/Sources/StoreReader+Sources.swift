package import WaybillCore
package import WaybillStore

extension StoreReader {
    package func sources() throws(WaybillError) -> [SourceRecord] {
        try read { () throws(WaybillError) in try sourceRecords() }
    }

    package func sources(matching filter: SourceFilter, limit: Int, after cursor: String?) throws(WaybillError)
        -> RecordPage<SourceRecord>
    {
        let list = try filter.list(after: cursor, limit: limit + 1)
        return try read { () throws(WaybillError) in
            let found = try records(list.sql, list.arguments)
            let shown = found.prefix(limit)
            let last = found.count > limit ? shown.last : nil
            return RecordPage(
                rows: try counted(shown),
                next: last.map { filter.cursor(row: $0.row, heard: $0.record.heardMicroseconds) })
        }
    }

    package func whyEmpty(_ filter: SourceFilter) throws(WaybillError) -> String {
        let count = try connection.integer("SELECT count(*) FROM sources")
        guard count > 0 else { return "There is no source here: the store is empty." }
        return count == 1
            ? "The only source here does not pass the filter." : "None of the \(count) sources here passes the filter."
    }

    package func apps(limit: Int) throws(WaybillError) -> [String] {
        try connection.statement("SELECT DISTINCT app FROM sources WHERE app <> '' ORDER BY app LIMIT ?").rows(limit) {
            row in row.text(0)
        }
    }

    /// Returns the number of received sources whose recorded facts have not all arrived.
    package func owingSourceCount() throws(WaybillError) -> Int64 {
        try connection.integer(
            """
            SELECT count(*) FROM sources WHERE heard_us IS NOT NULL AND recorded \
            > (SELECT ifnull(sum(last - first + 1), 0) FROM ranges WHERE source = id AND lease IS NULL) \
            + (SELECT ifnull(sum(last - first + 1), 0) FROM dropped WHERE source = id)
            """)
    }

    package func source(_ id: GUID) throws(WaybillError) -> SourceRecord? {
        try read { () throws(WaybillError) in try counted(records("WHERE uuid = ?1", [id])[...]).first }
    }

    /// Call this within a read that sees one state of the store.
    func sourceRecords() throws(WaybillError) -> [SourceRecord] {
        try counted(records("ORDER BY id", [])[...])
    }

    private func records(_ condition: String, _ arguments: [any SQLValue]) throws(WaybillError) -> [(
        row: Int64, record: SourceRecord
    )] {
        var found: [(row: Int64, record: SourceRecord)] = []
        try connection.statement(
            """
            SELECT \(SourceIdentity.columns), id, \
            nullif((SELECT at_us + offset_us FROM clocks WHERE source = id ORDER BY at_us LIMIT 1), 0), heard_us, ended, \(SQL.endedBy("sources")) FROM sources \(condition)
            """
        ).forEachRow(arguments: arguments) { row in
            let record = SourceRecord(
                SourceIdentity(row), startedMicroseconds: row.optionalInt(9), heardMicroseconds: row.optionalInt(10),
                hasEnded: row.bool(11), ledger: Ledger(), gaps: [], endedBy: row.sourceEnd(12))
            found.append((row.int(8), record))
        }
        return found
    }

    private func counted(_ found: ArraySlice<(row: Int64, record: SourceRecord)>) throws(WaybillError) -> [SourceRecord]
    {
        var records: [SourceRecord] = []
        for (row, record) in found {
            var record = record
            record.ledger = try connection.ledger(of: row)
            if record.heardMicroseconds != nil { (record.gaps, record.gapCount) = try gaps(of: row) }
            records.append(record)
        }
        return records
    }

    private func gaps(of source: Int64) throws(WaybillError) -> ([SourceRecord.Gap], count: Int?) {
        var gaps: [SourceRecord.Gap] = []
        var count = 0
        var next: Int64 = 1
        try connection.statement(
            """
            SELECT first, last FROM ranges WHERE source = ?1 AND lease IS NULL \
            UNION ALL SELECT first, last FROM dropped WHERE source = ?1 ORDER BY first
            """
        ).forEachRow(source) { row in
            if row.int(0) > next {
                count += 1
                if gaps.count < SourceRecord.gapLimit { gaps.append(.init(first: next, last: row.int(0) - 1)) }
            }
            next = max(next, min(row.int(1), .max - 1) + 1)
        }
        return (gaps, count > gaps.count ? count : nil)
    }
}

package struct SourceFilter: Hashable, Sendable {
    package var app: String?
    /// Words to find, ignoring case, in the app, device, system, versions and ID; `nil` for any.
    package var text: String?
    /// Default: the first arrival first.
    package var order = Order.oldest

    package enum Order: String, Sendable, CaseIterable {
        case oldest
        /// The last arrival first, after the store's own sources, which begin with the latest.
        case newest
    }

    package init() {}
}

/// Without an index by last arrival, scanning a hundred thousand rows takes about ten milliseconds.
extension SourceFilter {
    /// The store's own sources sort as arriving now.
    private static let heard = "ifnull(heard_us, \(Int64.max))"
    private static let searched =
        "(app || ' ' || app_version || ' ' || device || ' ' || os || ' ' || os_version || ' ' || \(SQL.text(guid: "uuid")))"

    fileprivate func list(
        after cursor: String?, limit: Int
    ) throws(WaybillError) -> (sql: String, arguments: [any SQLValue]) {
        var conditions = ["1"]
        var arguments: [any SQLValue] = []
        func argument(_ value: any SQLValue) -> String {
            arguments.append(value)
            return "?\(arguments.count)"
        }
        if let app { conditions.append("app = \(argument(app))") }
        for word in (text ?? "").split(separator: " ") {
            conditions.append("\(Self.searched) LIKE \(argument(SQL.pattern(containing: String(word)))) ESCAPE '\\'")
        }
        let place = try cursor.map { (text) throws(WaybillError) in try self.place(at: text) }
        let sorting: String
        switch order {
        case .oldest:
            if let place { conditions.append("id > \(argument(place.row))") }
            sorting = "id"
        case .newest:
            if let place {
                conditions.append("(\(Self.heard), id) < (\(argument(place.heard)), \(argument(place.row)))")
            }
            sorting = "\(Self.heard) DESC, id DESC"
        }
        let condition = conditions.joined(separator: " AND ")
        return ("WHERE \(condition) ORDER BY \(sorting) LIMIT \(argument(limit))", arguments)
    }

    fileprivate func cursor(row: Int64, heard: Int64?) -> String {
        order == .oldest ? "\(row)" : "\(row).\(heard ?? .max)"
    }

    private func place(at cursor: String) throws(WaybillError) -> (row: Int64, heard: Int64) {
        let numbers = cursor.split(separator: ".", omittingEmptySubsequences: false).map { Int64($0) }
        guard let row = numbers[0], row >= 0, numbers.count == (order == .oldest ? 1 : 2),
            let last = numbers[numbers.count - 1]
        else {
            throw WaybillError(
                .format, "The cursor is not one that a list in this order gave. Leave it out to start at the beginning."
            )
        }
        return (row, last)
    }
}
