import WaybillCore

/// The reader of a store that is being written, opened when needed; confined to its thread.
final class ReaderCache {
    private var opened: (reader: StoreReader, files: StoreFiles, isShared: Bool)?

    /// What a read may wait for other processes that may be suspended.
    private let patience = Patience(milliseconds: Patience.sharedMilliseconds)

    /// To be called before each read.
    func begin() { patience.renew() }

    /// Opened anew where the store's file has been replaced since.
    func reader(of place: ResolvedLocation) throws(WaybillError) -> StoreReader {
        let files = StoreFiles(of: place)
        if let opened, opened.files == files { return opened.reader }
        let reader = try StoreReader(place, patience: place.isShared ? patience : nil)
        opened = (reader, files, place.isShared)
        return reader
    }

    /// Closes it where other processes use the store and this one may be suspended: an open reader has locks.
    func rest() { if opened?.isShared == true { opened = nil } }
}
