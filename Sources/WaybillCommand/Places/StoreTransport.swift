#if Collector
import Waybill
import WaybillCollector
import WaybillCore
import WaybillStore

/// Hands sets to a store at hand, which takes them in as a collector's does.
struct StoreTransport: FlushTransport {
    private let thread: StoreThread<Store>

    /// Opens the store, and makes it where it is missing.
    init(_ place: ResolvedLocation) throws(WaybillError) {
        thread = try StoreThread(label: "waybill.import") { () throws(WaybillError) in try Store(place, commitsAreSynced: true) }
    }

    func send(_ set: OutgoingSet) async throws -> Receipt {
        let decoded = try TransactionSet.decode(set.body)
        let receivedAt = CommandClock.current.wallMicroseconds()
        return try await thread.run { store throws(WaybillError) in try store.ingest(decoded, receivedAt: receivedAt) }
    }
}
#endif
