#if ClickHouse
import WaybillCore
import WaybillQueries
import WaybillStore

/// The table `transactions` has a row of each transaction. Most questions read these rows instead of the facts.
extension ClickHouseTables {
    private static let columns = ClickHouseSchema.columns(of: "transactions")

    /// Stands for no number in arrays.
    static let missing = Int64.min
    /// Stands for no host, because a host may be empty.
    static let noHost = "\0"

    /// Inserts rows; `nil` for a transaction without any fact left.
    func insert(_ rows: [(id: GUID, row: TransactionRow?)], version: Int64) async throws(WaybillError) {
        try await insert("transactions(\(Self.columns))", of: rows) { writer, element in
            let (id, row) = element
            writer.guid(id)
            writer.integer(version)
            writer.bool(row == nil)
            writer.transaction(row ?? TransactionRow(id: id, opening: FactID(source: Self.none, sequence: 0)))
        }
    }

    func lastVersion(of transactions: [GUID]) async throws(WaybillError) -> Int64 {
        try await rows("SELECT max(version) FROM transactions WHERE tx IN (?)", of: transactions) { row in
            try row.integer(Int64.self)
        }.max() ?? 0
    }

    /// Returns the matching transactions in the order of a condition with `ORDER BY`.
    func transactions(where condition: String) async throws(WaybillError) -> [GUID] {
        try await ids("SELECT tx FROM transactions FINAL WHERE gone = 0 AND \(condition)")
    }

    /// Passes on rows in groups. If `first` excludes a transaction by its ID, servers read nothing else of it.
    func transactions(
        where condition: String, first: String? = nil, reading contents: RowContents, isChosen: String = "1",
        now: Int64,
        eachGroup body: ([TransactionRow]) async throws -> Void
    ) async throws {
        let rest = "\(first.map { "PREWHERE \($0) " } ?? "")WHERE gone = 0 AND \(condition)"
        if let step = contents.groupStep {
            return try await groups(
                "\(Self.groups(now: now, step: step)) \(rest) GROUP BY \(Self.groupKeys)", { row in try row.group() },
                body)
        }
        try await groups(
            "SELECT \(isChosen), \(contents.columns(now: now)) FROM transactions FINAL\(contents.join(now: now)) \(rest)",
            { row in try row.transaction(contents) }, body)
    }

    /// Passes on a row for each exchange that matches, in groups.
    func exchanges(
        where condition: String, _ exchangeCondition: String, eachGroup body: ([TransactionRow]) async throws -> Void
    ) async throws {
        try await groups(
            """
            SELECT \(Self.exchangeColumns) FROM transactions FINAL \(Self.exchangeJoin) \
            WHERE gone = 0 AND \(condition) AND \(exchangeCondition)
            """, { row in try row.exchange() }, body)
    }

    private func groups(
        _ sql: String, _ read: (inout RowBinaryReader) throws -> TransactionRow,
        _ body: ([TransactionRow]) async throws -> Void
    ) async throws {
        var rows: [TransactionRow] = []
        try await client.forEachRow(sql, reading) { row in
            rows.append(try read(&row))
        } eachPiece: {
            guard rows.count >= Self.rowsPerGroup else { return }
            let group = rows
            rows.removeAll(keepingCapacity: true)
            try await body(group)
        }
        if !rows.isEmpty { try await body(rows) }
    }

    private static let rowsPerGroup = 8_192
}
#endif
