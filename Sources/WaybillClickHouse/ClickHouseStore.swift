#if ClickHouse
import Dispatch
package import WaybillCore
package import WaybillQueries
import WaybillStore

/// A store in a ClickHouse database, which any number of processes can use at once.
///
/// It answers like ``WaybillQueries/SQLiteStore``, mostly from a row of each transaction.
///
/// ## Usage
///
/// ```swift
/// let address = try ClickHouseAddress("clickhouse://localhost:8123/waybill")
/// try await ClickHouseStore.migrate(address)
/// let store = try await ClickHouseStore(address)
/// ```
package struct ClickHouseStore: Sendable {
    package let address: ClickHouseAddress
    package let clock: any TransactionClock
    package var redactor = Redactor()
    package var readLimit: Duration?
    /// The reader, because each one has a share of all reads; `nil` counts as one reader.
    package var asker: String?
    /// The number of facts of an export in memory.
    var factsPerRange = FactRangeReader.factCount
    /// The maximum number of facts for the few reads that need all.
    var factLimit: Int64 = 5_000_000
    /// Whether reads also make rows, as in a collector.
    package var makesRows = false
    /// Whether each read loads all facts, for comparisons in tests.
    var readsAll = false
    let tables: ClickHouseTables
    let queue: SetQueue

    /// Throws `.notFound` without tables. Facts of a transaction beyond `factsPerTransaction` are rejected.
    /// `takingEachRow` counts duplicate facts, which only a test does.
    package init(
        _ address: ClickHouseAddress, takingEachRow: Bool = false, factsPerTransaction: Int? = nil,
        clock: any TransactionClock = SystemClock(),
        committed: @escaping @Sendable ([Result<Receipt, WaybillError>]) -> Void = { _ in }
    ) async throws(WaybillError) {
        let client = ClickHouseClient(address)
        let (version, isCurrent) = try await Self.versions(client)
        guard version > 0 else {
            throw WaybillError(.notFound, "There is no Waybill store at \(address): make one with `waybill migrate`.")
        }
        guard version <= ClickHouseSchema.version else {
            throw WaybillError(
                .store,
                "The tables at \(address) are of version \(version), and this is for version \(ClickHouseSchema.version): update Waybill."
            )
        }
        tables = ClickHouseTables(client: client, isCurrent: isCurrent, takesEachRow: takingEachRow)
        self.address = address
        self.clock = clock
        queue = SetQueue(tables, factsPerTransaction: factsPerTransaction, committed: committed)
    }

    /// Creates missing tables, unless `isTried`. Returns the statements for it.
    @discardableResult
    package static func migrate(_ address: ClickHouseAddress, isTried: Bool = false) async throws(WaybillError)
        -> [String]
    {
        // The database may not exist yet.
        var server = address
        server.database = "default"
        let client = ClickHouseClient(server)
        let found = try await client.rows(
            "SELECT count() FROM system.tables WHERE database = '\(address.database)' AND name = 'schema_versions'"
        ) { row in try row.integer(UInt64.self) }
        var version: UInt32 = 0
        if found.first ?? 0 > 0 {
            version = try await versions(ClickHouseClient(address)).schema
        }
        guard version < ClickHouseSchema.version else { return [] }
        let statements = ClickHouseSchema.statements(
            isCurrent: try await versions(client, isEmpty: true).isCurrent, database: address.database,
            cluster: address.cluster)
        // The default timeout for a server that is down is three minutes.
        let settings = address.cluster == nil ? [:] : ["distributed_ddl_task_timeout": "30"]
        if !isTried { for statement in statements { try await client.run(statement, settings, isTriedAgain: false) } }
        return statements
    }

    private static func versions(
        _ client: ClickHouseClient, isEmpty: Bool = false
    ) async throws(WaybillError) -> (schema: UInt32, isCurrent: Bool) {
        let schema = isEmpty ? "toUInt32(0), version()" : "max(version), version() FROM schema_versions"
        let versions = try await client.rows("SELECT \(schema)") { row in
            (try row.integer(UInt32.self), try row.text().prefix { $0 != "." })
        }
        guard let (schema, year) = versions.first, let number = Int(year) else {
            throw WaybillError(.store, "\(client.address) does not say which version it is.")
        }
        return (schema, number >= 20)
    }

    package func check() async throws { _ = try await tables.state() }
}

extension ClickHouseStore {
    /// Copies a store in SQLite, except facts that exist here already. Returns the number of facts written.
    package func take(
        from store: SQLiteStore, progress: @escaping @Sendable (Int64, Int64) -> Void
    ) async throws -> Int64 {
        let wall = clock.wallMicroseconds()
        // The reading thread waits for each write.
        let written = try await store.read { reader in
            try reader.reading { () throws -> Int64 in
                let scan = StoreScan(reader.connection, at: wall)
                let (rest, total) = (try scan.rest(), try scan.factCount())
                try waiting { () async throws in
                    try await queue.take(StoreChanges(names: rest.names, tombstones: rest.tombstones), at: wall)
                }
                var (seen, written): (Int64, Int64) = (0, 0)
                var (group, size): ([SourceBooks], Int64) = ([], 0)
                func writeGroup() throws {
                    let pieces = group
                    written += try waiting { () async throws in try await take(pieces, at: wall) }
                    seen += size
                    (group, size) = ([], 0)
                    progress(seen, total)
                }
                try scan.forEach { piece in
                    group.append(piece)
                    size += Int64(piece.share.facts.count)
                    if size >= Self.factsPerWrite || group.count >= Self.sourcesPerWrite { try writeGroup() }
                }
                try writeGroup()
                return written
            }
        }
        try await takeSpans(from: store)
        try await queue.keeper.run(isAlone: true)
        return written
    }

    private func takeSpans(from store: SQLiteStore) async throws {
        var last: PlacedSpan?
        repeat {
            let before = last
            let (key, spans) = try await store.read { reader in
                let rows = SpanRows(reader.connection)
                return (try rows.key(), try rows.all(after: before, limit: Self.spansPerWrite))
            }
            if let key, before == nil {
                try await tables.insert(installations: [ClickHouseTables.none: key], queue.place())
            }
            let place = queue.place()
            let changed = Array(Set(spans.map(\.transaction)))
            if !spans.isEmpty { try await tables.insert([(place: place, state: .begun, transactions: changed)]) }
            try await tables.insert(spans, place)
            if !spans.isEmpty { try await tables.insert([(place: place, state: .written, transactions: [])]) }
            last = spans.last
        } while last != nil
    }

    private static let spansPerWrite = 10_000
    private static let (factsPerWrite, sourcesPerWrite): (Int64, Int) = (50_000, 1_000)

    private func take(_ pieces: [SourceBooks], at wall: Int64) async throws -> Int64 {
        var booked = try await tables.sources(Set(pieces.map(\.share.source.id))).mapValues { source in
            (known: source.known, share: source.books.share)
        }
        let shares = booked.mapValues(\.share)
        var changes = StoreChanges()
        for piece in pieces {
            let share = piece.share
            let before = booked[share.source.id]
            let known = before?.known ?? SequenceRanges()
            let sent = share.facts.sequences
            let new = sent.subtracting(known)
            let facts = new == sent ? share.facts : share.facts.filter { new.contains($0.sequence) }
            // Books without news are not written again.
            let isNews =
                before.map { before in
                    before.share.ledger.recorded < share.ledger.recorded || (share.hasEnded && !before.share.hasEnded)
                } ?? true
            guard !facts.isEmpty || share.facts.isEmpty && isNews else { continue }
            var books = piece
            books.share.facts = facts
            var left = new
            books.arrivals = piece.arrivals.flatMap { arrival in
                let its = left.intersection(SequenceRanges([arrival]))
                left = left.subtracting(its)
                return its.ranges.map {
                    SourceBooks.Arrival(first: $0.lowerBound, last: $0.upperBound, received: arrival.received)
                }
            }
            let clock = WallClock(share.clocks)
            for fact in facts {
                guard case .opened(let opened) = fact.content else { continue }
                let time = clock.wall(fact.atMicroseconds)
                let isTrusted = LeadingParts.listed(begun: time, heard: piece.heard) == time
                changes.begun.append((opened.transaction, isTrusted ? time : .max))
            }
            changes.books.append(books)
            var now = (known: known.union(new), share: share)
            now.share.hasEnded = share.hasEnded || before?.share.hasEnded == true
            booked[share.source.id] = now
        }
        guard !changes.books.isEmpty else { return 0 }
        try await queue.take(changes, at: wall, known: shares)
        return changes.books.reduce(0) { $0 + Int64($1.share.facts.count) }
    }
}

/// Blocks the caller's thread, which must not be one of Swift's tasks.
package func waiting<Value: Sendable, Failure>(
    for body: @escaping @Sendable () async throws(Failure) -> Value
) throws(Failure) -> Value {
    let (results, isOver) = (Locked<[Result<Value, Failure>]>([]), DispatchSemaphore(value: 0))
    Task.detached {
        let found: Result<Value, Failure>
        do throws(Failure) { found = .success(try await body()) } catch { found = .failure(error) }
        results.withLock { $0.append(found) }
        isOver.signal()
    }
    isOver.wait()
    return try results.withLock { $0[0] }.get()
}
#endif
