import Foundation
import WaybillCore

/// The journal of the source that runs here. It opens without a store, before SQLite is used.
final class OwnJournal: Sendable {
    let proof = IdentityProof()
    private let folder: URL?
    private let source: SourceIdentity
    private let size: JournalSize
    private let catchesSignals: Bool
    private let locked = Locked(LockedState())
    private let isBegun = Locked(false)

    private struct LockedState {
        var file: LockedJournalFile?
        var unsynced: [URL] = []
    }

    init(of source: SourceIdentity, in place: ResolvedLocation, size: JournalSize, catchesSignals: Bool) {
        folder = place.journalFolder
        self.source = source
        self.size = size
        self.catchesSignals = catchesSignals
    }

    /// Creates the file once; its lock shows other processes that the source runs. `nil` for a store in memory.
    @discardableResult
    func lockedFile() throws(WaybillError) -> LockedJournalFile? {
        guard let folder else { return nil }
        return try locked.withLock { state in
            Result { () throws(WaybillError) -> LockedJournalFile in
                if let file = state.file { return file }
                // `sync(_:)` waits for the disk instead.
                state.unsynced += try StoreFolder.make(folder, syncs: false)
                let file = try LockedJournalFile(of: source.id, in: folder)
                state.file = file
                return file
            }
        }.get()
    }

    /// Opens the journal and returns the file to sync; `nil` if it was open or `begin` returned `false`.
    ///
    /// - Parameter begin: Takes over the journal; returns `false` if the facts in memory don't fit.
    func open(
        anchor: ClockAnchor, startMicroseconds: Int64, _ begin: (JournalFile) -> Bool
    ) throws(WaybillError) -> JournalFile? {
        try isBegun.withLock { isBegun in
            Result { () throws(WaybillError) -> JournalFile? in
                guard !isBegun, let lockedFile = try lockedFile() else { return nil }
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

    /// Ignores a failure: a power cut may then lose the journal.
    func sync(_ file: JournalFile?) {
        let unsynced = locked.withLock { exchange(&$0.unsynced, with: []) }
        // Syncing another user's folder may not be allowed.
        for folder in unsynced { try? DurableFile.syncFolder(folder) }
        try? file?.sync()
    }

    /// How many leftover journals, of 2 MiB each, may wait for a process that runs longer.
    private static let leftoverLimit = 4

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
