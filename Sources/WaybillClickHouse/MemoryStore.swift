#if ClickHouse
import WaybillCore
import WaybillExport
import WaybillQueries
import WaybillStore

/// A part of the database as a store. It belongs to a ``StoreThread``.
final class MemoryStore {
    private(set) var place: ResolvedLocation
    private(set) var store: Store
    private(set) var reader: StoreReader
    /// The first arrivals of sources. Lists of all processes have ties in their order.
    var ranks: [GUID: Int64] = [:]

    var export: TextExport?

    private init() throws(WaybillError) {
        place = .memory(name: "clickhouse-\(GUID())")
        store = try Store(place)
        // Its cursors are the database's.
        try store.set(Connection.idKey, to: nil)
        reader = try StoreReader(place)
    }

    /// Begins anew. Each thread keeps memory for itself, so a second one would take more.
    func empty() throws(WaybillError) {
        export = nil
        let new = try MemoryStore()
        (place, store, reader) = (new.place, new.store, new.reader)
    }

    func transactionRows() throws(WaybillError) -> [TransactionRow] {
        var rows = try reader.transactionRows()
        for row in rows.indices {
            for source in rows[row].sources.indices {
                rows[row].sources[source].rank = ranks[rows[row].sources[source].id] ?? 0
            }
        }
        return rows
    }

    static func thread() throws(WaybillError) -> StoreThread<MemoryStore> {
        try StoreThread(label: "waybill.memory") { () throws(WaybillError) in try MemoryStore() }
    }

    static func thread(with names: [NameChange]) async throws(WaybillError) -> StoreThread<MemoryStore> {
        let thread = try thread()
        try await thread.replay(names)
        return thread
    }

    /// Returns a cursor of the database with the row of its source here, or of the one before it.
    func local(_ cursor: ListCursor) throws(WaybillError) -> ListCursor {
        let before = try reader.sourceRows().last { ranks[$0.id] ?? 0 <= cursor.source }
        var local = cursor
        local.source = before?.row ?? 0
        if before.flatMap({ ranks[$0.id] }) != cursor.source { local.sequence = .max }
        return local
    }

    /// Lists report what is wrong with a cursor.
    func local(_ request: ListRequest) throws(WaybillError) -> ListRequest {
        var local = request
        if let cursor = try? request[.cursor].map({ text in try ListCursor(text) }) {
            local[.cursor] = try self.local(cursor).description
        }
        return local
    }

    /// Returns a page that continues behind its source in the database.
    func global<Row>(_ page: RecordPage<Row>) throws(WaybillError) -> RecordPage<Row> {
        var global = page
        global.next = try page.next.map { (next) throws(WaybillError) in try self.global(ListCursor(next)).description }
        return global
    }

    func global(_ cursor: ListCursor) throws(WaybillError) -> ListCursor {
        let source = try reader.sourceRows().first { $0.row == cursor.source }
        var global = cursor
        global.source = source.flatMap { ranks[$0.id] } ?? cursor.source
        return global
    }
}

extension StoreThread where Resource == MemoryStore {
    func replay(_ names: [NameChange]) async throws(WaybillError) {
        try await run { memory throws(WaybillError) in try memory.store.replay(names) }
    }

    func rehearse<Value: Sendable>(
        _ body: @escaping @Sendable (Store) throws(WaybillError) -> (Value, [TransactionSet.Share])
    ) async throws(WaybillError) -> (value: Value, changes: StoreChanges) {
        try await run { memory throws(WaybillError) in
            try memory.store.rehearse { () throws(WaybillError) in try body(memory.store) }
        }
    }

    func replay(_ books: [SourceBooks], _ spans: [PlacedSpan] = []) async throws(WaybillError) {
        try await run { memory throws(WaybillError) in
            try memory.store.replay(books)
            try memory.store.replay(spans)
        }
    }
}

extension ClickHouseTables {
    func nameStore() async throws -> StoreThread<MemoryStore> { try await MemoryStore.thread(with: names()) }
}
#endif
