package import WaybillCore
package import WaybillStore

/// The sources, and what became of their facts.
extension StoreReader {
    /// All sources, oldest in this store first.
    package func sources() throws(WaybillError) -> [SourceRecord] {
        try read { () throws(WaybillError) in try sourceRecords() }
    }

    /// A page of the sources that pass a filter, in its order.
    ///
    /// - Parameter cursor: ``RecordPage/next`` of the page before; nil for the first.
    /// - Throws: `.format` for a cursor that no list in that order gave.
    package func sources(matching filter: SourceFilter, limit: Int, after cursor: String?) throws(WaybillError)
        -> RecordPage<SourceRecord>
    {
        var place: SourceList.Cursor?
        if let cursor { place = try SourceList.Cursor(cursor, filter.order) }
        return try read { () throws(WaybillError) in
            // One more tells whether there is another page.
            let found = try records(SourceList(filter, after: place, limit: limit + 1))
            let shown = found.prefix(limit)
            let last = found.count > limit ? shown.last : nil
            let next = last.map {
                SourceList.Cursor(row: $0.row, heard: $0.record.heardMicroseconds).text(filter.order)
            }
            return RecordPage(rows: try counted(shown), next: next)
        }
    }

    /// One sentence on why no source passes a filter.
    package func whyEmpty(_ filter: SourceFilter) throws(WaybillError) -> String {
        let count = try connection.integer("SELECT count(*) FROM sources")
        guard count > 0 else { return "There is no source here: the store is empty." }
        return count == 1
            ? "The only source here does not pass the filter." : "None of the \(count) sources here passes the filter."
    }

    /// The names of the apps that have sources here, in order.
    package func apps(limit: Int) throws(WaybillError) -> [String] {
        try connection.statement("SELECT DISTINCT app FROM sources WHERE app <> '' ORDER BY app LIMIT ?").rows(limit) {
            row in row.text(0)
        }
    }

    /// One source; nil where there is none.
    package func source(_ id: GUID) throws(WaybillError) -> SourceRecord? {
        try read { () throws(WaybillError) in try counted(records("WHERE uuid = ?1", [id])[...]).first }
    }

    /// All, within a read that sees one state of the store.
    func sourceRecords() throws(WaybillError) -> [SourceRecord] {
        try counted(records(SourceList(SourceFilter(), after: nil, limit: -1))[...])
    }

    private func records(_ list: SourceList) throws(WaybillError) -> [(row: Int64, record: SourceRecord)] {
        try records(list.sql, list.arguments)
    }

    /// Those of a condition on `sources`, without ledgers and gaps. One that counts its times from 1970 does not say when
    /// it started.
    private func records(_ condition: String, _ arguments: [any SQLValue]) throws(WaybillError) -> [(
        row: Int64, record: SourceRecord
    )] {
        var found: [(row: Int64, record: SourceRecord)] = []
        try connection.statement(
            """
            SELECT id, uuid, installation, app, app_version, device, os, os_version, attributes, \
            nullif((SELECT at_us + offset_us FROM clocks WHERE source = id ORDER BY at_us LIMIT 1), 0), heard_us, ended, \(SQL.endedBy("sources")) FROM sources \(condition)
            """
        ).forEachRow(arguments: arguments) { row in
            let record = SourceRecord(
                id: row.guid(1), installation: row.optionalGUID(2), app: row.text(3), appVersion: row.text(4),
                device: row.text(5),
                os: row.text(6), osVersion: row.text(7), attributes: Attributes(columnText: row.optionalText(8)),
                startedMicroseconds: row.optionalInt(9), heardMicroseconds: row.optionalInt(10), hasEnded: row.bool(11),
                ledger: Ledger(), gaps: [], endedBy: row.sourceEnd(12))
            found.append((row.int(0), record))
        }
        return found
    }

    /// With what became of their facts.
    private func counted(_ found: ArraySlice<(row: Int64, record: SourceRecord)>) throws(WaybillError) -> [SourceRecord]
    {
        var records: [SourceRecord] = []
        for (row, record) in found {
            var record = record
            record.ledger = try Ledgers(connection: connection).ledger(of: row)
            if record.heardMicroseconds != nil { (record.gaps, record.gapCount) = try gaps(of: row) }
            records.append(record)
        }
        return records
    }

    /// What lies between the received and the dropped; how many there are, where those are not all.
    ///
    /// A source may have any number: none but those that are told is kept in memory.
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

/// Which sources a list shows, and in which order; every condition that is set must hold.
public struct SourceFilter: Hashable, Sendable {
    /// The app's or service's name; nil: any.
    public var app: String?
    /// Words, each found in any case in the app, its version, the device, the system, its version or the source's ID;
    /// nil: any.
    public var text: String?
    /// Which one is in front. Default: the one that was heard first.
    public var order = Order.oldest

    /// Of when sources were heard of.
    public enum Order: String, Sendable, CaseIterable {
        /// The one that was heard first in front.
        case oldest
        /// The one that was heard last in front; those that record into this very store come before all others, the
        /// latest first.
        case newest
    }

    /// A filter that lets everything through.
    public init() {}
}

/// A page of a list of sources as a condition and an order on the table `sources`.
///
/// Stores have a row for each launch, and nothing is kept in the order of when they were heard last: the newest are
/// found by looking at all rows, which takes some ten milliseconds for a hundred thousand.
struct SourceList {
    private(set) var sql: String
    private(set) var arguments: [any SQLValue] = []

    /// A source of this very store is heard of now.
    private static let heard = "ifnull(heard_us, \(Int64.max))"
    /// What the words of a filter are found in.
    private static let text =
        "(app || ' ' || app_version || ' ' || device || ' ' || os || ' ' || os_version || ' ' || \(SQL.text(guid: "uuid")))"

    /// - Parameter limit: Below 0 there is none.
    init(_ filter: SourceFilter, after cursor: Cursor?, limit: Int) {
        var conditions = ["1"]
        var arguments: [any SQLValue] = []
        func argument(_ value: any SQLValue) -> String {
            arguments.append(value)
            return "?\(arguments.count)"
        }
        if let app = filter.app { conditions.append("app = \(argument(app))") }
        for word in (filter.text ?? "").split(separator: " ") {
            conditions.append("\(Self.text) LIKE \(argument(SQL.pattern(containing: String(word)))) ESCAPE '\\'")
        }
        switch filter.order {
        case .oldest:
            if let cursor { conditions.append("id > \(argument(cursor.row))") }
            sql = "WHERE \(conditions.joined(separator: " AND ")) ORDER BY id"
        case .newest:
            if let cursor {
                conditions.append("(\(Self.heard), id) < (\(argument(cursor.heard ?? .max)), \(argument(cursor.row)))")
            }
            sql = "WHERE \(conditions.joined(separator: " AND ")) ORDER BY \(Self.heard) DESC, id DESC"
        }
        sql += " LIMIT \(argument(limit))"
        self.arguments = arguments
    }

    /// Behind which row a page begins.
    struct Cursor {
        /// Of `sources`.
        var row: Int64
        /// As in the table; counts where the newest are in front.
        var heard: Int64?

        init(row: Int64, heard: Int64?) {
            self.row = row
            self.heard = heard
        }

        /// - Throws: `.format` for a cursor that no list in that order gave.
        init(_ text: String, _ order: SourceFilter.Order) throws(WaybillError) {
            let numbers = text.split(separator: ".", omittingEmptySubsequences: false).map { Int64($0) }
            guard let row = numbers[0], row >= 0, numbers.count == (order == .oldest ? 1 : 2),
                let last = numbers[numbers.count - 1]
            else {
                throw WaybillError(
                    .format,
                    "The cursor is not one that a list in this order gave. Leave it out to start at the beginning.")
            }
            self.init(row: row, heard: last)
        }

        func text(_ order: SourceFilter.Order) -> String { order == .oldest ? "\(row)" : "\(row).\(heard ?? .max)" }
    }
}
