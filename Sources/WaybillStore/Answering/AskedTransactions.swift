import WaybillCore

/// The transactions that a question is about, each with its parts.
///
/// Only their keys are held, so that ten million events take little memory; what else they have is read as they are handed out.
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
        /// With which it was closed; nil: none, or not asked for.
        var error: RecordedError?
        var outcome: Outcome
        var begun: Int
        /// Into ``segmentValues``; nil: it has no such value.
        var segment: Int?
    }

    private struct Key: Comparable {
        var source: Int
        var sequence: Int
        /// Below 0: none.
        var segment: Int32

        static func < (left: Key, right: Key) -> Bool {
            left.source == right.source ? left.sequence < right.sequence : left.source < right.source
        }
    }

    private let keys: [Key]
    /// The values that tell transactions apart.
    let segmentValues: [String]
    private let joined: JoinedParts?
    private let wall: Int
    private let includesErrors: Bool
    private let connection: Connection

    /// - Parameters:
    ///   - includesJoined: Whether parts besides the leading one are wanted.
    ///   - includesErrors: Whether errors are.
    /// - Throws: `.notFound` where transactions are told apart by an attribute that none in the store has.
    init(
        _ filter: TransactionFilter, segmentation: Segmentation? = nil, includesJoined: Bool, includesErrors: Bool = false,
        sources: AskedSources, now wall: Int, _ connection: Connection
    ) throws(WaybillError) {
        var keys: [Key] = []
        var segments: [String: Int32] = [:]
        let query = ListQuery(all: "p.source, p.sequence, \(segmentation?.column ?? "NULL")", filter, now: wall)
        try connection.statement(query.sql).forEachRow(arguments: query.arguments) { row in
            let source = row.int(0)
            var segment: Int32 = -1
            if let value = segmentation.flatMap({ $0.value(in: sources.entries[source], column: row.optionalText(2)) }) {
                segment = segments[value] ?? Int32(segments.count)
                segments[value] = segment
            }
            keys.append(Key(source: source, sequence: row.int(1), segment: segment))
        }
        if case .attribute(let name)? = segmentation, segments.isEmpty, !keys.isEmpty { try Self.check(attribute: name, connection) }
        self.keys = keys.sorted()  // which also takes no more room than they need
        segmentValues = segments.sorted { $0.value < $1.value }.map(\.key)
        joined = includesJoined ? try JoinedParts(ofTransactions: keys.count, connection) : nil
        self.wall = wall
        self.includesErrors = includesErrors
        self.connection = connection
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

    /// How many there are.
    var count: Int { keys.count }

    /// Calls `body` for each, with its parts besides the leading one, in the order of their rows, so that reading what belongs to them goes
    /// forward through the file.
    func forEach(_ body: (Transaction, [JoinedParts.Part]) throws(WaybillError) -> Void) throws(WaybillError) {
        var rows = try ForwardRows(
            """
            SELECT p.source, p.sequence, p.guid, p.use_case, p.at_us, p.closed, p.closed_at_us, p.outcome, p.listed_us, p.timeout_us, \
            CASE p.outcome WHEN 0 THEN \(SQL.lastActivity(guid: "p.guid")) ELSE 0 END, \
            \(includesErrors ? "p.error_code, CASE WHEN p.error_code IS NULL THEN NULL ELSE p.closed_detail END" : "NULL, NULL") \
            FROM parts p
            """, key: ("p.source", "p.sequence"), connection)
        defer { rows.stop() }
        for key in keys {
            guard let row = try rows.row(from: key.source, key.sequence) else { continue }
            let transaction = transaction(row, segment: key.segment < 0 ? nil : Int(key.segment))
            try body(transaction, try joined?.parts(of: transaction.guid) ?? [])
        }
    }

    private func transaction(_ row: Row, segment: Int?) -> Transaction {
        Transaction(
            source: row.int(0), sequence: row.int(1), guid: row.guid(2), useCase: row.int(3), at: row.int(4),
            closing: row.isNull(5) ? nil : (row.int(5), row.int(6)),
            error: row.optionalInt(11).map { RecordedError(domain: Detail(row.optionalText(12)).errorDomain, code: $0) },
            outcome: Outcome(stored: row.int(7), lastActivity: row.int(10), timeout: row.int(9), now: wall), begun: row.int(8),
            segment: segment)
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
