#if ClickHouse
import WaybillCore
import WaybillExport
package import WaybillQueries
import WaybillStore

extension ClickHouseStore {
    package func transactions(_ request: ListRequest, within budget: Duration?) async throws -> RecordPage<
        TransactionSummary
    > {
        try await unlessTooMuch {
            let limit = try request.pageSize()
            if request[.after] != nil { return try await changes(request) }
            let (filter, rows) = try await currentRows(request)
            let cursor = try request[.cursor].map { text in
                try QueryFailure.ofCursor { try ListCursor(text, of: filter.order) }
            }
            return try await page(filter, rows, limit: limit, behind: cursor)
        } orElse: {
            try await pageOfAll(request) { try await $0.transactions($1, within: budget) }
        }
    }

    /// Reads a page in memory of all facts.
    func pageOfAll<Row: Sendable>(
        _ request: ListRequest, _ read: (SQLiteStore, ListRequest) async throws -> RecordPage<Row>
    ) async throws -> RecordPage<Row> {
        let thread = try await everything()
        let request = try await thread.run { (memory) throws in try memory.local(request) }
        let page = try await read(sqlite(thread), request)
        return try await thread.run { (memory) throws in try memory.global(page) }
    }

    private func page(
        _ filter: TransactionFilter, _ current: CurrentRows, limit: Int, behind cursor: ListCursor?
    ) async throws -> RecordPage<TransactionSummary> {
        let (thread, changed, now) = (try await memory(of: current), current.changed, current.now)
        let ids = try await tables.transactions(
            where: current.sql(filter), filter.order, limit: limit + 1, behind: cursor)
        let tables = tables
        async let children = tables.childCounts(of: ids + changed, current)
        let rows = try await tables.listed(ids, filter.order, now: now)
        var found = try await readMemory(thread) { memory in
            let names = NameTable(memory.reader.connection)
            let others = try rows.map { listed in
                var row = try listed.named(by: names)
                if !changed.isEmpty { row.children = try memory.reader.children(of: row.id) }
                return (place: listed.place, row: row)
            }
            let matching = try memory.reader.transactions(
                among: changed, matching: filter, after: try cursor.map(memory.local), now: now)
            return try others + matching.map { (place: try memory.global($0.place), row: $0.row) }
        }
        found.sort { $0.place.precedes($1.place) }
        // Some may have been erased meanwhile.
        let (shown, isMore) = (found.prefix(limit), max(ids.count, found.count) > limit)
        var page = RecordPage(rows: shown.map(\.row), next: isMore ? shown.last?.place.description : nil)
        let counts = try await children
        for (index, row) in page.rows.enumerated() {
            guard let more = counts[row.id] else { continue }
            page.rows[index].children = TransactionSummary.Children(
                count: more.count &+ (row.children?.count ?? 0),
                failedCount: more.failedCount &+ (row.children?.failedCount ?? 0))
        }
        guard page.rows.isEmpty, cursor == nil else { return page }
        let reason = try await emptyReason(filter, current, isNone: !filter.isFolded)
        page.whyEmpty = try await read(thread) { reader in
            var all = reason
            all.merge(try reader.emptyReason(filter, now: now, isPartial: true))
            return all.sentence
        }
        return page
    }

    private func changes(_ request: ListRequest) async throws -> RecordPage<TransactionSummary> {
        guard usesRows else { throw WorkingSet.TooMuch() }
        let (filter, _, now) = try await asked(request, TransactionFilter.self)
        let position = try request.position()
        // Without a position, only the next one is asked for.
        let facts = position.map { .after($0.description) } ?? ExportedFacts.some([ClickHouseTables.none])
        let tables = tables
        let thread = try await tables.memory(exporting: facts) { transactions in
            if filter.looksAtFamilies { return try await families(of: transactions) }
            return transactions.union(try await tables.children(of: transactions).map(\.id))
        }
        return try await readMemory(thread) { memory in
            try memory.global(memory.reader.changes(memory.local(request), filter, now: now))
        }
    }
}

extension ClickHouseTables {
    /// Most pages are among so many next transactions.
    private static let nearCount = 8_192

    func transactions(
        where condition: String, _ order: TransactionFilter.Order, limit: Int, behind cursor: ListCursor?
    ) async throws(WaybillError) -> [GUID] {
        let near = try await endOfNear(order, behind: cursor)
        return try await transactions(where: condition, order, limit: limit, behind: cursor, near: near)
    }

    func transactions(
        where condition: String, _ order: TransactionFilter.Order, limit: Int, behind cursor: ListCursor?, near: Int64?
    ) async throws(WaybillError) -> [GUID] {
        let columns = [order.sql, "source_ranks[1]", "sequence"]
        let behind = cursor.map { " AND \(Self.isBehind($0, columns))" } ?? ""
        let direction = order.isDescending ? "DESC" : "ASC"
        let sorted = columns.map { "\($0) \(direction)" }.joined(separator: ", ")
        func first(_ limit: Int, _ bounds: String = "") async throws(WaybillError) -> [GUID] {
            try await transactions(where: "\(condition)\(behind)\(bounds) ORDER BY \(sorted) LIMIT \(limit)")
        }
        guard isCurrent else { return try await first(limit) }
        let (before, beyond) = order.isDescending ? (">=", "<") : ("<=", ">")
        /// Finds candidates first: without `FINAL`, servers read one column, of few rows with an index.
        func firstCandidates(_ limit: Int, _ bounds: String) async throws(WaybillError) -> [GUID] {
            // Some rows may be outdated.
            let count = limit + 16
            let rows = try await client.rows(
                """
                SELECT \(order.sql), tx FROM transactions WHERE gone = 0 AND \(condition)\(behind)\(bounds) \
                ORDER BY \(order.sql) \(direction) LIMIT \(count)
                """, reading
            ) { row in (value: try row.integer(Int64.self), id: try row.guid()) }
            guard let last = rows.last?.value else { return [] }
            let isAll = rows.count < count
            // More rows may have the last value.
            let certain = isAll ? rows : rows.filter { $0.value != last }
            let found = try await first(
                limit,
                isAll || certain.count >= limit
                    ? "\(bounds) AND tx IN (\(Self.list(certain.map(\.id))))"
                    : "\(bounds) AND \(order.sql) \(before) \(last)")
            return found.count < limit && !isAll ? try await first(limit, bounds) : found
        }
        var found: [GUID] = []
        switch order {
        case .newest, .oldest:
            guard let near else { return try await first(limit) }
            found = try await first(limit, " AND begun_us \(before) \(near)")
            guard found.count < limit else { return found }
            var rest = " AND begun_us \(beyond) \(near)"
            // If as many of the next ones pass, these are enough.
            let next = Self.nearCount * 2 * limit / max(1, found.count)
            if next <= Self.nearCount * 16, let end = try await end(of: next, order, behind: cursor) {
                found += try await first(limit - found.count, "\(rest) AND begun_us \(before) \(end)")
                guard found.count < limit else { return found }
                rest = " AND begun_us \(beyond) \(end)"
            }
            found += try await firstCandidates(limit - found.count, rest)
        case .longest, .shortest:
            found = try await firstCandidates(limit, " AND closed != 0")
            guard found.count < limit else { return found }
            found += try await first(limit - found.count, " AND closed = 0")
        }
        return found
    }

    /// Returns the last time that is near in a list by time; `nil` if there is none.
    func endOfNear(_ order: TransactionFilter.Order, behind cursor: ListCursor?) async throws(WaybillError) -> Int64? {
        switch order {
        case .newest, .oldest: isCurrent ? try await end(of: Self.nearCount, order, behind: cursor) : nil
        case .longest, .shortest: nil
        }
    }

    /// Returns the time of a transaction so many places behind; `nil` if there are fewer.
    private func end(of count: Int, _ order: TransactionFilter.Order, behind cursor: ListCursor?)
        async throws(WaybillError) -> Int64?
    {
        let relation = order.isDescending ? "<=" : ">="
        let behind = cursor.map { " AND begun_us \(relation) \($0.listed)" } ?? ""
        let times = try await client.rows(
            """
            SELECT begun_us FROM begun WHERE begun_us < \(Int64.max)\(behind) \
            ORDER BY begun_us \(order.isDescending ? "DESC" : "ASC") LIMIT 1 OFFSET \(count)
            """, reading
        ) { row in try row.integer(Int64.self) }
        return times.first
    }

    /// Returns the shown properties of transactions, except names and children.
    func listed(_ transactions: [GUID], _ order: TransactionFilter.Order, now: Int64) async throws(WaybillError)
        -> [ListedRow]
    {
        try await rows(
            "SELECT tx, listed FROM transactions FINAL WHERE gone = 0 AND tx IN (?)", of: transactions
        ) { row in try row.listed(order, now: now) }
    }

    /// Counts the children that have current rows.
    fileprivate func childCounts(
        of parents: [GUID], _ current: CurrentRows
    ) async throws(WaybillError) -> [GUID: TransactionSummary.Children] {
        var counts: [GUID: TransactionSummary.Children] = [:]
        for some in parents.inChunks(of: Self.idsPerStatement) {
            let children = { (parents: String) in "FROM children WHERE parent IN (\(parents))" }
            let having = try await ids("SELECT DISTINCT parent \(children(Self.list(some)))")
            guard !having.isEmpty else { continue }
            let list = Self.list(having)
            try await client.forEachRow(
                """
                SELECT parent, toInt64(count()), toInt64(countIf(outcome = \(TransactionOutcome.failed.rawValue))) \
                FROM transactions FINAL WHERE gone = 0 AND parent IN (\(list)) \
                AND tx GLOBAL IN (SELECT child \(children(list)))\(current.areCurrent) GROUP BY parent
                """, reading
            ) { row in
                let (parent, count, failed): (GUID, Int64, Int64) = (
                    try row.guid(), try row.integer(), try row.integer()
                )
                counts[parent] = TransactionSummary.Children(
                    count: Int(clamping: count), failedCount: Int(clamping: failed))
            }
        }
        return counts
    }

    /// SQL for the rows that follow a cursor. `columns` are the value of the list, the source's rank, and the sequence.
    static func isBehind(_ cursor: ListCursor, _ columns: [String]) -> String {
        let sign = cursor.order.isDescending ? "<" : ">"
        return zip(columns, [cursor.listed, cursor.source, cursor.sequence]).reversed().reduce("0") { rest, place in
            "(\(place.0) \(sign) \(place.1) OR \(place.0) = \(place.1) AND \(rest))"
        }
    }
}

/// A transaction for a list. App, version and source name its use case.
struct ListedRow: Sendable {
    var place: ListCursor
    var row: TransactionSummary
    var source: GUID
    var app, appVersion: String

    fileprivate func named(by names: NameTable) throws(WaybillError) -> TransactionSummary {
        var named = row
        named.useCaseName = try names.useCase(row.useCase, source: source, app: app, version: appVersion)
        return named
    }
}

extension ListCursor {
    fileprivate func precedes(_ other: ListCursor) -> Bool {
        let (left, right) = ((listed, source, sequence), (other.listed, other.source, other.sequence))
        return order.isDescending ? left > right : left < right
    }
}

extension TransactionFilter.Order {
    var sql: String {
        switch self {
        case .newest, .oldest: "begun_us"
        case .longest: "took_us"
        case .shortest: "shortest_us"
        }
    }
}
#endif
