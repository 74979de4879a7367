import Foundation
package import WaybillCore

/// The store of one running source, opened on demand and confined to the store's thread.
package final class StoreSession {
    package private(set) var source: SourceIdentity
    /// Why the store is not the requested one or exceeds its limits; `nil` if all is well.
    package var problem: WaybillError? { openingProblem ?? retentionProblem }
    private var openingProblem: WaybillError? {
        didSet { if let openingProblem, openingProblem != oldValue { tell(openingProblem) } }
    }
    /// A problem with a journal of an earlier launch, which doesn't affect this one.
    private(set) var recoveryProblem: WaybillError? {
        didSet { if let recoveryProblem, recoveryProblem != oldValue { tell(recoveryProblem) } }
    }
    private let journal: OwnJournal
    private var installationProof = IdentityProof()
    private let tell: @Sendable (WaybillError) -> Void

    package private(set) var place: ResolvedLocation
    private let wanted: ResolvedLocation
    /// Whether deleted files were created anew. The caller then writes names and clocks again and resets this.
    var wasReplaced = false
    private var store: Store?
    private var storeReader: StoreReader?
    private var heartbeat: Heartbeat?
    /// A shared store's lock and files, kept while it is closed between pieces of work.
    private var shared: (lock: FileLock, files: StoreFiles?)?
    let patience = Patience(milliseconds: Patience.sharedMilliseconds)
    private let activity: ExpiringActivity?
    private var hold: AnyObject?
    private var isHeldBack = false
    /// Whether other processes may count the silent source as ended.
    private(set) var wasSilent = false
    private let clock: any TransactionClock
    private var keeper: RetentionKeeper
    private var retentionProblem: WaybillError?
    private var damaged: StoreFile.Identity?
    private var salvageCount = 0
    private var wasOpened = false
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

    var hasFallenBack: Bool { place != wanted }

    /// If the store can't be opened, returns one in memory, and ``problem`` has the reason.
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
            // The next piece of work may succeed: a suspended process may hold the lock.
            guard !place.isShared || !wasOpened && !patience.isHeldUp else { throw error }
            openingProblem = openingProblem ?? error
            // If the store existed before, facts wait in the journal.
            guard !wasOpened else { throw error }
            shared = nil
            place = .memory(name: source.id.description)
            return try open()
        }
    }

    /// A damaged or missing file is replaced at the next use.
    func notice(_ error: any Error) {
        // Reopening it reports once that it is too new; facts wait in the journal until the app is updated.
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

    /// Stops after three files, in case the disk damages each new one.
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

    /// Returns to the requested store with the facts that memory kept.
    private func leaveMemory() {
        // Each piece of work tries this, so it must not wait for another process again.
        guard let memory = store, wanted.path.map(FileLock.isFree) ?? true else { return }
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

    package func reader() throws(WaybillError) -> StoreReader {
        _ = try opened()
        if let storeReader { return storeReader }
        // The session itself prevents suspension.
        let reader = try StoreReader(place, patience: place.isShared ? patience : nil, activity: nil)
        storeReader = reader
        return reader
    }

    package func isAlive(_ source: GUID) -> Bool {
        if source == self.source.id || source.isOfNoProcess { return true }
        guard let folder = place.folder else { return false }
        return journalFolders.contains { LockedJournalFile.isLocked(for: source, in: $0) }
            || Heartbeat.isBeating(source, in: folder, at: Moment(clock))
    }

    private var journalFolders: [URL] {
        guard let folder = place.folder, let own = place.journalFolder else { return [] }
        return own == folder ? [folder] : [own, folder]
    }

    // MARK: Retention

    /// Takes one step to keep the store within its limits, and returns the deleted transactions.
    ///
    /// It may delete about twice as many facts as were written. After an error, ``problem`` reports it and the next
    /// step retries.
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
        // Without a locked file and a heartbeat, other processes would take the visible source for ended.
        if place.journalFolder != nil { try journal.lockedFile() }
        if place.isShared, let folder = place.folder {
            heartbeat = heartbeat ?? Heartbeat(of: source.id, in: folder)
            try heartbeat?.beat(at: clock.uptimeMicroseconds())
        }
        try keeper.look(at: Moment(clock), in: store)
        let (installation, itsProof) = try store.installation(or: source.installation, proof: installationProof)
        (source.installation, installationProof) = (installation, itsProof)
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

    /// Prevents suspension until ``end()``, and tells other processes that this one runs.
    func begin() {
        guard wanted.isShared else { return }
        patience.renew()
        hold = activity?.hold("write what was recorded")
        isHeldBack = activity != nil && hold == nil
        if (try? heartbeat?.beat(at: clock.uptimeMicroseconds())) == true { wasSilent = true }
    }

    /// Closes the store after a piece of work. SQLite locks open files, and the process may be suspended now.
    func end() {
        guard wanted.isShared else { return }
        if let store, let lock = shared?.lock, !hasFallenBack {
            shared = (lock, store.files)
            (self.store, storeReader) = (nil, nil)
            // A data version has no meaning for the next connection.
            seenChanges?.version = -1
        }
        hold = nil
    }

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

    func leave() {
        guard heartbeat != nil, let folder = place.folder, let own = place.journalFolder,
            access(LockedJournalFile.path(of: source.id, in: own), F_OK) != 0
        else { return }
        Heartbeat.remove(of: source.id, in: folder)
    }
}
