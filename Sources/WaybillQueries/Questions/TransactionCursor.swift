import WaybillCore
import WaybillStore

/// Reads the transactions of a question, with their parts. Only the keys stay in memory.
struct TransactionCursor {
    /// A transaction, by its leading part. Properties outside of the ``Contents`` that are read have no meaning.
    struct Transaction {
        var source: Int64
        var sequence: Int64
        var useCase: Int
        var at: Int64 = 0
        var closing: (sequence: Int64, at: Int64)?
        var error: RecordedError?
        var outcome = TransactionOutcome.open
        var begun: Int64 = 0
        var segment: Int?
        var weight = Weights.one
        /// With ``Contents/error``, only of transactions with an error.
        var attribute: AttributeValue?
    }

    /// The optional columns. Each costs as much time as an event.
    struct Contents: OptionSet {
        var rawValue: Int

        static let joined = Contents(rawValue: 1)
        static let times = Contents(rawValue: 2)
        static let outcome = Contents(rawValue: 4)
        static let error = Contents(rawValue: 8)
        static let weight = Contents(rawValue: 16)
    }

    /// It takes only 16 bytes, because there may be millions.
    fileprivate struct Key: Comparable {
        var sequence: Int64
        var source: Int32
        var segment: Int32

        static func < (left: Key, right: Key) -> Bool {
            left.source == right.source ? left.sequence < right.sequence : left.source < right.source
        }
    }

    private var keys: ArraySlice<Key>
    let segmentValues: [String]
    private var joined: JoinedParts?
    /// One for each key; `nil` to read the store.
    private var made: ArraySlice<TransactionRow>?
    private let attribute: String?
    private let useCase: Int?
    private let wall: Int64
    private let sampleWeight: Int64
    private let contents: Contents
    private(set) var connection: Connection
    let filter: TransactionFilter
    let unknownAttribute: UnknownNames
    var unknownEvents = UnknownNames()
    private var weighed = Weights()

    init(
        _ filter: TransactionFilter, segmentation: Segmentation? = nil, reading contents: Contents,
        attribute: String? = nil, joinedWith codes: [Int]? = nil,
        sources: SourceDirectory, _ context: AnswerContext
    ) throws(WaybillError) {
        let (connection, wall) = (context.connection, context.now)
        self.connection = connection
        self.attribute = attribute
        made = context.rows.map { $0[...] }
        self.filter = filter
        useCase = filter.useCase
        sampleWeight = Weights.one * Int64(filter.sampledOneIn)
        self.wall = wall
        var isWeighed = context.rows != nil && context.owed == nil
        if context.rows == nil, context.owed == nil { isWeighed = try Fact.Sampling.isNeeded(in: connection) }
        let contents = isWeighed ? contents.union([.times, .outcome, .weight]) : contents
        self.contents = contents
        var listed = Listed()
        var joined: JoinedParts?
        if let rows = context.rows {
            listed = try Listed(rows, segmentation, sources, connection)
        } else if contents.contains(.joined), let second = context.others.first,
            try Self.areMany(filter, now: wall, connection)
        {
            let found = try onThreads(2) { (number) throws(WaybillError) -> (listed: Listed?, joined: JoinedParts?) in
                if number == 0 { return (try Listed(filter, segmentation, sources, now: wall, connection), nil) }
                return (nil, try JoinedParts(ofTransactions: JoinedParts.many, with: codes, second))
            }
            for found in found { (listed, joined) = (found.listed ?? listed, found.joined ?? joined) }
        } else {
            listed = try Listed(filter, segmentation, sources, now: wall, connection)
            if contents.contains(.joined) {
                joined = try JoinedParts(ofTransactions: listed.keys.count, with: codes, connection)
            }
        }
        if case .attribute(let name)? = segmentation, listed.segments.isEmpty,
            context.isPartial || !listed.keys.isEmpty
        {
            var unknown = UnknownNames()
            if !context.elsewhere.attributes.contains(name) {
                unknown = try Self.unknown(attribute: name, of: filter.beginner, connection)
                unknown.known.formUnion(context.elsewhere.attributes)
            }
            unknownAttribute = unknown
            guard context.isPartial || unknownAttribute.unknown.isEmpty else {
                throw .unknown(attribute: name, unknownAttribute.known)
            }
        } else {
            unknownAttribute = UnknownNames()
        }
        keys = listed.keys[...]
        segmentValues = listed.segments.sorted { $0.value < $1.value }.map(\.key)
        self.joined = joined?.isEmpty == true ? nil : joined?.reading(by: connection)
    }

    /// Whether to read all joined parts at once. Filters that need a full scan are not counted.
    private static func areMany(_ filter: TransactionFilter, now wall: Int64, _ connection: Connection)
        throws(WaybillError) -> Bool
    {
        guard filter.terms.isEmpty else { return false }
        let query = ListQuery(all: "1", filter, now: wall)
        var count = 0
        try connection.statement("\(query.sql) LIMIT \(JoinedParts.many)").forEachRow(arguments: query.arguments) { _ in
            count += 1
        }
        return count == JoinedParts.many
    }

    private struct Listed {
        var keys: [Key] = []
        var segments: [String: Int32] = [:]

        init() {}

        init(
            _ filter: TransactionFilter, _ segmentation: Segmentation?, _ sources: SourceDirectory, now wall: Int64,
            _ connection: Connection
        ) throws(WaybillError) {
            let query = ListQuery(
                all: "p.source, p.sequence, \(segmentation?.column(now: wall) ?? "NULL")", filter, now: wall)
            try connection.statement(query.sql).forEachRow(arguments: query.arguments) { row in
                let source = row.int(0)
                var segment: Int32 = -1
                if let value = segmentation.flatMap({
                    $0.value(in: sources[source], column: row.optionalText(2))
                }) {
                    segment = segments[value] ?? Int32(segments.count)
                    segments[value] = segment
                }
                keys.append(Key(sequence: row.int(1), source: Int32(clamping: source), segment: segment))
            }
            keys = keys.sorted()  // which also takes no more room than they need
        }

        init(
            _ rows: [TransactionRow], _ segmentation: Segmentation?, _ sources: SourceDirectory,
            _ connection: Connection
        ) throws(WaybillError) {
            var starts: [Int64: String] = [:]
            var source: Int64 = 0
            for index in rows.indices {
                var (segment, column): (Int32, String?) = (-1, nil)
                switch segmentation {
                case .hour?, .day?:
                    let hour = rows[index].begun.quotientAndRemainder(flooringBy: 3_600_000_000).quotient
                    if starts[hour] == nil { starts[hour] = try segmentation?.start(ofHour: hour, connection) }
                    column = starts[hour]
                case .ended? where rows[index].outcome == TransactionOutcome.interrupted.rawValue:
                    let endedBy = rows[index].sources.first?.endedBy ?? ""
                    column = endedBy.isEmpty ? "unknown" : endedBy
                case .attribute(let name)?: column = rows[index].attributes[name]?.description
                case .parentOutcome?: column = rows[index].parentRow?.outcome.name
                case .parentUseCase?: column = try rows[index].parentRow.map(sources.name)
                case nil, .ended, .app, .appVersion, .device, .os, .osVersion: break
                }
                if let value = segmentation?.value(in: sources[source], of: column) {
                    segment = segments[value] ?? Int32(segments.count)
                    segments[value] = segment
                }
                keys.append(
                    Key(sequence: rows[index].opening.sequence, source: Int32(clamping: source), segment: segment))
                source += Int64(max(1, rows[index].sources.count))
            }
        }
    }

    private static func unknown(
        attribute name: String, of beginner: TransactionFilter.Beginner, _ connection: Connection
    ) throws(WaybillError) -> UnknownNames {
        let listed =
            "p.listed_us IS NOT NULL AND p.joined IN (\(beginner.joined.map(String.init).joined(separator: ", ")))"
        var isThere = false
        try connection.statement("SELECT \(AttributeSQL(literally: name).latest) AS said FROM parts p WHERE \(listed)")
            .forRows(
                while: { row in
                    isThere = DetailColumn(row.optionalText(0)).attributes[name] != nil
                    return !isThere
                })
        guard !isThere else { return UnknownNames() }
        // Limits the events, because this is only for a hint.
        func names(_ details: String) -> String {
            "SELECT j.key FROM (\(details)) d, json_each(CASE WHEN json_valid(d.detail) THEN d.detail END, '$.attributes') j"
        }
        let known = try connection.statement(
            """
            \(names("SELECT p.opened_detail AS detail FROM parts p WHERE \(listed)")) \
            UNION \(names("SELECT p.closed_detail AS detail FROM parts p WHERE \(listed)")) \
            UNION \(names("SELECT e.detail FROM events e WHERE e.detail IS NOT NULL LIMIT 10000")) \
            UNION \(names("SELECT '{\"attributes\":' || s.attributes || '}' AS detail FROM sources s WHERE s.attributes IS NOT NULL"))
            """
        ).rows { row in row.text(0) }
        return UnknownNames(unknown: [name], known: Set(known))
    }

    var count: Int {
        guard let made else { return keys.count }
        return made.indices.reduce(0) { $0 + (made[$1].durations?.count ?? 1) }
    }

    var weights: Weights { contents.contains(.weight) ? weighed : Weights(count, each: sampleWeight) }

    func ranges(by connections: [Connection]) -> [TransactionCursor] {
        connections.enumerated().map { number, connection in
            var range = self
            let (start, end) = (number * keys.count / connections.count, (number + 1) * keys.count / connections.count)
            range.keys = keys.dropFirst(start).prefix(end - start)
            range.joined = joined?.reading(by: connection)
            range.made = made?.dropFirst(start).prefix(end - start)
            range.connection = connection
            return range
        }
    }

    /// Calls `body` for each transaction with its joined parts.
    mutating func forEach(
        _ body: (Transaction, [JoinedParts.Part]) throws(WaybillError) -> Void
    ) throws(WaybillError) {
        if made != nil {
            return try forEachMade { (transaction, _) throws(WaybillError) in try body(transaction, []) }
        }
        if let useCase, joined == nil, attribute == nil, contents.subtracting(.joined).isEmpty {
            for key in keys { try body(Transaction(key, useCase, weight: sampleWeight), []) }
            return
        }
        var rows = try rows()
        defer { rows.stop() }
        let said = try attribute.map { name throws(WaybillError) in
            try connection.statement(
                "SELECT \(AttributeSQL(literally: name).latest) FROM parts p WHERE p.source = ? AND p.sequence = ?")
        }
        for key in keys {
            guard let row = try rows.row(from: Int64(key.source), key.sequence) else { continue }
            var transaction = transaction(key, row)
            if let attribute, let said, !contents.contains(.error) || transaction.error != nil {
                let detail = try said.first(Int64(key.source), key.sequence) { row in row.optionalText(0) }
                transaction.attribute = DetailColumn(detail ?? nil).attributes[attribute]
            }
            if contents.contains(.weight) { weighed.add(transaction.weight) }
            try body(transaction, try joined?.parts(of: row.guid(1)) ?? [])
        }
    }

    var areMade: Bool { made != nil }

    /// Passes on pointers, because a copy of a row retains all of its arrays.
    mutating func forEachMade(
        _ body: (Transaction, UnsafePointer<TransactionRow>) throws(WaybillError) -> Void
    ) throws(WaybillError) {
        guard let made else { return }
        try made.withUnsafeBufferPointer { (rows) throws(WaybillError) in
            guard var row = rows.baseAddress else { return }
            for key in keys {
                var transaction = transaction(key, row)
                if let durations = row.pointee.durations {
                    let lastSource = transaction.source + Int64(max(1, row.pointee.sources.count) - 1)
                    for duration in durations {
                        transaction.closing?.at = duration
                        weigh(&transaction, row.pointee.sampling)
                        weighed.add(transaction.weight)
                        try body(transaction, row)
                        transaction.source = min(lastSource, transaction.source + 1)
                    }
                } else {
                    weighed.add(transaction.weight)
                    try body(transaction, row)
                }
                row += 1
            }
        }
    }

    private func transaction(_ key: Key, _ row: UnsafePointer<TransactionRow>) -> Transaction {
        var transaction = Transaction(key, row.pointee.useCase, weight: sampleWeight)
        (transaction.at, transaction.closing) = (row.pointee.at, row.pointee.closing)
        transaction.begun = row.pointee.begun
        transaction.outcome = TransactionOutcome(
            stored: row.pointee.outcome, lastActivity: row.pointee.lastActivity, timeout: row.pointee.timeout,
            now: wall)
        if contents.contains(.error), let code = row.pointee.errorCode {
            let detail = row.pointee.errorDetail
            transaction.error = DetailColumn(detail.isEmpty ? nil : detail).error(code: code)
        }
        if let attribute { transaction.attribute = row.pointee.attributes[attribute] }
        weigh(&transaction, row.pointee.sampling)
        return transaction
    }

    private func weigh(_ transaction: inout Transaction, _ sampling: Fact.Sampling?) {
        guard let sampling, contents.contains(.weight) else { return }
        let weight = sampling.weight(
            for: transaction.outcome, tookMicroseconds: transaction.closing.map { $0.at - transaction.at })
        transaction.weight = weight * (sampleWeight / Weights.one)
    }

    private func rows() throws(WaybillError) -> RowCursor {
        let times =
            contents.contains(.times) ? "p.at_us, p.closed, p.closed_at_us, p.listed_us" : "NULL, NULL, NULL, NULL"
        let outcome =
            contents.contains(.outcome)
            ? "p.outcome, p.timeout_us, CASE p.outcome WHEN 0 THEN \(SQL.lastActivity(guid: "p.guid")) ELSE 0 END"
            : "NULL, NULL, NULL"
        let error =
            contents.contains(.error)
            ? "p.error_code, CASE WHEN p.error_code IS NULL THEN NULL ELSE p.closed_detail END" : "NULL, NULL"
        // A store has all transactions that were recorded into it.
        let sampling =
            contents.contains(.weight)
            ? "CASE WHEN (SELECT s.heard_us FROM sources s WHERE s.id = p.source) IS NOT NULL THEN p.sample_ppm END, "
                + "p.sample_kept, p.slow_us" : "NULL, NULL, NULL"
        return try RowCursor(
            "SELECT p.sequence, p.guid, p.use_case, \(times), \(outcome), \(error), \(sampling) FROM parts p",
            key: ("p.source", "p.sequence"),
            connection)
    }

    private func transaction(_ key: Key, _ row: Row) -> Transaction {
        var transaction = Transaction(key, row.int(2), weight: sampleWeight)
        if contents.contains(.times) {
            transaction.at = row.int(3)
            transaction.closing = row.isNull(4) ? nil : (row.int(4), row.int(5))
            transaction.begun = row.int(6)
        }
        if contents.contains(.outcome) {
            transaction.outcome = TransactionOutcome(
                stored: row.int(7), lastActivity: row.int(9), timeout: row.int(8), now: wall)
        }
        if contents.contains(.error) {
            transaction.error = DetailColumn(row.optionalText(11)).error(code: row.optionalInt(10))
        }
        weigh(&transaction, FactRowReader.sampling(row, from: 12))
        return transaction
    }
}

extension TransactionCursor.Transaction {
    fileprivate init(_ key: TransactionCursor.Key, _ useCase: Int, weight: Int64) {
        self.init(
            source: Int64(key.source), sequence: key.sequence, useCase: useCase,
            segment: key.segment < 0 ? nil : Int(key.segment), weight: weight)
    }
}
