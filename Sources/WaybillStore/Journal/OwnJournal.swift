import Foundation
import WaybillCore

/// The journal of the source that runs here: its locked file, and what recovery has to know of the source.
///
/// Opening it needs no store, so the first fact of a process is journaled before SQLite is asked for anything. The
/// thread that opens the journal and the store's thread share it.
final class OwnJournal: Sendable {
    /// Shows that sets of the source come from it, in whichever store it records.
    let proof = IdentityProof()
    /// The folder of the journal; `nil` if the store lies in memory.
    private let folder: URL?
    private let source: SourceIdentity
    private let size: JournalSize
    private let catchesSignals: Bool
    private let locked = Locked(LockedState())
    private let isBegun = Locked(false)

    private struct LockedState {
        var file: LockedJournalFile?
        /// Folders whose new entries are not synced yet.
        var unsynced: [URL] = []
    }

    init(of source: SourceIdentity, in place: ResolvedLocation, size: JournalSize, catchesSignals: Bool) {
        folder = place.journalFolder
        self.source = source
        self.size = size
        self.catchesSignals = catchesSignals
    }

    /// Makes and locks the file, once: other processes then see that the source runs.
    ///
    /// - Returns: `nil` if the store lies in memory.
    @discardableResult
    func lockedFile() throws(WaybillError) -> LockedJournalFile? {
        guard let folder else { return nil }
        return try locked.withLock { state in
            Result { () throws(WaybillError) -> LockedJournalFile in
                if let file = state.file { return file }
                // Nobody waits for the disk here: `sync(_:)` does.
                state.unsynced += try StoreFolder.make(folder, syncs: false)
                let file = try LockedJournalFile(of: source.id, in: folder)
                state.file = file
                return file
            }
        }.get()
    }

    /// Opens the journal, unless that was done already; two threads may try at the same time.
    ///
    /// - Parameter begin: Takes the journal over; returns false if what waits in memory does not fit.
    /// - Returns: The file, to be synced; `nil` if there is nothing to do, or `begin` returned false.
    /// - Throws: The reason why it cannot be made; recording goes on in memory.
    func open(
        anchor: ClockAnchor, startMicroseconds: Int64, _ begin: (JournalFile) -> Bool
    ) throws(WaybillError) -> JournalFile? {
        try isBegun.withLock { isBegun in
            Result { () throws(WaybillError) -> JournalFile? in
                guard !isBegun, let lockedFile = try lockedFile() else { return nil }
                // Recovery reads the source from an empty set.
                let description = TransactionSet(
                    id: source.id, sources: [TransactionSet.Share(source: source, clocks: [anchor], sourceProof: proof)]
                )
                let file = try JournalFile(
                    lockedFile, description: description.encoded(), startMicroseconds: startMicroseconds, size: size,
                    catchesSignals: catchesSignals)
                isBegun = begin(file)
                return isBegun ? file : nil
            }
        }.get()
    }

    /// Waits until the journal and the folders that were made for it are on the disk.
    ///
    /// Where that fails, a power cut may take the journal; the store is synced all the same.
    ///
    /// - Parameter file: `nil` if there is no journal: then only the folders, where the store will lie.
    func sync(_ file: JournalFile?) {
        let unsynced = locked.withLock { state in
            defer { state.unsynced = [] }
            return state.unsynced
        }
        // A folder that we do not own may not be syncable.
        for folder in unsynced { try? DurableFile.syncFolder(folder) }
        try? file?.sync()
    }

    /// Journals of short programs that may wait for one that lives longer: each takes 2 MiB.
    private static let leftoverLimit = 4

    /// Whether so many processes that have ended left journals in the folder that this one must store them, however
    /// short it is.
    var hasManyLeftovers: Bool {
        guard let folder else { return false }
        var count = 0
        for other in LockedJournalFile.sources(in: folder)
        where other != source.id && !LockedJournalFile.isLocked(for: other, in: folder) {
            count += 1
            if count == Self.leftoverLimit { return true }
        }
        return false
    }
}
