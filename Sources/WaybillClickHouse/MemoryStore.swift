#if ClickHouse
import WaybillCore
import WaybillReading
import WaybillStore

/// A store in memory, with what reads it. Confined to one thread.
final class MemoryStore {
    let store: Store
    let reader: StoreReader

    private init() throws(WaybillError) {
        let place = ResolvedLocation.memory(name: "clickhouse-\(GUID())")
        store = try Store(place)
        reader = try StoreReader(place)
    }

    /// An empty one, on a thread of its own.
    static func thread() throws(WaybillError) -> StoreThread<MemoryStore> {
        try StoreThread(label: "waybill.memory") { () throws(WaybillError) in try MemoryStore() }
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
