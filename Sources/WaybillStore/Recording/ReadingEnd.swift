import WaybillCore

/// The reader of a store that is being written, opened when first needed; confined to its thread.
final class ReadingEnd {
    private var opened: (reader: StoreReader, file: StoreFile.Identity?)?

    /// Opened anew where the store's file has been replaced since.
    func reader(of place: StorePlace) throws(WaybillError) -> StoreReader {
        let file = place.path.flatMap { StoreFile(path: $0).identity }
        if let opened, opened.file == file { return opened.reader }
        let reader = try StoreReader(place)
        opened = (reader, file)
        return reader
    }
}
