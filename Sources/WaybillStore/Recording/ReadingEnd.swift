import WaybillCore

/// The reader of a store that is being written, opened when first needed; confined to its thread.
final class ReadingEnd {
    private var opened: StoreReader?

    func reader(of place: StorePlace) throws(WaybillError) -> StoreReader {
        if let opened { return opened }
        let reader = try StoreReader(place)
        opened = reader
        return reader
    }
}
