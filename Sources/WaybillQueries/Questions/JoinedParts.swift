import WaybillCore
import WaybillStore

struct JoinedParts {
    struct Part: Equatable {
        var source: Int64
        var sequence: Int64
        var useCase: Int
    }

    /// It takes only 40 bytes, because there may be millions.
    private struct Link {
        var transaction: GUID
        var sequence: Int64
        var useCase: Int
        /// No file has room for more than 32 bits of sources.
        var source: Int32
        var next: Int32
    }

    private var links: [Link]?
    private var last = PlaceTable()
    private var connection: Connection

    /// With this many transactions, all parts are read at once.
    static let many = 2_000

    /// Only parts with one of the `codes` need to be found; `nil` for all parts.
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

    var isEmpty: Bool { links?.isEmpty ?? false }

    func reading(by connection: Connection) -> JoinedParts {
        var parts = self
        parts.connection = connection
        return parts
    }

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

/// A hash table with open addressing (Knuth, TAOCP volume 3, 6.4, algorithm L), because a dictionary took a tenth of
/// the time of an answer. Clients choose IDs, so random factors prevent crafted collisions (Dietzfelbinger et al. 1997,
/// multiply-shift).
private struct PlaceTable {
    /// Negative if free. The count is a power of two.
    private var slots = [Int32](repeating: -1, count: 1 << 12)
    private var count = 0
    private let factors = (UInt64.random(in: .min ... .max) | 1, UInt64.random(in: .min ... .max) | 1)

    private func slot(of id: GUID, _ idAt: (Int32) -> GUID) -> Int {
        let hash = (id.low ^ (id.high &* factors.0)) &* factors.1
        var slot = Int(hash >> (64 - UInt64(slots.count.trailingZeroBitCount)))
        while slots[slot] >= 0, idAt(slots[slot]) != id { slot = (slot + 1) & (slots.count - 1) }
        return slot
    }

    func place(of id: GUID, _ idAt: (Int32) -> GUID) -> Int32? {
        let place = slots[slot(of: id, idAt)]
        return place < 0 ? nil : place
    }

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

/// Steps to near rows and searches for distant ones: a question reads only the rows that it needs, and each once.
struct RowCursor {
    private let statement: Statement
    private let arguments: [any SQLValue]
    private var row: Row?
    private var source: Int64?
    private var number: Int64 = 0
    /// The number of steps that take as long as a search.
    private static let reach = 24

    /// The number must be the first column of `select`.
    init(
        _ select: String, key: (source: String, number: String), only wanted: (column: String, values: [Int])? = nil,
        _ connection: Connection
    ) throws(WaybillError) {
        var condition = ""
        (condition, arguments) = wanted.map { Self.condition($0.column, isOneOf: $0.values) } ?? ("", [])
        statement = try connection.statement(
            "\(select) WHERE \(key.source) = ?1 AND \(key.number) >= ?2\(condition) ORDER BY \(key.number)")
    }

    /// SQLite builds a table for `IN` at each start of the statement, which is slower than most searches. Values within
    /// 63 of each other become bits of a number instead. SQLite shifts all bits out for 64 or more, and shifts left for
    /// a negative count: other values match no bit.
    private static func condition(_ column: String, isOneOf values: [Int]) -> (sql: String, arguments: [any SQLValue]) {
        let wide = values.map { Int64($0) }
        guard let least = wide.min(), let greatest = wide.max(), greatest - least < Int64.bitWidth - 1 else {
            let places = values.indices.map { "?\($0 + 3)" }.joined(separator: ", ")
            return (" AND \(column) IN (\(places))", values)
        }
        let bits = wide.reduce(into: Int64(0)) { $0 |= 1 << ($1 - least) }
        return (" AND (?3 >> (\(column) - ?4)) & 1", [bits, least])
    }

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

    mutating func next() throws(WaybillError) -> Row? {
        try advance()
        return row
    }

    private mutating func advance() throws(WaybillError) { row = try statement.next() }

    func stop() { statement.stop() }
}
