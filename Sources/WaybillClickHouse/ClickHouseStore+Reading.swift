#if ClickHouse
import WaybillCore
package import WaybillQueries
package import WaybillStore

extension ClickHouseStore {
    package func read<Value: Sendable>(
        _ scope: ReadScope, _ body: @escaping @Sendable (StoreReader) throws -> Value
    ) async throws -> Value {
        try await unlessTooMuch {
            try await read(memory(of: scope), body)
        } orElse: {
            try await reading { try await $0.read(scope, body) }
        }
    }

    func unlessTooMuch<Value>(
        _ read: () async throws -> Value, orElse readAll: () async throws -> Value
    ) async throws -> Value {
        if let found = try await unlessTooMuch(read) { return found }
        return try await readAll()
    }

    /// Reads once more with new rows if too many are outdated.
    ///
    /// - Returns: `nil` if `read` needs too much.
    func unlessTooMuch<Value>(_ read: () async throws -> Value) async throws -> Value? {
        guard !readsAll else { return nil }
        do { return try await tables.untilComplete(read) } catch is WorkingSet.TooMuch {}
        try await queue.keeper.run()
        do { return try await tables.untilComplete(read) } catch is WorkingSet.TooMuch { return nil }
    }

    var usesRows: Bool { tables.keepsRows && !readsAll }

    func reading<Value>(_ body: (SQLiteStore) async throws -> Value) async throws -> Value {
        let thread = try await everything()
        defer { withExtendedLifetime(thread) {} }
        return try await body(sqlite(thread))
    }

    /// Returns the transactions with outdated rows, if asked with all of their relatives.
    private func outdated(withFamilies: Bool) async throws -> Set<GUID> {
        guard usesRows else { throw WorkingSet.TooMuch() }
        let changed = try await tables.changedTransactions(limit: Self.changedLimit)
        if makesRows, !changed.isEmpty { queue.keeper.wake() }
        return withFamilies ? try await families(of: changed) : changed
    }

    func families(of transactions: Set<GUID>) async throws -> Set<GUID> {
        var (all, next) = (transactions, transactions)
        while !next.isEmpty {
            next = try await tables.relatives(of: next).subtracting(all)
            all.formUnion(next)
            guard all.count <= Self.changedLimit else { throw WorkingSet.TooMuch() }
        }
        return all
    }

    /// Statements with so many IDs have less than 256 KB.
    static let changedLimit = 3_000

    func asked<Filter: ListFilter & Sendable>(
        _ request: ListRequest, _ type: Filter.Type
    ) async throws -> (filter: Filter, names: StoreThread<MemoryStore>, now: Int64) {
        let (now, names) = (clock.wallMicroseconds(), try await tables.nameStore())
        return (try await read(names) { reader in try reader.filter(request, now: now) }, names, now)
    }

    func currentRows(_ request: ListRequest) async throws -> (filter: TransactionFilter, rows: CurrentRows) {
        // Read before rows, because rows may be made meanwhile.
        async let outdated = outdated(withFamilies: false)
        let (filter, names, now) = try await asked(request, TransactionFilter.self)
        let conditions = try await conditions(of: [filter], names, now: now)
        var changed = try await outdated
        if filter.looksAtFamilies { changed = try await families(of: changed) }
        return (filter, CurrentRows(names: names, conditions: conditions, changed: changed))
    }

    func currentRows(
        _ filters: [TransactionFilter], withFamilies: Bool, _ names: StoreThread<MemoryStore>, now: Int64
    ) async throws -> CurrentRows {
        // Read before rows, because rows may be made meanwhile.
        let changed = try await outdated(withFamilies: withFamilies)
        let conditions = try await conditions(of: filters, names, now: now)
        return CurrentRows(names: names, conditions: conditions, changed: changed)
    }

    private func conditions(
        of filters: [TransactionFilter], _ names: StoreThread<MemoryStore>, now: Int64
    ) async throws -> RowConditions {
        var conditions = try await read(names) { reader in try RowConditions(of: filters, reader, now: now) }
        for root in Set(filters.flatMap(\.roots)) {
            conditions.descendants[root] = try await tables.descendants(of: conditions.root(root))
        }
        return conditions
    }

    func read<Value: Sendable>(
        _ memory: StoreThread<MemoryStore>, _ body: @escaping @Sendable (StoreReader) throws -> Value
    ) async throws -> Value {
        try await readMemory(memory) { memory in try body(memory.reader) }
    }

    func readMemory<Value: Sendable>(
        _ memory: StoreThread<MemoryStore>, _ body: @escaping @Sendable (MemoryStore) throws -> Value
    ) async throws -> Value {
        try await memory.run(until: Interruption(after: readLimit, by: clock)) { memory, interruption in
            try memory.reader.reading(until: interruption) { try body(memory) }
        }
    }

    private func memory(of scope: ReadScope) async throws -> StoreThread<MemoryStore> {
        switch scope {
        case .all: throw WorkingSet.TooMuch()
        case .names:
            let names = try await tables.names()
            // Of so many, only those with transactions count.
            guard names.count <= StoreReader.nameLimit else { throw WorkingSet.TooMuch() }
            return try await MemoryStore.thread(with: names)
        case .sources:
            return try await WorkingSet(DatabaseBooks(tables), tables, keepsArrivals: true).memory()
        case .details(let sources, let limits): return try await memory(ofDetails: sources, limits)
        case .transactions(let ids): return try await memory(of: Set(ids))
        case .listed(let filter, let limit):
            let rows = try await currentRows(
                [filter], withFamilies: filter.looksAtFamilies, tables.nameStore(), now: clock.wallMicroseconds())
            let first = try await tables.transactions(
                where: rows.sql(filter), filter.order, limit: limit, behind: nil)
            return try await tables.memory(listing: rows.changed.union(first))
        case .neighbors(let id): return try await memory(besides: id)
        case .exchange(let key): return try await memory(ofExchange: key)
        }
    }

    func memory(of rows: CurrentRows) async throws -> StoreThread<MemoryStore> {
        rows.changed.isEmpty ? rows.names : try await memory(of: rows.changed)
    }

    func memory(of transactions: Set<GUID>, besides sources: Set<GUID> = []) async throws -> StoreThread<MemoryStore> {
        try await WorkingSet(tables) { try await $0.load(transactions, besides: sources) }.memory()
    }

    /// Loads a transaction, and those that its source opened before and after it.
    private func memory(besides id: GUID) async throws -> StoreThread<MemoryStore> {
        let now = clock.wallMicroseconds()
        let thread = try await tables.memory(listing: [id])
        guard let leader = try await thread.run({ memory in try memory.reader.leader(of: id)?.id }) else {
            return thread
        }
        var count = 10
        while true {
            let (before, after) = try await tables.openings(around: leader, limit: count)
            let more = try await tables.memory(listing: Set(before + after + [id]))
            let found = try await more.run { (memory) throws in try memory.reader.neighbors(of: id, now: now) }
            if found.before != nil || before.count < count, found.after != nil || after.count < count { return more }
            count *= 8
        }
    }

    private func memory(ofExchange key: String) async throws -> StoreThread<MemoryStore> {
        var facts: [GUID: SequenceRanges] = [:]
        if let colon = key.lastIndex(of: ":"), let sequence = FactID.sequence(key[key.index(after: colon)...]) {
            let name = String(key[..<colon])
            let sources =
                if let id = GUID(name) { [id] } else {
                    try await read(.sources) { reader in try reader.sources(withCode: name) }
                }
            for source in sources { facts[source] = SequenceRanges([sequence...sequence]) }
        }
        let one = facts
        return try await WorkingSet(tables) { try await $0.load(of: one, areOpenings: false) }.memory()
    }
}

/// The rows that are not outdated.
struct CurrentRows: Sendable {
    let names: StoreThread<MemoryStore>
    let conditions: RowConditions
    let changed: Set<GUID>

    var now: Int64 { conditions.now }

    func sql(_ filter: TransactionFilter) -> String { conditions.sql(filter) + areCurrent }

    var areCurrent: String { changed.isEmpty ? "" : " AND tx NOT IN (\(ClickHouseTables.list(changed)))" }
}

extension ClickHouseTables {
    func relatives(of transactions: Set<GUID>) async throws(WaybillError) -> Set<GUID> {
        let pairs = try await rows(
            "SELECT DISTINCT parent, child FROM children WHERE parent IN (?) OR child IN (?)", of: transactions
        ) { row in [try row.guid(), try row.guid()] }
        return Set(pairs.joined())
    }

    /// Returns SQL for some transactions without known parents and their descendants.
    func descendants(of roots: String) async throws -> String {
        var (conditions, heads) = ([String](), roots)
        var (last, all, idCount) = (heads, heads, 0)
        for generation in 1...ParentWalk.limit {
            last = RowConditions.hasParent(last)
            guard try await !transactions(where: "\(last) LIMIT 1").isEmpty else { break }
            all = "(\(heads)) OR \(RowConditions.hasParent(all))"
            // Beyond a dozen, each subquery in another one doubles the time of a statement.
            guard generation % Self.generationsPerCondition == 0 else { continue }
            let parents = try await transactions(where: "\(last) AND \(RowConditions.isKnownParent)")
            guard !parents.isEmpty else { break }
            // Their IDs are in the statement once for each generation.
            idCount += parents.count * (Self.generationsPerCondition + 1)
            guard idCount <= Self.idsPerStatement else { throw WorkingSet.TooMuch() }
            conditions.append(all)
            heads = "tx IN (\(Self.list(parents)))"
            (last, all) = (heads, heads)
        }
        return (conditions + [all]).map { "(\($0))" }.joined(separator: " OR ")
    }

    private static let generationsPerCondition = 8

    /// Returns the transactions of the openings before and after one, the nearest first.
    fileprivate func openings(around opening: FactID, limit: Int) async throws(WaybillError)
        -> (before: [GUID], after: [GUID])
    {
        func openings(_ relation: String, _ direction: String) async throws(WaybillError) -> [GUID] {
            try await ids(
                """
                SELECT tx FROM by_source WHERE source = \(Self.literal(opening.source)) AND kind = 1 \
                AND sequence \(relation) \(opening.sequence) ORDER BY sequence \(direction) LIMIT 1 BY sequence LIMIT \(limit)
                """)
        }
        return (try await openings("<", "DESC"), try await openings(">", "ASC"))
    }
}
#endif
