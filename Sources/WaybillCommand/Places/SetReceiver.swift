#if Collector
import WaybillCore
import WaybillStore

/// Takes in transaction sets: a store at hand, or a collector.
protocol SetReceiver: Sendable {
    /// Keeps what is new in the set, and returns when it is kept for good.
    ///
    /// - Parameters:
    ///   - decoded: What was read of the set.
    ///   - body: The set as it was written.
    func receive(_ decoded: DecodedSet, body: [UInt8]) async throws -> Receipt
}

/// A store at hand that receives sets as a collector's does.
struct StoreSetReceiver: SetReceiver {
    private let thread: StoreThread<Store>
    private let clock: any TransactionClock = SystemClock()

    /// Opens the store, and makes it where it is missing.
    init(_ place: StorePlace) throws(WaybillError) {
        thread = try StoreThread(label: "waybill.import") { () throws(WaybillError) in try Store(place, commitsAreSynced: true) }
    }

    func receive(_ decoded: DecodedSet, body: [UInt8]) async throws -> Receipt {
        let receivedAt = clock.wallMicroseconds()
        return try await thread.run { store throws(WaybillError) in try store.ingest(decoded, receivedAt: receivedAt) }
    }
}
#endif
