import Foundation
package import WaybillCore

/// A store as one running source uses it: opened when first needed, registered in, and marked as alive for as long as
/// the source runs.
///
/// Confined to the store's thread.
package final class StoreSession {
    /// The source, with the installation that the store knows.
    package private(set) var source: SourceIdentity
    /// Why this is not the store that was asked for, or not kept within its limits; nil when all is well.
    package var problem: WaybillError? { openingProblem ?? retentionProblem }
    private var openingProblem: WaybillError? {
        didSet { if let openingProblem, openingProblem != oldValue { tell(openingProblem) } }
    }
    /// What was wrong with a journal that an earlier launch left behind; nil: nothing. It is in the way of nothing now.
    private(set) var recoveryProblem: WaybillError? {
        didSet { if let recoveryProblem, recoveryProblem != oldValue { tell(recoveryProblem) } }
    }
    /// The journal of the source, whose lock says that the source runs.
    private let journal: OwnJournal
    /// Shows that sets come from the installation; the store's, once that is open.
    private var installationProof = IdentityProof()
    private let tell: @Sendable (WaybillError) -> Void

    /// Where the store lies: what was asked for, or memory.
    package private(set) var place: ResolvedLocation
    private let wanted: ResolvedLocation
    /// Whether its files were found deleted, and made anew: what was told once has to be told again. Set back by the
    /// caller that has done so.
    var wasReplaced = false
    private var store: Store?
    private var storeReader: StoreReader?
    private var heartbeat: Heartbeat?
    /// What a store has that other processes use while this one may be suspended: it is closed after each piece of work.
    private var shared: (lock: FileLock, files: StoreFiles?)?
    /// What a piece of work may wait for other processes, where these may be suspended.
    let patience = Patience(milliseconds: Patience.sharedMilliseconds)
    private let activity: ExpiringActivity?
    private var hold: AnyObject?
    /// Whether the process is about to be suspended, and must not open the store.
    private var isHeldBack = false
    /// Whether the source was silent for so long that it may have been taken for ended.
    private(set) var wasSilent = false
    private let clock: any TransactionClock
    private var keeper: RetentionKeeper
    private var retentionProblem: WaybillError?
    /// Which file was found to be damaged.
    private var damaged: StoreFile.Identity?
    private var salvageCount = 0
    private var wasOpened = false
    /// What others had changed when that was looked at last; nil: not yet.
    var seenChanges: Store.SeenChanges?

    init(
        source: SourceIdentity, place: ResolvedLocation, clock: any TransactionClock, retention: Retention,
        journal: OwnJournal, activity: ExpiringActivity? = .system,
        tell: @escaping @Sendable (WaybillError) -> Void
    ) {
        self.source = source
        self.place = place
        self.clock = clock
        self.journal = journal
        self.activity = activity
        self.tell = tell
        wanted = place
        keeper = RetentionKeeper(retention)
    }

    /// Whether the store is in memory because it cannot be where it was asked for.
    var hasFallenBack: Bool { place != wanted }

    /// The store; or one in memory, while the one that was asked for cannot be opened: recording goes on, and
    /// ``problem`` says what happened.
    ///
    /// Where the files were deleted, a new store is made; what was only in them is booked as damaged.
    ///
    /// - Throws: ``problem`` when there is not even that.
    func opened() throws(WaybillError) -> Store {
        guard !isHeldBack else {
            throw WaybillError(
                .store,
                "The system is about to suspend this process; what is recorded waits in the journal until it goes on.")
        }
        if hasFallenBack { leaveMemory() }
        if let store {
            if store.isInPlace { return store }
            (self.store, storeReader, shared, wasReplaced) = (nil, nil, nil, true)
        }
        if let files = shared?.files, files != StoreFiles(of: place) { (shared, wasReplaced) = (nil, true) }
        do {
            return try openOrSalvage()
        } catch {
            // The next piece of work may be luckier: another process has it locked, which may be suspended.
            guard !place.isShared || !wasOpened && !patience.isHeldUp else { throw error }
            openingProblem = openingProblem ?? error
            // What is recorded waits in the journal for a store that was there before.
            guard !wasOpened else { throw error }
            shared = nil
            place = .memory(name: source.id.description)
            return try open()
        }
    }

    /// Takes notice of what went wrong: where the store's file is damaged or gone, it is made anew when it is needed
    /// next.
    func notice(_ error: any Error) {
        // Opened again, it says once that it is too new; what is recorded waits in the journal for an update of the app.
        if store?.isSuperseded == true { (store, storeReader, shared) = (nil, nil, nil) }
        guard let error = error as? WaybillError, error.code == .damaged, case .folder = place, damaged == nil else {
            return
        }
        damaged = store?.identity ?? place.path.flatMap { StoreFile(path: $0).identity }
        (store, storeReader, shared) = (nil, nil, nil)
    }

    private func openOrSalvage() throws(WaybillError) -> Store {
        if damaged != nil { try salvage() }
        do throws(WaybillError) {
            return try open()
        } catch {
            guard error.code == .damaged || place.path.map({ HeaderRepair.isNeeded(for: $0) }) == true else {
                throw error
            }
            (store, storeReader, shared) = (nil, nil, nil)
            damaged = place.path.flatMap { StoreFile(path: $0).identity }
            try salvage()
            return try open()
        }
    }

    /// Replaces the damaged file; where a disk damages one after the other, no more.
    private func salvage() throws(WaybillError) {
        guard case .folder = place, let path = place.path, salvageCount < 3 else {
            throw WaybillError(.damaged, "The store at \(place.description) is damaged. Check the disk.")
        }
        salvageCount += 1
        let lock = try FileLock(of: path, patience: place.isShared ? patience : nil)
        if let told = try Salvage.replace(
            StoreFile(path: path), damaged: damaged, under: lock, at: clock.wallMicroseconds())
        {
            openingProblem = told
        }
        damaged = nil
    }

    /// Goes on where the store was asked for, if that can be opened by now, with what was kept in memory meanwhile.
    private func leaveMemory() {
        guard let memory = store else { return }
        let before = (place, openingProblem)
        (place, openingProblem) = (wanted, nil)
        do throws(WaybillError) {
            try open().adopt(source.id, from: before.0)
            storeReader = nil
        } catch {
            (place, openingProblem) = before
            store = memory
        }
    }

    /// A reader of the same store.
    package func reader() throws(WaybillError) -> StoreReader {
        _ = try opened()
        if let storeReader { return storeReader }
        let reader = try StoreReader(place, patience: place.isShared ? patience : nil)
        storeReader = reader
        return reader
    }

    /// Whether a source that recorded into this store still runs.
    package func isAlive(_ source: GUID) -> Bool {
        if source == self.source.id || source.isOfNoProcess { return true }
        guard let folder = place.folder else { return false }
        return journalFolders.contains { LockedJournalFile.isLocked(for: source, in: $0) }
            || Heartbeat.isBeating(source, in: folder, at: Moment(clock))
    }

    /// Where journals lie: of this process, and of those that have the store to themselves.
    private var journalFolders: [URL] {
        guard let folder = place.folder, let own = place.journalFolder else { return [] }
        return own == folder ? [folder] : [own, folder]
    }

    // MARK: Retention

    /// Keeps the store within its limits, a step at a time; what goes wrong shows in ``problem``, and is tried again.
    ///
    /// - Parameters:
    ///   - count: Facts that were just written: at least twice as many may go.
    ///   - wasSettled: Whether something was delivered, and may be too old for that reason.
    /// - Returns: The transactions that went.
    @discardableResult
    package func retain(afterWriting count: Int = 0, wasSettled: Bool = false) -> Set<GUID> {
        if wasSettled { keeper.checkAgeSoon() }
        do throws(WaybillError) {
            let gone = try keeper.step(try opened(), at: Moment(clock), written: count, budget: max(2_000, 2 * count)) {
                hasJournal($0)
            }
            retentionProblem = nil
            return gone
        } catch {
            notice(error)
            retentionProblem = error
            return []
        }
    }

    private func hasJournal(_ source: GUID) -> Bool {
        journalFolders.contains { LockedJournalFile.isThere(for: source, in: $0) }
            || place.folder.map { Heartbeat.isThere(for: source, in: $0) } ?? false
    }

    private func open() throws(WaybillError) -> Store {
        if let shared, shared.files != nil { return try openAgain(shared.lock) }
        let store = try Store(place, lock: sharedLock(), clock: clock)
        // Before the source can be seen in the store: others take a source without a locked file, and without a
        // heartbeat, for one that has ended.
        if place.journalFolder != nil { try journal.lockedFile() }
        if place.isShared, let folder = place.folder {
            heartbeat = heartbeat ?? Heartbeat(of: source.id, in: folder)
            try heartbeat?.beat(at: clock.uptimeMicroseconds())
        }
        try keeper.look(at: Moment(clock), in: store)
        let known = try store.setting("installation").flatMap { GUID($0) }
        if let known, let itsProof = try store.installationProof(of: known) {
            (source.installation, installationProof) = (known, itsProof)
        } else {
            let installation = known ?? source.installation ?? GUID()
            try store.set(installation: installation, proof: installationProof)
            // What is sent under it must be found again by it, also after a power cut in the first seconds; and who
            // had lost the proof could send no more under it.
            try store.sync()
            source.installation = installation
        }
        try store.register(source, proof: journal.proof)
        for folder in journalFolders {
            recoveryProblem =
                try store.recoverJournals(in: folder, installation: source.installation) { source in
                    if let folder = place.folder { Heartbeat.remove(of: source, in: folder) }
                }.first ?? recoveryProblem
        }
        _ = try store.endSources(isAlive: { isAlive($0) })
        self.store = store
        wasOpened = true
        return store
    }

    // MARK: Shared with processes that may be suspended

    /// To be called before each piece of work: keeps the system from suspending the process until ``end()``, and tells
    /// other processes that this one runs.
    func begin() {
        guard wanted.isShared else { return }
        patience.renew()
        hold = activity?.hold("write what was recorded")
        isHeldBack = activity != nil && hold == nil
        if (try? heartbeat?.beat(at: clock.uptimeMicroseconds())) == true { wasSilent = true }
    }

    /// To be called after each piece of work: closes the store. SQLite has locks on its files for as long as they are
    /// open, and the process may be suspended now.
    func end() {
        guard wanted.isShared else { return }
        if let store, let lock = shared?.lock, !hasFallenBack {
            shared = (lock, store.files)
            (self.store, storeReader) = (nil, nil)
            // The number by which a connection knows that others have written means nothing to the next one.
            seenChanges?.version = -1
        }
        hold = nil
    }

    /// The lock of a store that others use, which is known before the store is open.
    private func sharedLock() throws(WaybillError) -> FileLock? {
        guard place.isShared, let folder = place.folder, let path = place.path else { return nil }
        if let shared { return shared.lock }
        try StoreFolder.make(folder)
        let lock = try FileLock(of: path, patience: patience)
        shared = (lock, nil)
        return lock
    }

    private func openAgain(_ lock: FileLock) throws(WaybillError) -> Store {
        let opened = try Store(again: place, lock: lock)
        if wasSilent, (try? opened.revive(source.id)) != nil { wasSilent = false }
        store = opened
        return opened
    }

    /// The source has ended: once its journal is gone, nothing is left that others had to wait for.
    func leave() {
        guard heartbeat != nil, let folder = place.folder, let own = place.journalFolder,
            access(LockedJournalFile.path(of: source.id, in: own), F_OK) != 0
        else { return }
        Heartbeat.remove(of: source.id, in: folder)
    }
}
