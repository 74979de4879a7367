import WaybillCore
import WaybillStore

/// The parts of transactions besides their leading ones: those of few transactions are looked up; of many it is faster
/// to read all at once.
struct JoinedParts {
    /// A part of another source, or a further one of the same.
    struct Part: Equatable {
        var source: Int64
        var sequence: Int64
        var useCase: Int
    }

    /// 40 bytes: there may be millions.
    private struct Link {
        var transaction: GUID
        var sequence: Int64
        var useCase: Int
        /// No file has room for more sources.
        var source: Int32
        /// The place of the next one of its transaction; of the last one, that of the first.
        var next: Int32
    }

    /// All that the store has; nil: they are looked up.
    private var links: [Link]?
    /// The place of a transaction's last one.
    private var last = PlaceTable()
    private var connection: Connection

    /// Of so many transactions all parts are read at once.
    static let many = 2_000

    /// - Parameters:
    ///   - count: Of the transactions whose parts will be wanted.
    ///   - codes: Parts without such an event need not be found; nil: all parts are wanted.
    init(ofTransactions count: Int, with codes: [Int]?, _ connection: Connection) throws(WaybillError) {
        self.connection = connection
        guard count >= Self.many else { return }
        var links: [Link] = []
        var events = try codes.map { codes throws(WaybillError) in
            try RowCursor(
                "SELECT part FROM events AS sought", key: ("source", "part"), only: ("code", codes), connection)
        }
        defer { events?.stop() }
        let statement = try connection.statement(
            "SELECT guid, source, sequence, use_case FROM parts WHERE guid IS NOT NULL AND listed_us IS NULL ORDER BY source, sequence"
        )
        try statement.forEachRow { (row) throws(WaybillError) in
            let part = Part(source: row.int(1), sequence: row.int(2), useCase: row.int(3))
            if events != nil, try events?.row(from: part.source, part.sequence)?.int(0) != part.sequence { return }
            add(part, of: row.guid(0), to: &links)
        }
        self.links = links.map(\.self)  // which takes no more room than they need
    }

    private mutating func add(_ part: Part, of guid: GUID, to links: inout [Link]) {
        let place = Int32(links.count)
        links.append(
            Link(
                transaction: guid, sequence: part.sequence, useCase: part.useCase, source: Int32(clamping: part.source),
                next: place))
        guard let before = last.update(guid, to: place, { links[Int($0)].transaction }) else { return }
        links[Int(place)].next = links[Int(before)].next
        links[Int(before)].next = place
    }

    /// Whether no transaction has any.
    var isEmpty: Bool { links?.isEmpty ?? false }

    /// The same, for another thread that has a connection of its own.
    func reading(by connection: Connection) -> JoinedParts {
        var parts = self
        parts.connection = connection
        return parts
    }

    /// Those of a transaction, by source and sequence.
    func parts(of guid: GUID) throws(WaybillError) -> [Part] {
        guard let links else {
            return try connection.statement(
                "SELECT source, sequence, use_case FROM parts WHERE guid = ? AND listed_us IS NULL ORDER BY source, sequence"
            ).rows(guid) { row in Part(source: row.int(0), sequence: row.int(1), useCase: row.int(2)) }
        }
        guard let last = last.place(of: guid, { links[Int($0)].transaction }) else { return [] }
        var parts: [Part] = []
        var place = last
        repeat {
            let link = links[Int(links[Int(place)].next)]
            parts.append(Part(source: Int64(link.source), sequence: link.sequence, useCase: link.useCase))
            place = links[Int(place)].next
        } while place != last
        return parts
    }
}

/// Places by ID, which the one who has them keeps: a hash table of four bytes for each slot, open addressing (Knuth,
/// TAOCP volume 3, 6.4, algorithm L).
///
/// A dictionary keeps each ID once more, and its hashes took some tenth of an answer's time. IDs come from others, so
/// what they are multiplied by is random: many that fall into one slot cannot be made up (Dietzfelbinger et al. 1997,
/// multiply-shift).
private struct PlaceTable {
    /// Below 0: free. A power of two of them.
    private var slots = [Int32](repeating: -1, count: 1 << 12)
    private var count = 0
    private let factors = (UInt64.random(in: .min ... .max) | 1, UInt64.random(in: .min ... .max) | 1)

    private func slot(of id: GUID, _ idAt: (Int32) -> GUID) -> Int {
        let hash = (id.low ^ (id.high &* factors.0)) &* factors.1
        var slot = Int(hash >> (64 - UInt64(slots.count.trailingZeroBitCount)))
        while slots[slot] >= 0, idAt(slots[slot]) != id { slot = (slot + 1) & (slots.count - 1) }
        return slot
    }

    /// - Parameter idAt: The ID at a place that was given.
    func place(of id: GUID, _ idAt: (Int32) -> GUID) -> Int32? {
        let place = slots[slot(of: id, idAt)]
        return place < 0 ? nil : place
    }

    /// - Returns: The place that it had; nil: none.
    mutating func update(_ id: GUID, to place: Int32, _ idAt: (Int32) -> GUID) -> Int32? {
        let slot = slot(of: id, idAt)
        let before = slots[slot]
        slots[slot] = place
        guard before < 0 else { return before }
        count += 1
        if 2 * count > slots.count { grow(idAt) }
        return nil
    }

    private mutating func grow(_ idAt: (Int32) -> GUID) {
        let places = slots.filter { $0 >= 0 }
        slots = [Int32](repeating: -1, count: 2 * slots.count)
        for place in places { slots[slot(of: idAt(place), idAt)] = place }
    }
}

/// Rows of a table whose key begins with a source and a number, fetched for keys that mostly come in that order, too:
/// from one to the next by steps where that is near, by a search where it is far. So a question about everything reads
/// the table once, and one about little reads little: of no source more than is asked about.
struct RowCursor {
    private let statement: Statement
    private let arguments: [any SQLValue]
    private var row: Row?
    private var source: Int64?
    private var number: Int64 = 0
    /// A search takes as long as so many steps.
    private static let reach = 24

    /// - Parameters:
    ///   - select: Up to the table's alias; the number comes first.
    ///   - key: The columns of the order's beginning.
    ///   - wanted: Of which another column has to hold one; nil: all rows are wanted.
    init(
        _ select: String, key: (source: String, number: String), only wanted: (column: String, values: [Int])? = nil,
        _ connection: Connection
    ) throws(WaybillError) {
        var condition = ""
        (condition, arguments) = wanted.map { Self.condition($0.column, isOneOf: $0.values) } ?? ("", [])
        statement = try connection.statement(
            "\(select) WHERE \(key.source) = ?1 AND \(key.number) >= ?2\(condition) ORDER BY \(key.number)")
    }

    /// For `IN` SQLite makes a table of the values each time that the statement begins, which takes longer than most
    /// searches. Values that lie close together are a bit each of one number: SQLite shifts by a negative number to the
    /// other side, and by 64 or more everything out, so that no other value finds a bit.
    private static func condition(_ column: String, isOneOf values: [Int]) -> (sql: String, arguments: [any SQLValue]) {
        let wide = values.map { Int64($0) }
        guard let least = wide.min(), let greatest = wide.max(), greatest - least < Int64.bitWidth - 1 else {
            let places = values.indices.map { "?\($0 + 3)" }.joined(separator: ", ")
            return (" AND \(column) IN (\(places))", values)
        }
        let bits = wide.reduce(into: Int64(0)) { $0 |= 1 << ($1 - least) }
        return (" AND (?3 >> (\(column) - ?4)) & 1", [bits, least])
    }

    /// The first row of a source that does not come before a number; nil where there is none.
    mutating func row(from source: Int64, _ number: Int64) throws(WaybillError) -> Row? {
        guard source == self.source, number > self.number else { return try search(source, number) }
        self.number = number
        var steps = 0
        while let row, row.int(0) < number {
            guard steps < Self.reach else { return try search(source, number) }
            steps += 1
            try advance()
        }
        return row
    }

    private mutating func search(_ source: Int64, _ number: Int64) throws(WaybillError) -> Row? {
        statement.start(arguments: [source, number] + arguments)
        (self.source, self.number) = (source, number)
        return try next()
    }

    /// The row after the one that was returned last; nil where there is none.
    mutating func next() throws(WaybillError) -> Row? {
        try advance()
        return row
    }

    private mutating func advance() throws(WaybillError) { row = try statement.next() }

    /// Lets go of the table.
    func stop() { statement.stop() }
}
