import WaybillCore

/// The transactions that a question is about, each with its parts.
struct AskedTransactions {
    /// A transaction, by its leading part.
    struct Transaction {
        var source: Int
        var sequence: Int
        var guid: GUID
        var useCase: Int
        var at: Int
        /// Sequence and time of the fact `closed`; nil: there is none.
        var closing: (sequence: Int, at: Int)?
        var outcome: Outcome
        var begun: Int
        /// Into ``segmentValues``; nil: it has no such value.
        var segment: Int?
    }

    /// A part of another source, or a further one of the same.
    struct Joined {
        var transaction: Int
        var source: Int
        var sequence: Int
        var useCase: Int
    }

    /// In the order of their rows, so that reading what belongs to them goes forward through the file.
    private(set) var transactions: [Transaction] = []
    /// In the order of the transactions.
    private(set) var joined: [Joined] = []
    /// The values that tell transactions apart.
    private(set) var segmentValues: [String] = []

    /// - Parameter includesJoined: Whether parts besides the leading one are wanted.
    /// - Throws: `.notFound` where transactions are told apart by an attribute that none in the store has.
    init(
        _ filter: TransactionFilter, segmentation: Segmentation?, includesJoined: Bool, sources: AskedSources, now wall: Int,
        _ connection: Connection
    ) throws(WaybillError) {
        var segments: [String: Int] = [:]
        let query = ListQuery(
            all: """
                p.source, p.sequence, p.guid, p.use_case, p.at_us, p.closed, p.closed_at_us, p.outcome, p.listed_us, p.timeout_us, \
                CASE p.outcome WHEN 0 THEN \(SQL.lastActivity(guid: "p.guid")) ELSE 0 END, \(segmentation?.column ?? "NULL")
                """, filter, now: wall)
        var found: [Transaction] = []
        try connection.statement(query.sql).forEachRow(arguments: query.arguments) { row in
            let source = row.int(0)
            let value = segmentation.flatMap { $0.value(in: sources.entries[source], column: row.optionalText(11)) }
            var segment: Int?
            if let value {
                segment = segments[value] ?? segments.count
                segments[value] = segment
            }
            found.append(
                Transaction(
                    source: source, sequence: row.int(1), guid: row.guid(2), useCase: row.int(3), at: row.int(4),
                    closing: row.isNull(5) ? nil : (row.int(5), row.int(6)),
                    outcome: Outcome(stored: row.int(7), lastActivity: row.int(10), timeout: row.int(9), now: wall), begun: row.int(8),
                    segment: segment))
        }
        if case .attribute(let name)? = segmentation, segments.isEmpty, !found.isEmpty { try Self.check(attribute: name, connection) }
        found.sort { ($0.source, $0.sequence) < ($1.source, $1.sequence) }
        segmentValues = segments.sorted { $0.value < $1.value }.map(\.key)
        transactions = found
        if includesJoined { try readJoined(connection) }
    }

    private static func check(attribute name: String, _ connection: Connection) throws(WaybillError) {
        let known = try connection.statement(
            """
            SELECT DISTINCT j.key FROM parts p, json_each(CASE WHEN json_valid(p.opened_detail) THEN p.opened_detail END, '$.attributes') j \
            WHERE p.listed_us IS NOT NULL ORDER BY j.key
            """
        ).rows { row in row.text(0) }
        guard !known.contains(name) else { return }
        let hint = name.hint(among: known, none: "none has any attribute.")
        throw WaybillError(.notFound, "No transaction here has an attribute “\(name)”: \(hint)")
    }

    /// Those of few transactions are looked up; of many it is faster to look through all.
    private mutating func readJoined(_ connection: Connection) throws(WaybillError) {
        var joined: [Joined] = []
        if transactions.count < 2_000 {
            let statement = try connection.statement(
                "SELECT source, sequence, use_case FROM parts WHERE guid = ? AND listed_us IS NULL ORDER BY source, sequence")
            for (index, transaction) in transactions.enumerated() {
                try statement.forEachRow(transaction.guid) { row in
                    joined.append(Joined(transaction: index, source: row.int(0), sequence: row.int(1), useCase: row.int(2)))
                }
            }
        } else {
            let index = Dictionary(uniqueKeysWithValues: transactions.enumerated().map { ($0.element.guid, UInt32($0.offset)) })
            let statement = try connection.statement(
                "SELECT guid, source, sequence, use_case FROM parts WHERE guid IS NOT NULL AND listed_us IS NULL")
            try statement.forEachRow { row in
                guard let transaction = index[row.guid(0)] else { return }
                joined.append(Joined(transaction: Int(transaction), source: row.int(1), sequence: row.int(2), useCase: row.int(3)))
            }
            joined.sort { ($0.transaction, $0.source, $0.sequence) < ($1.transaction, $1.source, $1.sequence) }
        }
        self.joined = joined
    }
}

extension Segmentation {
    /// The order of values: none first.
    static func precedes(_ left: String?, _ right: String?) -> Bool {
        guard let left, let right else { return left == nil && right != nil }
        return left < right
    }

    /// Where it stands, or what it is made of, in the leading part `p`; NULL where the source says it.
    fileprivate var column: String {
        // Rounded down, also before 1970.
        let seconds = "p.listed_us / 1000000 - (p.listed_us % 1000000 < 0)"
        return switch self {
        case .attribute: "p.opened_detail"
        case .hour: "strftime('%Y-%m-%dT%H:00Z', \(seconds), 'unixepoch')"
        case .day: "strftime('%Y-%m-%d', \(seconds), 'unixepoch')"
        case .app, .appVersion, .device, .os, .osVersion: "NULL"
        }
    }

    fileprivate func value(in source: AskedSources.Entry?, column: String?) -> String? {
        switch self {
        case .attribute(let name): Detail(column).attributes[name]?.description
        case .hour, .day: column
        case .app: source?.app
        case .appVersion: source?.appVersion
        case .device: source?.device
        case .os: source?.os
        case .osVersion: source?.osVersion
        }
    }
}
