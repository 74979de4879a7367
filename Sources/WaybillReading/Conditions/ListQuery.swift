package import WaybillCore
package import WaybillStore

/// The statement that finds the transactions of a list, in their order.
///
/// One arm for each stored outcome of those whose beginner is known, or not, each in the order of an index; SQLite merges them, so that a page costs what it
/// shows.
package struct ListQuery {
    /// Where leading parts are looked for: among all, those of the transactions in the temporary table `changed`, those
    /// in the common table `sample`, or those of a few transactions.
    package enum Scope {
        case all, changed, sample
        case few([GUID])
    }

    package private(set) var sql = ""
    private var values: ConditionSQL

    package var arguments: [any SQLValue] { values.arguments }

    /// - Parameters:
    ///   - cursor: Of the last one before; nil: none.
    ///   - end: Of the last one that may be found; nil: that of the list.
    ///   - skipped: How many are passed over.
    package init(
        _ filter: TransactionFilter, limit: Int, after cursor: ListCursor?, through end: ListCursor? = nil,
        skipping skipped: Int = 0,
        now wall: Int64, in scope: Scope = .all
    ) {
        values = ConditionSQL(about: .transactions, now: wall)
        let arms = arms(
            of: "p.source, p.sequence", isSorted: true, filter, after: cursor, through: end, now: wall, in: scope)
        let direction = filter.order.isDescending ? "DESC" : "ASC"
        sql =
            arms
            + " ORDER BY 1 \(direction), 2 \(direction), 3 \(direction) LIMIT \(argument(limit)) OFFSET \(argument(skipped))"
    }

    /// All that pass, in no order.
    ///
    /// - Parameter columns: Of the leading part `p`.
    package init(all columns: String, _ filter: TransactionFilter, now wall: Int64) {
        values = ConditionSQL(about: .transactions, now: wall)
        var filter = filter
        filter.order = .newest
        // One index has all IDs in a row; of a large sample, to look each up takes longer than that spares.
        let isFew = filter.sampledOneIn > 5
        if isFew {
            sql = """
                WITH sample AS MATERIALIZED (SELECT source, sequence FROM parts p INDEXED BY parts_by_guid \
                WHERE p.guid IS NOT NULL AND \(values.sql(of: .oneIn(filter.sampledOneIn)))) 
                """
        }
        sql += arms(
            of: columns, isSorted: false, filter, after: nil, through: nil, now: wall, in: isFew ? .sample : .all)
    }

    /// - Parameter isSorted: Whether what they are sorted by comes before the columns.
    private mutating func arms(
        of columns: String, isSorted: Bool, _ filter: TransactionFilter, after cursor: ListCursor?,
        through end: ListCursor?, now wall: Int64,
        in scope: Scope
    ) -> String {
        var conditions: [String] = []
        if let useCase = filter.useCase { conditions.append(values.sql(of: .useCase(useCase))) }
        if let since = filter.sinceMicroseconds { conditions.append("p.listed_us >= \(argument(since))") }
        if let until = filter.untilMicroseconds { conditions.append("p.listed_us < \(argument(until))") }
        let behind = cursor.map { "\(filter.order.isDescending ? "<" : ">") \(argument($0))" }
        let before = end.map { "\(filter.order.isDescending ? ">=" : "<=") \(argument($0))" }
        let earliest = (filter.order.isDescending ? end : cursor).map { argument($0.listed) }
        for condition in filter.terms { conditions.append(values.sql(of: condition)) }
        // What is stored as open may have timed out since.
        let wanted = filter.outcomes.isEmpty ? Set(TransactionOutcome.allCases) : filter.outcomes
        let isTimedOut =
            wanted.contains(.open) == wanted.contains(.timedOut)
            ? "" : "(\(SQL.lastActivity(guid: "p.guid")) + p.timeout_us < \(argument(wall)))"
        let kinds = TransactionOutcome.allCases.filter { $0 != .timedOut }.flatMap { stored in
            filter.beginner.joined.map { (stored: stored, joined: $0) }
        }.compactMap { stored, joined -> (stored: TransactionOutcome, conditions: [String])? in
            let isOfKind = ["p.joined = \(joined)", "p.outcome = \(stored.rawValue)"]
            return switch (stored == .open, wanted.contains(stored), wanted.contains(.timedOut)) {
            case (true, true, false): (stored, isOfKind + ["NOT \(isTimedOut)"])
            case (true, false, true): (stored, isOfKind + [isTimedOut])
            case (true, true, true), (false, true, _): (stored, isOfKind)
            case (true, false, false), (false, false, _): nil
            }
        }
        if filter.isFolded { conditions.append(Self.isOnTop(among: kinds.map(\.conditions), where: conditions)) }
        let arms = kinds.flatMap { stored, isOfKind in
            let arm = conditions + isOfKind
            return Section.all(of: stored, in: filter.order, from: earliest).map { section in
                let place = [behind, before].compactMap(\.self).map { "(\(section.key), p.source, p.sequence) \($0)" }
                return """
                    SELECT \(isSorted ? "\(section.key), " : "")\(columns) FROM \(table(scope, index: section.index)) \
                    WHERE \(([section.condition] + arm + place).joined(separator: " AND "))
                    """
            }
        }
        return arms.joined(separator: " UNION ALL ")
    }

    /// Whether `p` was begun below none that passes the same conditions, of any of these kinds, which are asked of its
    /// parent by the same name.
    private static func isOnTop(among kinds: [[String]], where conditions: [String]) -> String {
        let isOfAKind = kinds.map { "(\($0.joined(separator: " AND ")))" }.joined(separator: " OR ")
        let passes = ["p.listed_us IS NOT NULL", "(\(isOfAKind))"] + conditions
        return """
            NOT EXISTS(WITH up(guid) AS (SELECT p.parent WHERE p.parent <> p.guid) SELECT 1 FROM up \
            CROSS JOIN parts p INDEXED BY parts_by_guid ON p.guid = up.guid WHERE \(passes.joined(separator: " AND ")))
            """
    }

    /// - Parameter index: Where they are looked for among all; nil: SQLite chooses.
    private mutating func table(_ scope: Scope, index: String?) -> String {
        switch scope {
        case .all: return "parts p\(index.map { " INDEXED BY \($0)" } ?? "")"
        case .sample: return "sample c CROSS JOIN parts p ON p.source = c.source AND p.sequence = c.sequence"
        case .changed: return "temp.changed c CROSS JOIN parts p INDEXED BY parts_by_guid ON p.guid = c.guid"
        case .few(let transactions):
            let ids = transactions.map { "(\(argument($0)))" }.joined(separator: ", ")
            return
                "(SELECT column1 AS guid FROM (VALUES \(ids))) c CROSS JOIN parts p INDEXED BY parts_by_guid ON p.guid = c.guid"
        }
    }

    private mutating func argument(_ value: any SQLValue) -> String { values.argument(value) }

    private mutating func argument(_ cursor: ListCursor) -> String {
        "(\(argument(cursor.listed)), \(argument(cursor.source)), \(argument(cursor.sequence)))"
    }
}

extension TransactionFilter.Order {
    var isDescending: Bool { self == .newest || self == .longest }
}

extension TransactionFilter.Beginner {
    /// What stands in the column `joined` of the leading part, which is joined only where nobody is known who began it.
    package var joined: [Int] {
        switch self {
        case .known: [0]
        case .unknown: [1]
        case .any: [0, 1]
        }
    }
}

/// Leading parts `p` of one outcome that are sorted by one expression, which an index has.
private struct Section {
    /// What they are sorted by.
    var key: String
    /// Which they are.
    var condition: String
    /// Where they are looked for among all; nil: SQLite chooses.
    var index: String?

    /// By duration, what has none comes last, and only what is open or was interrupted has none.
    ///
    /// - Parameter earliest: The least that a list in this order may have; nil: any. SQLite takes one lower bound for
    ///   an index, and `IS NOT NULL` would be one.
    static func all(of stored: TransactionOutcome, in order: TransactionFilter.Order, from earliest: String?)
        -> [Section]
    {
        func isSaid(_ column: String) -> String { earliest.map { "\(column) >= \($0)" } ?? "\(column) IS NOT NULL" }
        guard order == .longest || order == .shortest else {
            return [Section(key: "p.listed_us", condition: isSaid("p.listed_us"))]
        }
        let closed = Section(
            key: "p.duration_us", condition: "p.listed_us IS NOT NULL AND \(isSaid("p.duration_us"))",
            index: "parts_by_duration")
        guard stored == .open || stored == .interrupted else { return [closed] }
        let last = order == .longest ? ListCursor.places.lowerBound : ListCursor.places.upperBound
        return [closed, Section(key: "\(last)", condition: "p.listed_us IS NOT NULL AND p.duration_us IS NULL")]
    }
}
