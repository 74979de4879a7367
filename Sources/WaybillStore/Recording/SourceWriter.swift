import Foundation
package import WaybillCore

/// The one writer of a source: moves what its recorder took into the store, in batches, on the store's own thread.
///
/// A batch that cannot be written goes back to the recorder and is tried again. That shows in ``problem``, and never
/// reaches the caller who recorded.
package final class SourceWriter: Sendable {
    /// How old a fact may get before it is written.
    private static let batchAge = Duration.milliseconds(250)
    static let retryAge = Duration.seconds(1)
    private static let batchLimit = 5_000

    struct State {
        var names: [RecordedName] = []
        var newNames: [RecordedName] = []
        var writeProblem: WaybillError?
        /// Why what is stored is not on the disk.
        var syncProblem: WaybillError?
        /// Why there is no journal.
        var journalProblem: WaybillError?
        /// Why bodies are not stored.
        var bodyProblem: WaybillError?
        var storedRefusedCount: Int64 = 0
        var isRetryScheduled = false
        var isDrainScheduled = false
        var isFullDrainScheduled = false
        var hasTakenFacts = false
        var isSyncScheduled = false
        var isJournalAskedFor = false
        var isBeating = false
        var isWatchingOthers = false
        var leavesOthers = false
    }

    /// What takes facts from callers.
    package let recorder: Recorder
    /// What is kept of bodies, and the room for it.
    package let bodies = WaitingBodies()
    /// Bytes that bodies may take in the store.
    let bodyLimit: Int64
    let source: GUID
    let place: ResolvedLocation
    let anchors: AnchorKeeper
    let ownJournal: OwnJournal
    package let changes: ChangeFeed
    let thread: StoreThread<StoreSession>
    private let readingThread = StoreThread(
        label: "waybill.reader", begins: { $0.begin() }, ends: { $0.rest() }, make: { ReaderCache() })
    let writesByItself: Bool
    let startMicroseconds: Int64
    let state = Locked(State())

    /// Makes the writer of a source; its store is opened on the store's thread, later.
    ///
    /// - Parameters:
    ///   - capacity: Facts that may wait in memory.
    ///   - openLimit: How many transactions and exchanges may be open at once.
    ///   - retention: What the store keeps.
    ///   - bodyLimit: Bytes that bodies may take in the store.
    ///   - changes: Told what has reached the store.
    ///   - activity: Keeps the system from suspending the process while it writes to a store that others use.
    ///   - journalPatience: How long the first call that records waits for the journal.
    ///   - catchesSignals: Whether the journal notes by which signal the process ends.
    ///   - tell: Told when the store is not the one that was asked for, or not as it was left; on the store's thread.
    ///   - timer: Calls the store's thread when a batch or a sync is due.
    ///   - writesByItself: false in tests: facts are then written when they are read.
    package init(
        source: SourceIdentity, place: ResolvedLocation, clock: any TransactionClock, capacity: Int,
        openLimit: Int = OpenLimit.standard, retention: Retention = Retention(),
        bodyLimit: Int64 = 0, changes: ChangeFeed = ChangeFeed(), timer: any StoreTimer = SystemTimer(),
        journalSize: JournalSize = JournalSize(), journalPatience: Duration = Recorder.patience,
        activity: ExpiringActivity? = .system, catchesSignals: Bool = false,
        tell: @escaping @Sendable (WaybillError) -> Void = { _ in }, writesByItself: Bool = true
    ) {
        let start = clock.uptimeMicroseconds()
        let waker = Waker()
        self.source = source.id
        self.place = place
        self.changes = changes
        self.bodyLimit = bodyLimit
        self.writesByItself = writesByItself
        startMicroseconds = start
        let ownJournal = OwnJournal(of: source, in: place, size: journalSize, catchesSignals: catchesSignals)
        self.ownJournal = ownJournal
        let openJournal: @Sendable () -> Void = { waker.openJournal?() }
        recorder = Recorder(
            clock: clock, startMicroseconds: start, capacity: capacity, openLimit: openLimit,
            patience: journalPatience,
            openJournal: place.journalFolder == nil ? nil : openJournal, wake: { waker.wake?($0) })
        anchors = AnchorKeeper(clock: clock, startMicroseconds: start)
        thread = StoreThread(
            // Behind what the app does: what is recorded is safe in the journal.
            label: "waybill.store", qos: .utility, timer: timer, begins: { $0.begin() }, ends: { $0.end() },
            make: {  // opened when first needed
                StoreSession(
                    source: source, place: place, clock: clock, retention: retention, journal: ownJournal,
                    activity: activity, tell: tell)
            })
        waker.openJournal = { [weak self] in self?.openJournal() }
        waker.wake = { [weak self] batchIsFull in
            self?.askForJournal()
            self?.scheduleDrain(batchIsFull: batchIsFull)
        }
    }

    /// Whether ``changes`` ring soon after anything was recorded into the store: not for what other processes record, and
    /// not where facts are written when they are read.
    package var ringsForEachWrite: Bool { writesByItself && !place.isShared }

    deinit {
        guard writesByItself else { return }
        // What is still in memory when the manager goes away is written all the same. There is no caller left to
        // tell of an error.
        let (recorder, source, anchors, names) = (recorder, source, anchors, state.withLock { $0.newNames })
        let (pieces, bodyLimit) = (bodies.take(), bodyLimit)
        thread.perform { store in
            let facts = recorder.takeBatch(limit: .max)
            do {
                if !facts.isEmpty || recorder.hasJournal {
                    _ = try store.opened()
                    // A store in memory goes away now: the journal keeps all for the next launch.
                    guard !store.hasFallenBack else { return }
                }
                if !facts.isEmpty {
                    try store.opened().append(
                        RecordedBatch(
                            source: source, facts: facts, names: names, clocks: anchors.due(),
                            refused: recorder.refusedCount))
                }
                recorder.confirmBatch()
                if !pieces.isEmpty { _ = try store.opened().append(pieces, of: source, limit: bodyLimit) }
                if !facts.isEmpty || recorder.hasJournal { try store.opened().note(.exit, of: source) }
                guard recorder.hasJournal else { return }
                try store.opened().sync()
                recorder.removeJournalIfStored()
                store.leave()
            } catch {}  // the journal stays, for the next launch
        }
    }

    /// What is wrong with the store at the moment; nil when nothing is.
    package var problem: WaybillError? { thread.sync { problem(of: $0) ?? $0.recoveryProblem } }

    private func problem(of store: StoreSession) -> WaybillError? {
        _ = recorder.opening.wait(timeout: .now() + .seconds(1))
        _ = try? store.opened()
        return state.withLock { $0.writeProblem ?? $0.syncProblem ?? $0.journalProblem ?? $0.bodyProblem } ?? recorder
            .problem
            ?? store.problem
    }

    /// Whether there is a store, or something on its way to one: else reading would make it.
    package var hasStore: Bool { state.withLock { $0.hasTakenFacts } || place.isThere }

    /// Adds names to the next batch.
    package func note(_ names: [RecordedName]) {
        state.withLock { state in
            state.names += names
            state.newNames += names
        }
        recorder.keep(names)
    }

    /// Runs on the store's thread after everything recorded so far was written: callers read their own writes.
    ///
    /// - Throws: What `body` throws, or that there is no store.
    package func run<Result: Sendable>(_ body: @escaping @Sendable (StoreSession, Store) throws -> Result) async throws
        -> Result
    {
        try await thread.run { [self] store in
            drain(into: store)
            return try noticing(store) { try body(store, try store.opened()) }
        }
    }

    /// As ``run(_:)``, for callers without async; waits for the store's thread.
    package func runAndWait<Result: Sendable>(_ body: @Sendable (StoreSession, Store) throws -> Result) throws -> Result
    {
        try thread.sync { store in
            drain(into: store)
            return try noticing(store) { try body(store, try store.opened()) }
        }
    }

    /// Waits until everything recorded so far was written, and everything asked for was done; makes no store.
    ///
    /// - Throws: ``problem``.
    package func drain() async throws(WaybillError) {
        try await thread.run { [self] store throws(WaybillError) in try drainOrThrow(store) }
    }

    func drainOrThrow(_ store: StoreSession) throws(WaybillError) {
        guard hasStore else { return }
        drain(into: store)
        if let problem = problem(of: store) { throw problem }
    }

    /// Runs on the store's thread, after what was recorded so far, and does not wait.
    ///
    /// - Parameter body: Given no store where there is none yet.
    package func perform(_ body: @escaping @Sendable (Store?) -> Void) {
        thread.perform { [self] store in
            guard hasStore else { return body(nil) }
            drain(into: store)
            body(try? store.opened())
        }
    }

    /// Runs on a thread of its own, with a reader that sees everything recorded so far; what takes long there holds up
    /// no writing.
    ///
    /// - Parameter body: On the reader's thread; in memory, where a reader and a writer would exclude each other, on
    ///   the store's.
    /// - Throws: What `body` throws, or that there is no store.
    package func read<Result: Sendable>(_ body: @escaping @Sendable (StoreReader) throws -> Result) async throws
        -> Result
    {
        let place = try await run { opened, _ in opened.place }
        if case .memory = place { return try await run { opened, _ in try body(opened.reader()) } }
        do {
            return try await readingThread.run { end in try body(try end.reader(of: place)) }
        } catch {
            thread.perform { store in store.notice(error) }
            throw error
        }
    }

    private func noticing<Result>(_ store: StoreSession, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch {
            store.notice(error)
            throw error
        }
    }

    func scheduleDrain(batchIsFull: Bool) {
        let isNeeded = state.withLock { state in
            state.hasTakenFacts = true
            // One of each at a time: each drain has the next fact ask for another, also one that comes before its time.
            // A fact that is refused asks as well, and they would queue up before all who wait for the thread.
            if batchIsFull {
                // What could not be written is tried again when its time has come.
                guard state.writeProblem == nil || !state.isRetryScheduled else { return false }
                defer { state.isFullDrainScheduled = true }
                return !state.isFullDrainScheduled
            }
            defer { state.isDrainScheduled = true }
            return !state.isDrainScheduled
        }
        guard writesByItself, isNeeded else { return }
        thread.perform(after: batchIsFull ? .zero : Self.batchAge) { [weak self] store in
            guard let self else { return }
            state.withLock { state in
                if batchIsFull { state.isFullDrainScheduled = false } else { state.isDrainScheduled = false }
            }
            drain(into: store)
        }
    }

    /// One retry at a time, however many readers and batches meet the same error meanwhile.
    func scheduleRetry() {
        let isFirst = state.withLock { state in
            defer { state.isRetryScheduled = true }
            return !state.isRetryScheduled
        }
        guard writesByItself, isFirst else { return }
        thread.perform(after: Self.retryAge) { [weak self] store in
            self?.state.withLock { $0.isRetryScheduled = false }
            self?.drain(into: store)
        }
    }

    private func tell(of facts: [Fact], in opened: StoreSession) {
        guard !facts.isEmpty, changes.isWatched else { return }
        // A watcher whose change cannot be named is told to look again.
        do throws(WaybillError) {
            if let change = try opened.opened().change(by: facts, of: source) { changes.tell(change) }
        } catch {
            changes.tell(.reload)
        }
    }

    /// Moves all that waits into the store, one SQLite transaction for each batch.
    private func drain(into opened: StoreSession) {
        drainFacts(into: opened)
        drainBodies(into: opened)
    }

    /// Who was stopped between reserving and publishing may not wake us: the next look finds it.
    private func lookAgainIfNeeded() {
        if recorder.hasMore { scheduleDrain(batchIsFull: false) }
    }

    private func drainFacts(into opened: StoreSession) {
        while true {
            if opened.wasReplaced {
                opened.wasReplaced = false
                anchors.forget()
                state.withLock { $0.newNames = $0.names }
            }
            let facts = recorder.takeBatch(limit: Self.batchLimit)
            let refused = recorder.refusedCount
            let (names, isRefusedNews) = state.withLock { state in
                defer { state.newNames = [] }
                return (state.newNames, refused != state.storedRefusedCount)
            }
            let clocks = anchors.due()
            guard !(facts.isEmpty && names.isEmpty && clocks.isEmpty && !isRefusedNews) else {
                return lookAgainIfNeeded()
            }
            do {
                let store = try opened.opened()
                if opened.hasFallenBack { recorder.leaveJournal() }
                try store.append(
                    RecordedBatch(source: source, facts: facts, names: names, clocks: clocks, refused: refused))
                recorder.confirmBatch()
                try syncWhenDue(opened.opened())
                anchors.confirm(clocks)
                if !facts.isEmpty { changes.noteWrite() }
                tell(of: facts, in: opened)
                let gone = opened.retain(afterWriting: facts.count)
                if !gone.isEmpty { changes.tell(.reload) }
                state.withLock { state in
                    state.writeProblem = nil
                    state.storedRefusedCount = refused
                }
                // What came while this was written is for the next drain: taken along now, a busy app would have a
                // commit for every few facts.
                if facts.count < Self.batchLimit { return lookAgainIfNeeded() }
            } catch {
                opened.notice(error)
                recorder.returnBatch()
                state.withLock { state in
                    state.newNames = names + state.newNames
                    state.writeProblem = error
                }
                scheduleRetry()
                return
            }
        }
    }
}

/// Lets the recorder, which is made first, call the writer, which holds it.
private final class Waker: @unchecked Sendable {  // right because both are set once, before the recorder is handed out
    var wake: (@Sendable (_ batchIsFull: Bool) -> Void)?
    var openJournal: (@Sendable () -> Void)?
}

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
