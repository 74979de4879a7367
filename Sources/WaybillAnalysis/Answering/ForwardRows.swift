import WaybillCore
import WaybillStore

/// Rows of a table whose key begins with a source and a number, fetched for keys that mostly come in that order, too:
/// from one to the next by steps where that is near, by a search where it is far. So a question about everything reads
/// the table once, and one about little reads little: of no source more than is asked about.
struct ForwardRows {
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
