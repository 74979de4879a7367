import WaybillCore

/// The statement that finds the transactions of a list, in their order.
///
/// One arm for each stored outcome, each in the order of an index; SQLite merges them, so that a page costs what it shows. By duration there is no
/// index, and all that passes is looked at.
struct ListQuery {
    /// Where leading parts are looked for: among all, those of the transactions in the temporary table `changed`, or those of a few transactions.
    enum Scope {
        case all, changed
        case few([GUID])
    }

    private(set) var sql = ""
    private(set) var arguments: [any SQLValue] = []

    /// - Parameters:
    ///   - cursor: Of the last one before; nil: none.
    ///   - end: Of the last one that may be found; nil: that of the list.
    ///   - skipped: How many are passed over.
    init(
        _ filter: TransactionFilter, limit: Int, after cursor: ListCursor?, through end: ListCursor? = nil, skipping skipped: Int = 0,
        now wall: Int, in scope: Scope = .all
    ) {
        let arms = arms(of: "\(filter.order.key), p.source, p.sequence", filter, after: cursor, through: end, now: wall, in: scope)
        let direction = filter.order.isDescending ? "DESC" : "ASC"
        sql = arms + " ORDER BY 1 \(direction), 2 \(direction), 3 \(direction) LIMIT \(argument(limit)) OFFSET \(argument(skipped))"
    }

    /// All that pass, in no order.
    ///
    /// - Parameter columns: Of the leading part `p`.
    init(all columns: String, _ filter: TransactionFilter, now wall: Int) {
        sql = arms(of: columns, filter, after: nil, through: nil, now: wall, in: .all)
    }

    private mutating func arms(
        of columns: String, _ filter: TransactionFilter, after cursor: ListCursor?, through end: ListCursor?, now wall: Int, in scope: Scope
    ) -> String {
        var conditions = [isListed(filter.order, cursor, end)]
        if let useCase = filter.useCase { conditions.append("p.use_case = \(argument(useCase))") }
        if let since = filter.sinceMicroseconds { conditions.append("p.listed_us >= \(argument(since))") }
        if let until = filter.untilMicroseconds { conditions.append("p.listed_us < \(argument(until))") }
        let place = "(\(filter.order.key), p.source, p.sequence)"
        if let cursor { conditions.append("\(place) \(filter.order.isDescending ? "<" : ">") \(argument(cursor))") }
        if let end { conditions.append("\(place) \(filter.order.isDescending ? ">=" : "<=") \(argument(end))") }
        if let text = filter.text, !text.isEmpty { conditions.append(sql(of: .text(text))) }
        for condition in filter.conditions { conditions.append(sql(of: condition)) }
        // What is stored as open may have timed out since.
        let wanted = filter.outcomes.isEmpty ? Set(Outcome.allCases) : filter.outcomes
        let isTimedOut =
            wanted.contains(.open) == wanted.contains(.timedOut)
            ? "" : "(\(SQL.lastActivity(guid: "p.guid")) + p.timeout_us < \(argument(wall)))"
        let table = table(scope)
        let arms = Outcome.allCases.filter { $0 != .timedOut }.compactMap { stored -> String? in
            var arm = conditions + ["p.outcome = \(stored.rawValue)"]
            switch (stored == .open, wanted.contains(stored), wanted.contains(.timedOut)) {
            case (true, true, false): arm.append("NOT \(isTimedOut)")
            case (true, false, true): arm.append(isTimedOut)
            case (true, true, true), (false, true, _): break
            case (true, false, false), (false, false, _): return nil
            }
            return "SELECT \(columns) FROM \(table) WHERE \(arm.joined(separator: " AND "))"
        }
        return arms.joined(separator: " UNION ALL ")
    }

    /// Said by the earliest time where that is known: SQLite takes one lower bound for an index, and `IS NOT NULL` would be one.
    private mutating func isListed(_ order: TransactionFilter.Order, _ cursor: ListCursor?, _ end: ListCursor?) -> String {
        let earliest: ListCursor? =
            switch order {
            case .newest: end
            case .oldest: cursor
            case .longest, .shortest: nil
            }
        return earliest.map { "p.listed_us >= \(argument($0.listed))" } ?? "p.listed_us IS NOT NULL"
    }

    private mutating func table(_ scope: Scope) -> String {
        switch scope {
        case .all: return "parts p"
        case .changed: return "temp.changed c CROSS JOIN parts p ON p.guid = c.guid"
        case .few(let transactions):
            let ids = transactions.map { "(\(argument($0)))" }.joined(separator: ", ")
            return "(SELECT column1 AS guid FROM (VALUES \(ids))) c CROSS JOIN parts p ON p.guid = c.guid"
        }
    }

    /// A value that stands in the text of the statement.
    mutating func argument(_ value: any SQLValue) -> String {
        arguments.append(value)
        return "?\(arguments.count)"
    }

    private mutating func argument(_ cursor: ListCursor) -> String {
        "(\(argument(cursor.listed)), \(argument(cursor.source)), \(argument(cursor.sequence)))"
    }
}

extension TransactionFilter.Order {
    var isDescending: Bool { self == .newest || self == .longest }

    /// What the leading part `p` is sorted by.
    fileprivate var key: String {
        switch self {
        case .newest, .oldest: "p.listed_us"
        case .longest: "ifnull(\(Self.duration), -\(Self.none))"
        case .shortest: "ifnull(\(Self.duration), \(Self.none))"
        }
    }

    private static let duration = "p.closed_at_us - p.at_us"
    /// Longer than any duration: what has none comes last.
    private static let none = 1 << 62
}
