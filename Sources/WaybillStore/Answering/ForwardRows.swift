import WaybillCore

/// Rows of a table in the order of its primary key, fetched for keys that mostly come in that order, too: from one to the next by steps where that
/// is near, by a search where it is far. So a question about everything reads the table once, and one about little reads little.
struct ForwardRows {
    private let statement: Statement
    private var row: Row?
    private var last: (source: Int, sequence: Int)?
    /// A search takes as long as so many steps.
    private static let reach = 24

    /// - Parameters:
    ///   - select: Up to the table's alias; source and the number by which it is ordered come first.
    ///   - key: The columns of the order's beginning.
    init(_ select: String, key: (source: String, sequence: String), _ connection: Connection) throws(WaybillError) {
        statement = try connection.statement(
            "\(select) WHERE (\(key.source), \(key.sequence)) >= (?1, ?2) ORDER BY \(key.source), \(key.sequence)")
    }

    /// The first row that does not come before a key; nil where there is none.
    mutating func row(from source: Int, _ sequence: Int) throws(WaybillError) -> Row? {
        if let last, (last.source, last.sequence) < (source, sequence) {
            var steps = 0
            while let row, (row.int(0), row.int(1)) < (source, sequence) {
                guard steps < Self.reach else { return try search(source, sequence) }
                steps += 1
                try advance()
            }
            self.last = (source, sequence)
            return row
        }
        return try search(source, sequence)
    }

    private mutating func search(_ source: Int, _ sequence: Int) throws(WaybillError) -> Row? {
        statement.start(source, sequence)
        last = (source, sequence)
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
