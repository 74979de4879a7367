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
        for condition in filter.conditions {
            // The arms have these.
            if case .outcome = condition { continue }
            conditions.append(values.sql(of: condition))
        }
        let behind = cursor.map { "\(filter.order.isDescending ? "<" : ">") \(argument($0))" }
        let before = end.map { "\(filter.order.isDescending ? ">=" : "<=") \(argument($0))" }
        let earliest = (filter.order.isDescending ? end : cursor).map { argument($0.listed) }
        // What is stored as open may have timed out since.
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
            let arm = conditions + isOfKind
            return Section.all(of: stored, in: filter.order, from: earliest).map { section in
                let place = [behind, before].compactMap(\.self).map { "(\(section.key), p.source, p.sequence) \($0)" }
                return """
                    SELECT \(isSorted ? "\(section.key), " : "")\(columns) FROM \(table(scope, index: section.index)) \
                    WHERE \(([section.condition] + arm + place).joined(separator: " AND "))
                    """
            }
        }
        // Conditions on outcomes may contradict each other.
        guard !arms.isEmpty else { return "SELECT \(isSorted ? "0, " : "")\(columns) FROM parts p WHERE 0" }
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

/// Where a page of a list ended: lists go by time of beginning or by duration, and by the part's row where those are
/// equal.
package struct ListCursor: Hashable {
    package var order = TransactionFilter.Order.newest
    /// The time or the duration, in microseconds.
    package var listed: Int64
    package var source: Int64
    package var sequence: Int64

    /// Those that a time or a duration can have, or what stands for none.
    package static let places = -Limits.largestInteger...Limits.largestInteger
}

extension ListCursor: CustomStringConvertible {
    /// Opaque to callers.
    package var description: String { "\(order == .newest ? "" : "\(order.rawValue).")\(listed).\(source).\(sequence)" }

    /// - Throws: Where the text is not one that a list gave.
    package init(_ text: String) throws(WaybillError) {
        var words = text.split(separator: ".", omittingEmptySubsequences: false)
        let order = words.first.flatMap { TransactionFilter.Order(rawValue: String($0)) }
        if order != nil { words.removeFirst() }
        let numbers = words.map { Int64($0) }
        // It may be made up: what is calculated with stays in range.
        guard numbers.count == 3, let listed = numbers[0], Self.places.contains(listed), let source = numbers[1],
            let sequence = numbers[2]
        else {
            throw WaybillError(
                .format, "The cursor is not one that a list gave. Leave it out to start with the newest transactions.")
        }
        self.init(order: order ?? .newest, listed: listed, source: source, sequence: sequence)
    }

    /// - Throws: Where the text is not one that a list in this order gave.
    package init(_ text: String, of order: TransactionFilter.Order) throws(WaybillError) {
        try self.init(text)
        guard self.order == order else {
            throw WaybillError(
                .format, "The cursor is of a list in another order. Leave it out to start at the beginning.")
        }
    }
}

/// How long a list is looked through for one page of it.
///
/// Indexes find what use cases, outcomes and times ask for. Every other condition is asked of one transaction after the
/// other, which takes seconds where there are a million and hardly any passes. A page that takes longer than this ends
/// early, and says how far it got.
package struct SearchBudget: Sendable {
    /// How many rows are looked at before it is asked again.
    let stretch: Int
    /// Whether it has run out.
    let isOver: @Sendable () -> Bool

    init(stretch: Int, isOver: @escaping @Sendable () -> Bool) {
        self.stretch = stretch
        self.isOver = isOver
    }

    /// Lasts for about this long from now; a page looks at a thousand rows at least.
    package static func lasting(_ duration: Duration) -> SearchBudget {
        let deadline = ContinuousClock.now + duration
        return SearchBudget(stretch: 1000) { ContinuousClock.now >= deadline }
    }
}

/// Finds the exchanges in whose kept bodies words stand, before a list is read: bodies are compressed, so that SQL
/// cannot look into them.
struct BodySearch {
    let connection: Connection

    /// Bytes of bodies, uncompressed, that a page of a list looks through: some tenths of a second.
    static let pageLimit: Int64 = 64 << 20

    /// Whether a word, by its number, stands in a body of `network_logs l`.
    static func condition(word: Int) -> String {
        "EXISTS(SELECT 1 FROM temp.mentions m WHERE m.word = \(word) AND m.source = l.source AND m.exchange = l.sequence)"
    }

    /// Fills the temporary table `mentions`, from the newest body on.
    ///
    /// Words are found as they were sent, and in any case as far as ASCII goes.
    ///
    /// - Parameter limit: Bytes of bodies, uncompressed.
    /// - Returns: Whether there are older bodies that were not looked through.
    func find(_ words: [String], limit: Int64) throws(WaybillError) -> Bool {
        guard !words.isEmpty else { return false }
        try connection.execute(
            """
            CREATE TEMP TABLE IF NOT EXISTS mentions(word INTEGER, source INTEGER, exchange INTEGER, PRIMARY KEY(word, source, exchange)) \
            WITHOUT ROWID; DELETE FROM temp.mentions
            """)
        // An older store has no such table.
        guard try connection.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'bodies'") != 0 else {
            return false
        }
        let patterns = words.map { FoldedBytes($0.utf8) }
        let bodies = try connection.statement(
            "SELECT source, exchange, direction, sum(kept_bytes) FROM bodies GROUP BY source, exchange, direction ORDER BY max(id) DESC"
        ).rows { row in (source: row.int(0), exchange: row.int(1), direction: row.int(2), byteCount: row.int(3)) }
        var rest = limit
        for body in bodies {
            rest -= max(0, body.byteCount)
            guard rest >= 0 else { return true }
            let bytes = try bytes(body.source, body.exchange, body.direction)
            for (number, pattern) in patterns.enumerated() where bytes.contains(pattern) {
                try connection.statement("INSERT OR IGNORE INTO temp.mentions VALUES (?, ?, ?)").run(
                    number, body.source, body.exchange)
            }
        }
        return false
    }

    private func bytes(_ source: Int64, _ exchange: Int64, _ direction: Int64) throws(WaybillError) -> FoldedBytes {
        var bytes: [UInt8] = []
        try connection.statement(
            "SELECT kept_bytes, bytes FROM bodies WHERE source = ? AND exchange = ? AND direction = ? ORDER BY piece"
        ).forEachRow(source, exchange, direction) { row in
            if case .blob(let compressed) = row.value(1) {
                bytes += Zlib.decompressed(compressed, byteCount: row.int(0)) ?? []
            }
        }
        return FoldedBytes(bytes)
    }
}

/// Bytes in which the capitals of ASCII are small.
private struct FoldedBytes {
    private let bytes: [UInt8]

    init(_ bytes: some Sequence<UInt8>) {
        self.bytes = bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    }

    /// Whether others stand in it.
    func contains(_ other: FoldedBytes) -> Bool {
        let pattern = other.bytes
        guard let first = pattern.first, pattern.count <= bytes.count else { return pattern.isEmpty }
        return bytes.withUnsafeBufferPointer { bytes in
            let last = bytes.count - pattern.count
            var start = 0
            while start <= last {
                if bytes[start] == first, pattern.indices.allSatisfy({ bytes[start + $0] == pattern[$0] }) {
                    return true
                }
                start += 1
            }
            return false
        }
    }
}
