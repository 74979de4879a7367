import Foundation
package import WaybillCore
package import WaybillStore

/// Each arm follows an index, and SQLite merges them: a page costs as much as it shows.
package struct ListQuery {
    package enum Scope {
        case all, changed, sample
        case few([GUID])
    }

    package private(set) var sql = ""
    private var values: ConditionSQL

    package var arguments: [any SQLValue] { values.arguments }

    package init(
        _ filter: TransactionFilter, limit: Int, after cursor: ListCursor?, through end: ListCursor? = nil,
        skipping skipped: Int = 0,
        now wall: Int64, in scope: Scope = .all
    ) {
        values = ConditionSQL(about: .transactions, now: wall)
        let arms = arms(isSorted: true, filter, after: cursor, through: end, now: wall, in: scope) { _ in
            "p.source, p.sequence"
        }
        let direction = filter.order.isDescending ? "DESC" : "ASC"
        sql =
            arms
            + " ORDER BY 1 \(direction), 2 \(direction), 3 \(direction) LIMIT \(argument(limit)) OFFSET \(argument(skipped))"
    }

    package init(all columns: String, _ filter: TransactionFilter, now wall: Int64) {
        values = ConditionSQL(about: .transactions, now: wall)
        var filter = filter
        filter.order = .newest
        // One index holds all IDs in a row. For a large sample, the lookups cost more than that saves.
        let isFew = filter.sampledOneIn > 5
        if isFew {
            sql = """
                WITH sample AS MATERIALIZED (SELECT source, sequence FROM parts p INDEXED BY parts_by_guid \
                WHERE p.guid IS NOT NULL AND \(values.sql(of: .oneIn(filter.sampledOneIn)))) 
                """
        }
        sql += arms(
            isSorted: false, filter, after: nil, through: nil, now: wall, in: isFew ? .sample : .all
        ) { _ in columns }
    }

    /// Counts the rows of a range of time: outcomes with numbers, some outcomes several times.
    package init(countingByOutcome filter: TransactionFilter, in range: Range<Int64>, now wall: Int64) {
        values = ConditionSQL(about: .transactions, now: wall)
        var filter = filter
        filter.order = .oldest
        // An index alone counts settled outcomes. Only open transactions may have timed out.
        sql = arms(isSorted: false, filter, after: nil, through: nil, range: range, now: wall, in: .all) { stored in
            stored == .open ? "\(SQL.outcome("p", now: "\(wall)")), 1" : "\(stored.rawValue), count(*)"
        }
    }

    private mutating func arms(
        isSorted: Bool, _ filter: TransactionFilter, after cursor: ListCursor?, through end: ListCursor?,
        range: Range<Int64>? = nil, now wall: Int64, in scope: Scope, of columns: (TransactionOutcome) -> String
    ) -> String {
        var conditions = filter.conditions.filter { $0.outcomes == nil }.map { values.sql(of: $0) }
        let behind = cursor.map { "\(filter.order.isDescending ? "<" : ">") \(argument($0))" }
        let before = end.map { "\(filter.order.isDescending ? ">=" : "<=") \(argument($0))" }
        let latest = range.map { ["p.listed_us < \(argument($0.upperBound))"] } ?? []
        let earliest = (range?.lowerBound ?? (filter.order.isDescending ? end : cursor)?.listed).map { argument($0) }
        let wanted = filter.outcomes ?? Set(TransactionOutcome.allCases)
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
            let arm = conditions + isOfKind + latest
            return Section.all(of: stored, in: filter.order, from: earliest).map { section in
                let place = [behind, before].compactMap(\.self).map { "(\(section.key), p.source, p.sequence) \($0)" }
                return """
                    SELECT \(isSorted ? "\(section.key), " : "")\(columns(stored)) FROM \(table(scope, index: section.index)) \
                    WHERE \(([section.condition] + arm + place).joined(separator: " AND "))
                    """
            }
        }
        guard !arms.isEmpty else { return "SELECT \(isSorted ? "0, " : "")\(columns(.open)) FROM parts p WHERE 0" }
        return arms.joined(separator: " UNION ALL ")
    }

    /// Whether the parent of `p` fails the conditions. The subquery also names it `p`, to use the same SQL.
    private static func isOnTop(among kinds: [[String]], where conditions: [String]) -> String {
        let isOfAKind = kinds.map { "(\($0.joined(separator: " AND ")))" }.joined(separator: " OR ")
        let passes = ["p.listed_us IS NOT NULL", "(\(isOfAKind))"] + conditions
        return """
            NOT EXISTS(WITH up(guid) AS (SELECT p.parent WHERE p.parent <> p.guid) SELECT 1 FROM up \
            CROSS JOIN parts p INDEXED BY parts_by_guid ON p.guid = up.guid WHERE \(passes.joined(separator: " AND ")))
            """
    }

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
    package var isDescending: Bool { self == .newest || self == .longest }
}

extension TransactionFilter.Beginner {
    /// The values of the column `joined`. A leading part is joined only if the beginner is unknown.
    package var joined: [Int] {
        switch self {
        case .known: [0]
        case .unknown: [1]
        case .any: [0, 1]
        }
    }
}

private struct Section {
    var key: String
    var condition: String
    var index: String?

    /// SQLite uses one lower bound per index, and `IS NOT NULL` counts as one.
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

package struct ListCursor: Hashable {
    package var order = TransactionFilter.Order.newest
    package var listed: Int64
    package var source: Int64
    package var sequence: Int64

    /// The valid values of ``listed``. The bounds are placeholders for a missing duration.
    package static let places = -Limits.largestInteger...Limits.largestInteger
}

extension ListCursor {
    /// A place behind all transactions with a value, by which the list is ordered.
    package init(behind listed: Int64, in order: TransactionFilter.Order) {
        let end: Int64 = order.isDescending ? 0 : .max
        self.init(order: order, listed: listed, source: end, sequence: end)
    }
}

extension ListCursor: CustomStringConvertible {
    package var description: String { "\(order == .newest ? "" : "\(order.rawValue).")\(listed).\(source).\(sequence)" }

    package init(_ text: String) throws(WaybillError) {
        var words = text.split(separator: ".", omittingEmptySubsequences: false)
        let order = words.first.flatMap { TransactionFilter.Order(rawValue: String($0)) }
        if order != nil { words.removeFirst() }
        let numbers = words.map { Int64($0) }
        // The cursor may be forged. The bound prevents overflows.
        guard numbers.count == 3, let listed = numbers[0], Self.places.contains(listed), let source = numbers[1],
            let sequence = numbers[2]
        else {
            throw WaybillError(
                .format, "The cursor is not one that a list gave. Leave it out to start with the newest transactions.")
        }
        self.init(order: order ?? .newest, listed: listed, source: source, sequence: sequence)
    }

    package init(_ text: String, of order: TransactionFilter.Order) throws(WaybillError) {
        try self.init(text)
        guard self.order == order else {
            throw WaybillError(
                .format, "The cursor is of a list in another order. Leave it out to start at the beginning.")
        }
    }
}

/// Conditions without an index are checked row by row, which can take seconds for a million.
package struct SearchBudget: Sendable {
    let stretch: Int
    let isOver: @Sendable () -> Bool

    package static let unlimited = SearchBudget(stretch: Int(Int32.max)) { false }

    /// On a busy machine, most of the time goes to other processes. So a search also works for a quarter of the
    /// duration, but it never takes ten times as long. It must stay on this thread.
    package static func lasting(_ duration: Duration) -> SearchBudget {
        let (start, worked) = (ContinuousClock.now, Self.workedTime())
        return SearchBudget(stretch: 1000) {
            let passed = ContinuousClock.now - start
            return passed >= duration && (Self.workedTime() - worked >= duration / 4 || passed >= duration * 10)
        }
    }

    /// The processor time of this thread.
    private static func workedTime() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }
}

/// Finds words in kept bodies before a list is read. SQL can't search bodies because they are compressed.
struct BodySearch {
    let connection: Connection

    /// The uncompressed bytes that one page searches, in some tenths of a second.
    static let pageLimit: Int64 = 64 << 20

    static func condition(word: Int) -> String {
        "EXISTS(SELECT 1 FROM temp.mentions m WHERE m.word = \(word) AND m.source = l.source AND m.exchange = l.sequence)"
    }

    func find(_ words: [String], limit: Int64) throws(WaybillError) -> Bool {
        guard !words.isEmpty else { return false }
        try connection.execute(
            """
            CREATE TEMP TABLE IF NOT EXISTS mentions(word INTEGER, source INTEGER, exchange INTEGER, PRIMARY KEY(word, source, exchange)) \
            WITHOUT ROWID; DELETE FROM temp.mentions
            """)
        let mention = try connection.statement("INSERT OR IGNORE INTO temp.mentions SELECT ?, ?, ? WHERE instr(?, ?)")
        let patterns = words.map { Self.inSmallLetters($0.utf8) }
        let bodies = try connection.statement(
            "SELECT source, exchange, direction, sum(kept_bytes) FROM bodies GROUP BY source, exchange, direction ORDER BY max(id) DESC"
        ).rows { row in (source: row.int(0), exchange: row.int(1), direction: row.int(2), byteCount: row.int(3)) }
        var rest = limit
        for body in bodies {
            rest -= max(0, body.byteCount)
            guard rest >= 0 else { return true }
            let bytes = Self.inSmallLetters(try bytes(body.source, body.exchange, body.direction))
            for (number, pattern) in patterns.enumerated() {
                try mention.run(number, body.source, body.exchange, bytes, pattern)
            }
        }
        return false
    }

    private func bytes(_ source: Int64, _ exchange: Int64, _ direction: Int64) throws(WaybillError) -> [UInt8] {
        var bytes: [UInt8] = []
        try connection.statement(
            "SELECT kept_bytes, bytes FROM bodies WHERE source = ? AND exchange = ? AND direction = ? ORDER BY piece"
        ).forEachRow(source, exchange, direction) { row in
            if case .blob(let compressed) = row.value(1) {
                bytes += Zlib.decompressed(compressed, byteCount: row.int(0)) ?? []
            }
        }
        return bytes
    }

    private static func inSmallLetters(_ bytes: some Sequence<UInt8>) -> ColumnValue {
        .blob(bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 })
    }
}
