import Foundation
package import WaybillCore

/// The journal's life: opened with the first fact, synced and freed while it is used.
extension SourceWriter {
    /// How long what is stored may stay unsynced, and in the journal. A power cut costs five seconds at most: a batch
    /// waits before it is stored, and a sync takes its time.
    private static let syncAge = Duration.milliseconds(4_500)

    /// Opens the journal on a thread of its own, which waits for no store; the first call that records waits for it for
    /// a moment.
    func openJournal() {
        state.withLock { $0.isJournalAskedFor = true }
        recorder.opening.enter()
        recorder.recovering.enter()
        Thread.detachNewThread { [self] in
            let file = beginJournal()
            recorder.opening.leave()
            if file != nil, writesByItself, ownJournal.hasManyLeftovers { takeInLeftovers() }
            recorder.recovering.leave()
            ownJournal.sync(file)
        }
        if place.isShared, writesByItself { scheduleBeat() }
    }

    /// Opens the store at once, which takes in what processes before this one left: this one may be as short as they
    /// were.
    private func takeInLeftovers() {
        let recovering = recorder.recovering
        recovering.enter()
        thread.perform { [weak self] store in
            if self != nil { _ = try? store.opened() }
            recovering.leave()
        }
    }

    /// Has the journal opened by the store's thread where an attempt before failed: asked for with each batch.
    func askForJournal() {
        let isFirst = state.withLock { state in
            defer { state.isJournalAskedFor = true }
            return !state.isJournalAskedFor
        }
        guard isFirst, place.journalFolder != nil else { return }
        thread.perform { [weak self] store in self?.reopenJournal(store) }
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

    private func reopenJournal(_ store: StoreSession) {
        do throws(WaybillError) { _ = try store.opened() } catch {
            // Where a shared store is only late, the journal is what keeps all meanwhile.
            guard place.isShared else { return note(error) }
        }
        // A journal would promise what a store in memory does not keep. The store's own problem says why there is none.
        guard !store.hasFallenBack else {
            return state.withLock { state in (state.isJournalAskedFor, state.journalProblem) = (false, nil) }
        }
        if let file = beginJournal() { ownJournal.sync(file) }
    }

    /// - Returns: `nil` if the journal was not begun now.
    private func beginJournal() -> JournalFile? {
        do throws(WaybillError) {
            let file = try ownJournal.open(anchor: anchors.current(), startMicroseconds: startMicroseconds) { file in
                recorder.begin(file) { state.withLock { $0.names } }
            }
            state.withLock { state in
                state.journalProblem = nil
                // What waits in memory did not fit: once it is stored.
                state.isJournalAskedFor = recorder.hasJournal
            }
            return file
        } catch {
            note(error)
            return nil
        }
    }

    private func note(_ problem: WaybillError) {
        state.withLock { state in
            state.journalProblem = problem
            state.isJournalAskedFor = false
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
        try scrubJournal(store, erases: true)
        return try store.erase(scope, at: wall)
    }

    /// Overwrites everything in this source's journal that is in the store; to be called on the store's thread.
    ///
    /// - Parameter erases: Whether it is erased from the store next.
    /// - Throws: Where the store cannot be synced: then the journal keeps everything.
    package func scrubJournal(_ store: Store, erases: Bool = false) throws(WaybillError) {
        try store.sync()
        recorder.scrub(erases: erases)
    }
}
