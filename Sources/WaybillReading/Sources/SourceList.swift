import WaybillCore
import WaybillStore

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
