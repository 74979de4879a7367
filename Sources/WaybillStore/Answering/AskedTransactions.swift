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

        static func < (left: Key, right: Key) -> Bool {
            left.source == right.source ? left.sequence < right.sequence : left.source < right.source
        }
    }

    private let keys: [Key]
    private let joined: JoinedParts?
    private let sources: AskedSources
    private let segmentation: Segmentation?
    private let wall: Int
    private let select: String
    private let connection: Connection
    private var segments: [String: Int] = [:]

    /// - Parameters:
    ///   - includesJoined: Whether parts besides the leading one are wanted.
    ///   - includesErrors: Whether errors are.
    init(
        _ filter: TransactionFilter, segmentation: Segmentation? = nil, includesJoined: Bool, includesErrors: Bool = false,
        sources: AskedSources, now wall: Int, _ connection: Connection
    ) throws(WaybillError) {
        let query = ListQuery(all: "p.source, p.sequence", filter, now: wall)
        var keys: [Key] = []
        try connection.statement(query.sql).forEachRow(arguments: query.arguments) { row in
            keys.append(Key(source: row.int(0), sequence: row.int(1)))
        }
        keys.sort()
        self.keys = keys
        joined = includesJoined ? try JoinedParts(ofTransactions: keys.count, connection) : nil
        self.sources = sources
        self.segmentation = segmentation
        self.wall = wall
        self.connection = connection
        select = """
            SELECT p.source, p.sequence, p.guid, p.use_case, p.at_us, p.closed, p.closed_at_us, p.outcome, p.listed_us, p.timeout_us, \
            CASE p.outcome WHEN 0 THEN \(SQL.lastActivity(guid: "p.guid")) ELSE 0 END, \(segmentation?.column ?? "NULL"), \
            \(includesErrors ? "p.error_code, CASE WHEN p.error_code IS NULL THEN NULL ELSE p.closed_detail END" : "NULL, NULL") \
            FROM parts p
            """
    }

    /// How many there are.
    var count: Int { keys.count }

    /// The values that tell those apart that were handed out.
    var segmentValues: [String] { segments.sorted { $0.value < $1.value }.map(\.key) }

    /// Calls `body` for each, with its parts besides the leading one, in the order of their rows, so that reading what belongs to them goes
    /// forward through the file.
    mutating func forEach(_ body: (Transaction, [JoinedParts.Part]) throws(WaybillError) -> Void) throws(WaybillError) {
        var rows = try ForwardRows(select, key: ("p.source", "p.sequence"), connection)
        defer { rows.stop() }
        for key in keys {
            guard let row = try rows.row(from: key.source, key.sequence), row.int(0) == key.source, row.int(1) == key.sequence else {
                continue
            }
            let transaction = read(row)
            try body(transaction, try joined?.parts(of: transaction.guid) ?? [])
        }
    }

    private mutating func read(_ row: Row) -> Transaction {
        Transaction(
            source: row.int(0), sequence: row.int(1), guid: row.guid(2), useCase: row.int(3), at: row.int(4),
            closing: row.isNull(5) ? nil : (row.int(5), row.int(6)),
            error: row.optionalInt(12).map { RecordedError(domain: Detail(row.optionalText(13)).errorDomain, code: $0) },
            outcome: Outcome(stored: row.int(7), lastActivity: row.int(10), timeout: row.int(9), now: wall), begun: row.int(8),
            segment: segment(row))
    }

    private mutating func segment(_ row: Row) -> Int? {
        guard let segmentation, let value = segmentation.value(in: sources.entries[row.int(0)], column: row.optionalText(11)) else {
            return nil
        }
        if let segment = segments[value] { return segment }
        segments[value] = segments.count
        return segments.count - 1
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
