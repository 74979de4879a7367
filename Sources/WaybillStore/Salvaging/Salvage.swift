import Foundation
import WaybillCore

/// Makes a new store of what can be read of a damaged one, and puts it in its place.
///
/// The damaged file is kept beside it, as `waybill.sqlite.damaged-<seconds since 1970>`.
struct Salvage {
    /// Facts that were taken over.
    private(set) var factCount: Int64 = 0
    /// Facts that were pending and are lost; they are booked as dropped.
    private(set) var lostCount: Int64 = 0

    private let file: StoreFile

    /// Replaces a store's file, if it is still the one that was found to be damaged: another process may have been
    /// faster.
    ///
    /// To be called with no connection to it open in this process.
    ///
    /// - Returns: What to tell about it; nil when there was nothing to do.
    static func replace(
        _ file: StoreFile, damaged: StoreFile.Identity?, under lock: FileLock, at wall: Int64
    ) throws(WaybillError) -> WaybillError? {
        try lock.acquire()
        defer { lock.release() }
        guard let damaged, file.identity == damaged else { return nil }
        var salvage = Salvage(file: file)
        try salvage.makeSuccessor()
        guard let aside = try file.succeed(at: wall) else { return nil }
        return WaybillError(
            .damaged,
            "The store \(file.path) was damaged. \(salvage.factCount) facts were taken over into a new one; "
                + "\(salvage.lostCount) that were not delivered are lost, and told to the collector as dropped. The damaged file is \(aside)."
        )
    }

    private init(file: StoreFile) { self.file = file }

    private mutating func makeSuccessor() throws(WaybillError) {
        for suffix in ["", "-journal"] { unlink(file.draft + suffix) }
        let descriptor = open(file.draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw cannotBeMade(String(cString: strerror(errno))) }
        close(descriptor)
        StoreFolder.excludeFromBackup(URL(filePath: file.draft))
        let repaired = HeaderRepair(file.path)
        defer { repaired.remove() }
        do {
            let connection = try Connection("file:" + ResolvedLocation.escaped(file.draft), .readWrite, at: file.path)
            try connection.execute("PRAGMA synchronous = FULL")
            _ = try connection.transaction { () throws(WaybillError) in try Schema.migrate(connection) }
            // Where it cannot even be opened, the new store is empty.
            if let damaged = try? Connection(
                "file:" + ResolvedLocation.escaped(repaired.path), .readWrite, at: file.path)
            {
                // What is whole on a page is taken, whatever else is wrong with it.
                try? damaged.execute("PRAGMA cell_size_check = OFF")
                try connection.transaction { () throws(WaybillError) in
                    try SalvagedRows(from: damaged, into: connection).copy()
                    var books = SalvagedBooks(connection)
                    try books.balance()
                    (factCount, lostCount) = (books.factCount, books.lostCount)
                }
            }
        }
        do {
            try DurableFile.rename(file.draft, to: URL(filePath: file.successor))
        } catch {
            throw cannotBeMade(error.localizedDescription)
        }
    }

    private func cannotBeMade(_ cause: String) -> WaybillError {
        WaybillError(
            .store,
            "The new store cannot be made beside the damaged \(file.path). Check the permissions of its folder.",
            cause: cause)
    }
}
