#if ClickHouse
import WaybillCore
package import WaybillQueries
package import WaybillStore

extension ClickHouseStore {
    /// Reads from a copy if there is one, or if the scope is all.
    package func read<Value: Sendable>(
        _ scope: ReadScope, _ body: @escaping @Sendable (StoreReader) throws -> Value
    ) async throws -> Value {
        let found = try await unlessCopied {
            guard let memory = try await memory(of: scope) else { throw TransactionLoader.TooMuch() }
            return try await read(memory, body)
        }
        if let found { return found }
        return try await reading { try await $0.read(scope, body) }
    }

    /// - Returns: `nil` if there is a copy, or if `read` needs too much.
    func unlessCopied<Value>(_ read: () async throws -> Value) async throws -> Value? {
        if isCopyPreferred, loader.hasCopy { return nil }
        return try await TransactionLoader.unlessTooMuch { try await tables.untilComplete(read) }
    }

    func read<Value: Sendable>(
        _ memory: StoreThread<MemoryStore>, _ body: @escaping @Sendable (StoreReader) throws -> Value
    ) async throws -> Value {
        try await memory.run(until: Interruption(after: readLimit, by: clock)) { memory, interruption in
            try memory.reader.reading(until: interruption) { try body(memory.reader) }
        }
    }

    /// - Returns: `nil` if only a copy has it.
    private func memory(of scope: ReadScope) async throws -> StoreThread<MemoryStore>? {
        switch scope {
        case .all: return nil
        case .names:
            let names = try await tables.names(behind: 0)
            // Of so many, only those with transactions count.
            guard names.count <= StoreReader.nameLimit else { return nil }
            let thread = try MemoryStore.thread()
            try await thread.replay(names)
            return thread
        case .sources:
            let books = try await DatabaseBooks(tables, try await tables.state())
            return try await WorkingSet(WorkingSetLoader(books, tables, keepsArrivals: true), tables) { _ in true }
                .thread
        case .transactions(let ids): return try await memory(of: Set(ids))
        case .listed(let filter, let limit):
            let now = clock.wallMicroseconds()
            let condition = try await BucketReader.readNames(tables) { reader in
                try RowConditions(of: [filter], reader, now: now).sql(filter)
            }
            guard tables.keepsRows, readsRows, let condition else { return nil }
            return try await memory(listing: condition, filter.order, limit: limit, behind: nil).thread
        case .neighbors(let id): return try await memory(besides: id)
        case .exchange(let key): return try await memory(ofExchange: key)
        }
    }

    /// Outdated rows that a list reads.
    static let changedInLists = 1_000

    /// Loads the first transactions of a list, and those with outdated rows.
    func memory(
        listing condition: String, _ order: TransactionFilter.Order, limit: Int, behind cursor: ListCursor?
    ) async throws -> (thread: StoreThread<MemoryStore>, changed: Set<GUID>) {
        // Read first, because rows may be made meanwhile.
        let changed = try await tables.changedTransactions(limit: Self.changedInLists)
        let (value, direction) = (order.sql, order.isDescending ? "DESC" : "ASC")
        let behind = cursor.map { " AND \(value) \(order.isDescending ? "<" : ">") \($0.listed)" } ?? ""
        let first = try await tables.transactions(
            where: "\(condition)\(behind) ORDER BY \(value) \(direction) LIMIT \(limit + changed.count)"
        ).filter { !changed.contains($0) }.prefix(limit)
        var loader = try await TransactionLoader(tables)
        return (try await loader.store(listing: changed.union(first)), changed)
    }

    /// Loads transactions without their families.
    func memory(of transactions: Set<GUID>) async throws -> StoreThread<MemoryStore> {
        var loading = WorkingSetLoader([], tables)
        try await loading.loadTombstones()
        try await loading.load(transactions)
        return try await WorkingSet(loading, tables) { _ in true }.thread
    }

    /// Loads a transaction, and those that its source opened before and after it.
    private func memory(besides id: GUID) async throws -> StoreThread<MemoryStore> {
        let now = clock.wallMicroseconds()
        var loader = try await TransactionLoader(tables)
        let thread = try await loader.store(listing: [id])
        guard let leader = try await thread.run({ memory in try memory.reader.leader(of: id) }) else { return thread }
        var count = 10
        while true {
            let (before, after) = try await tables.openings(around: leader, limit: count)
            let more = try await loader.store(listing: Set(before + after))
            let found = try await more.run { (memory) throws in try memory.reader.neighbors(of: id, now: now) }
            if found.before != nil || before.count < count, found.after != nil || after.count < count { return more }
            count *= 8
        }
    }

    private func memory(ofExchange key: String) async throws -> StoreThread<MemoryStore> {
        var loading = WorkingSetLoader([], tables)
        try await loading.loadTombstones()
        var facts: [GUID: SequenceRanges] = [:]
        if let colon = key.lastIndex(of: ":"), let sequence = FactID.sequence(key[key.index(after: colon)...]) {
            let name = String(key[..<colon])
            let sources =
                if let id = GUID(name) { [id] } else {
                    try await read(.sources) { reader in try reader.sources(withCode: name) }
                }
            for source in sources { facts[source] = SequenceRanges([sequence...sequence]) }
        }
        try await loading.load(of: facts, areOpenings: false)
        return try await WorkingSet(loading, tables) { _ in true }.thread
    }
}

extension ClickHouseTables {
    /// Returns the transactions of the openings before and after one, the nearest first.
    fileprivate func openings(around opening: FactID, limit: Int) async throws(WaybillError)
        -> (before: [GUID], after: [GUID])
    {
        func openings(_ relation: String, _ direction: String) async throws(WaybillError) -> [GUID] {
            try await client.rows(
                """
                SELECT tx FROM by_source WHERE source = \(Self.literal(opening.source)) AND kind = 1 \
                AND sequence \(relation) \(opening.sequence) ORDER BY sequence \(direction) LIMIT 1 BY sequence LIMIT \(limit)
                """, reading
            ) { row in try row.guid() }
        }
        return (try await openings("<", "DESC"), try await openings(">", "ASC"))
    }
}
#endif
