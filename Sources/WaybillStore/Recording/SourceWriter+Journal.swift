package import WaybillCore

/// The journal's life on the store's thread: made after the first fact, synced and freed while it is used.
extension SourceWriter {
    /// How long what is stored may stay unsynced, and in the journal. A power cut costs five seconds at most: a batch
    /// waits before it is stored, and a sync takes its time.
    private static let syncAge = Duration.milliseconds(4_500)

    /// Has the journal made, as soon as there is something to record; asked again by a later batch where that was not
    /// possible.
    func askForJournal() {
        let isFirst = state.withLock { state in
            defer { state.isJournalAskedFor = true }
            return !state.isJournalAskedFor
        }
        guard isFirst else { return }
        thread.perform { [weak self] store in self?.makeJournal(store) }
        if place.isShared, writesByItself { scheduleBeat() }
    }

    /// Has a heartbeat be seen while there is nothing to write: each piece of work begins with one.
    private func scheduleBeat() {
        let isFirst = state.withLock { state in
            defer { state.isBeating = true }
            return !state.isBeating
        }
        guard isFirst else { return }
        thread.perform(after: Heartbeat.age) { [weak self] store in
            guard let self else { return }
            if store.wasSilent { _ = try? store.opened() }
            state.withLock { $0.isBeating = false }
            scheduleBeat()
        }
    }

    private func makeJournal(_ store: StoreSession) {
        do throws(WaybillError) {
            guard let file = try store.makeJournal(anchor: anchors.current(), startMicroseconds: startMicroseconds)
            else {
                state.withLock { $0.isJournalAskedFor = !store.hasFallenBack }
                return
            }
            let isBegun = recorder.begin(file, names: state.withLock { $0.newNames })
            state.withLock { state in
                state.journalProblem = nil
                state.isJournalAskedFor = isBegun  // what waits in memory did not fit: once it is stored
            }
            // Nothing waits for it. Where it fails, a power cut may take the journal, and the store is synced all the
            // same.
            try? file.sync()
        } catch {
            state.withLock { state in
                state.journalProblem = error
                state.isJournalAskedFor = false
            }
        }
    }

    /// Syncs what was stored, if enough has come together, or later.
    func syncWhenDue(_ store: Store) throws(WaybillError) {
        if recorder.wantsSync {
            try store.sync()
            recorder.confirmSync()
        } else {
            scheduleSync()
        }
    }

    private func scheduleSync(after age: Duration = syncAge) {
        guard place.path != nil else { return }
        let isFirst = state.withLock { state in
            defer { state.isSyncScheduled = true }
            return !state.isSyncScheduled
        }
        guard writesByItself, isFirst else { return }
        thread.perform(after: age) { [weak self] store in
            guard let self else { return }
            state.withLock { $0.isSyncScheduled = false }
            do throws(WaybillError) {
                try scrubJournal(store.opened())
                state.withLock { $0.syncProblem = nil }
            } catch {
                state.withLock { $0.syncProblem = error }
                scheduleSync(after: Self.retryAge)
            }
        }
    }

    /// As ``drain()``, and until it is on the disk: there it survives a power cut, too.
    ///
    /// - Throws: ``problem``, or that it could not be synced.
    package func sync() async throws(WaybillError) {
        try await thread.run { [self] opened throws(WaybillError) in
            try drainOrThrow(opened)
            guard hasStore else { return }
            try opened.opened().sync()
            recorder.confirmSync()
        }
    }

    /// Erases facts from the store, and everything that was drained from this source's journal; to be called on the
    /// store's thread.
    ///
    /// - Parameter wall: Now, in microseconds since 1970.
    /// - Throws: What `Store.erase` throws, or that the store could not be synced: then nothing is erased.
    package func erase(_ scope: ErasureScope, from store: Store, at wall: Int64) throws(WaybillError) -> Erasure {
        try scrubJournal(store)
        return try store.erase(scope, at: wall)
    }

    /// Overwrites everything in this source's journal that is in the store; to be called on the store's thread.
    ///
    /// - Throws: Where the store cannot be synced: then the journal keeps everything.
    package func scrubJournal(_ store: Store) throws(WaybillError) {
        try store.sync()
        recorder.scrub()
    }
}
