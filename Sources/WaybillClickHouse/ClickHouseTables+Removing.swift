#if ClickHouse
import WaybillCore
import WaybillStore

extension ClickHouseTables {
    struct Removal: Sendable {
        var id = GUID()
        /// `facts`, `by_source`, `spans`, `books` or `transactions`.
        var table: String
        var condition: String
    }

    static func removals(of changes: StoreChanges) -> [Removal] {
        let gone = changes.books.filter { !$0.gone.isEmpty }.map { condition($0.share.source.id, $0.gone) }
        let removed = changes.removedSources.map { "source = \(literal($0))" }
        // Each removal is a mutation: every server rewrites parts for it.
        func removals(from table: String, _ conditions: [String]) -> [Removal] {
            conditions.inChunks(of: 100).map { Removal(table: table, condition: $0.joined(separator: " OR ")) }
        }
        return removals(from: "facts", gone + removed) + removals(from: "by_source", gone + removed)
            + removals(from: "books", removed) + Self.removals(ofSpans: changes.spans.filter(\.isGone))
    }

    private static func removals(ofSpans gone: [PlacedSpan]) -> [Removal] {
        let whole = Set(gone.filter(\.isLast).map(\.transaction))
        let lists = Array(whole).inChunks(of: 2_500).map { "tx IN (\(list($0)))" }
        let single = Dictionary(grouping: gone.filter { !$0.isLast }, by: \.transaction).map { transaction, spans in
            "tx = \(literal(transaction)) AND span IN (\(spans.map { "\($0.span.id.rawValue)" }.joined(separator: ", ")))"
        }
        let others = single.inChunks(of: 100).map { $0.joined(separator: " OR ") }
        return (lists + others).map { Removal(table: "spans", condition: $0) }
    }

    static func removals(ofRows transactions: Set<GUID>, before place: Int64) -> [Removal] {
        // Statements have at most 256 KB.
        Array(transactions).inChunks(of: 2_500).map { some in
            Removal(table: "transactions", condition: "tx IN (\(list(some))) AND version < \(place)")
        }
    }

    /// Notes the removals, because the next erasure must complete unfinished ones.
    func insert(_ removals: [Removal], isDone: Bool = false, at wall: Int64) async throws(WaybillError) {
        try await insert("removals(id, target, condition, at_us, done)", of: removals) { rows, removal in
            rows.guid(removal.id)
            rows.string(removal.table)
            rows.string(removal.condition)
            rows.integer(wall)
            rows.bool(isDone)
        }
    }

    func removals() async throws(WaybillError) -> [Removal] {
        try await client.rows(
            "SELECT id, any(target), any(condition) FROM removals GROUP BY id HAVING max(done) = 0 ORDER BY min(at_us)",
            reading
        ) { row in Removal(id: try row.guid(), table: try row.text(), condition: try row.text()) }
    }

    /// Starts a removal without waiting for it. Returns whether all servers have started it; throws if none has.
    /// A statement `ON CLUSTER` may wait for minutes behind others.
    func begin(_ removal: Removal) async throws(WaybillError) -> Bool {
        // In `transactions`, rows without a source hide older ones.
        let marks = removal.table == "transactions" ? "" : " OR source = \(Self.literal(Self.none))"
        let statement = "ALTER TABLE \(local(removal.table)) DELETE WHERE \(removal.condition)\(marks)"
        let servers = client.ofEachServer
        var failures: [WaybillError] = []
        for server in servers {
            do throws(WaybillError) { try await server.run(statement, isTriedAgain: false) } catch {
                failures.append(error)
            }
        }
        if let failure = failures.first, failures.count == servers.count { throw failure }
        return failures.isEmpty
    }

    func isGone(_ removal: Removal) async throws(WaybillError) -> Bool {
        for server in client.ofEachServer {
            let left = try await server.rows(
                "SELECT count() FROM \(local(removal.table)) WHERE \(removal.condition)"
            ) { row in try row.integer(UInt64.self) }
            guard left == [0] else { return false }
        }
        return true
    }

    /// Inserts a row without a source behind the rows to remove. The next removal deletes it.
    /// Servers from before 2019 do not mutate the newest block of a quorum insert.
    private func push(_ removal: Removal, at wall: Int64) async throws(WaybillError) {
        let (table, none) = (local(removal.table), Self.literal(Self.none))
        let row =
            switch removal.table {
            case "transactions": "(tx, version, gone) SELECT \(none), \(wall), 1"
            case "spans": "(tx, source, version) SELECT \(none), \(none), \(wall)"
            case "books": "(source, arrival) SELECT \(none), \(wall)"
            case "by_source": "(source, sequence) SELECT \(none), \(wall)"
            default:
                """
                (week, source, sequence) SELECT DISTINCT week, \(none), \(wall) FROM \(table) WHERE \(removal.condition)
                """
            }
        // Servers drop a block that equals an earlier one.
        let settings = inserting.merging(["insert_deduplicate": "0"]) { $1 }
        for server in client.ofEachServer { try await server.run("INSERT INTO \(table)\(row)", settings) }
    }

    private func local(_ table: String) -> String { table != "books" && cluster != nil ? "\(table)_local" : table }

    /// - Throws: `.store` if a server is down, or if rows are left after 45 seconds, as many proxies wait for 60.
    func removeAll(at wall: Int64) async throws(WaybillError) {
        do throws(WaybillError) {
            // All removals start before the first wait, because servers begin them only every few seconds.
            var left = try await removals()
            var (begun, pushed): (Set<GUID>, Set<GUID>) = ([], [])
            for removal in left where (try? await isGone(removal)) != true {
                if try await begin(removal) { begun.insert(removal.id) }
            }
            var attempts = 450
            while let removal = left.first {
                if try await isGone(removal) {
                    try await insert([removal], isDone: true, at: wall)
                    left.removeFirst()
                    continue
                }
                // Another process may have inserted older rows of transactions since, behind the pushed one.
                if removal.table == "transactions" || !begun.contains(removal.id), attempts % 60 == 0 {
                    if try await begin(removal) { begun.insert(removal.id) }
                    pushed.remove(removal.id)
                }
                if !isCurrent, pushed.insert(removal.id).inserted { try await push(removal, at: wall) }
                attempts -= 1
                guard attempts > 0 else { throw WaybillError(.store, "There are still rows in `\(removal.table)`.") }
                try? await Task.sleep(for: .milliseconds(100))
            }
        } catch {
            throw WaybillError(
                error.code,
                "It is erased for everybody who reads from \(client.address), but its bytes are still on a server. Erase once more when all servers run: it returns once they are gone.",
                cause: error.description)
        }
    }
}
#endif
