#if ClickHouse
import WaybillCore
import WaybillQueries
import WaybillStore

/// A part of the database as a store. It belongs to a ``StoreThread``.
final class MemoryStore {
    let place = ResolvedLocation.memory(name: "clickhouse-\(GUID())")
    let store: Store
    let reader: StoreReader
    /// The first arrivals of sources. Lists of all processes have ties in their order.
    var ranks: [GUID: Int64] = [:]

    private init() throws(WaybillError) {
        store = try Store(place)
        reader = try StoreReader(place)
    }

    static func thread() throws(WaybillError) -> StoreThread<MemoryStore> {
        try StoreThread(label: "waybill.memory") { () throws(WaybillError) in try MemoryStore() }
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

    func replay(_ books: [SourceBooks]) async throws(WaybillError) {
        try await run { memory throws(WaybillError) in try memory.store.replay(books) }
    }
}
#endif
