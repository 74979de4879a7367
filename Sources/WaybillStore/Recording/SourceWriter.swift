import Foundation
package import WaybillCore

/// The one writer of a source, which moves batches of facts from its recorder into the store, on the store's thread.
///
/// It retries batches that can't be written, and ``problem`` reports the error.
package final class SourceWriter: Sendable {
    private static let batchAge = Duration.milliseconds(250)
    static let retryAge = Duration.seconds(1)
    private static let batchLimit = 5_000

    struct State {
        var names: [RecordedName] = []
        var newNames: [RecordedName] = []
        var writeProblem: WaybillError?
        var syncProblem: WaybillError?
        var journalProblem: WaybillError?
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

    package let recorder: Recorder
    package let bodies = WaitingBodies()
    let bodyLimit: Int64
    let source: GUID
    let place: ResolvedLocation
    let anchors: AnchorKeeper
    let ownJournal: OwnJournal
    package let changes: ChangeFeed
    let thread: StoreThread<StoreSession>
    private let readingThread: StoreThread<ReaderCache>
    let writesByItself: Bool
    let startThread: ThreadStarter
    let startMicroseconds: Int64
    let state = Locked(State())

    /// The store opens later, on its thread, which calls `tell` if the store was damaged or replaced.
    ///
    /// In tests, `writesByItself` is `false`: facts are then written when they are read.
    package init(
        source: SourceIdentity, place: ResolvedLocation, clock: any TransactionClock, capacity: Int,
        openLimit: Int = OpenLimit.standard, retention: Retention = Retention(),
        bodyLimit: Int64 = 0, changes: ChangeFeed = ChangeFeed(), timer: any StoreTimer = SystemTimer(),
        journalSize: JournalSize = JournalSize(), journalPatience: Duration = Recorder.patience,
        activity: ExpiringActivity? = .system, catchesSignals: Bool = false,
        startThread: @escaping ThreadStarter = detachThread,
        tell: @escaping @Sendable (WaybillError) -> Void = { _ in }, writesByItself: Bool = true
    ) {
        let start = clock.uptimeMicroseconds()
        let waker = Waker()
        self.source = source.id
        self.place = place
        self.changes = changes
        self.bodyLimit = bodyLimit
        self.writesByItself = writesByItself
        self.startThread = startThread
        startMicroseconds = start
        let ownJournal = OwnJournal(of: source, in: place, size: journalSize, catchesSignals: catchesSignals)
        self.ownJournal = ownJournal
        let openJournal: @Sendable () -> Void = { waker.writer?.openJournal() }
        recorder = Recorder(
            clock: clock, startMicroseconds: start, capacity: capacity, openLimit: openLimit,
            patience: journalPatience,
            openJournal: place.journalFolder == nil ? nil : openJournal,
            wake: { batchIsFull in
                waker.writer?.askForJournal()
                waker.writer?.scheduleDrain(batchIsFull: batchIsFull)
            })
        anchors = AnchorKeeper(clock: clock, startMicroseconds: start)
        thread = StoreThread(
            // Low priority is enough, because recorded facts are safe in the journal.
            label: "waybill.store", qos: .utility, timer: timer, begins: { $0.begin() }, ends: { $0.end() },
            make: {  // opened when first needed
                StoreSession(
                    source: source, place: place, clock: clock, retention: retention, journal: ownJournal,
                    activity: activity, tell: tell)
            })
        readingThread = StoreThread(
            label: "waybill.reader", begins: { $0.begin() }, ends: { $0.rest() }, make: { ReaderCache(activity) })
        waker.writer = self
    }

    package var ringsForEachWrite: Bool { writesByItself && !place.isShared }

    deinit {
        guard writesByItself else { return }
        // Writes facts that are still in memory. No caller is left to receive an error.
        let (recorder, source, anchors, names) = (recorder, source, anchors, state.withLock { $0.newNames })
        let (pieces, bodyLimit) = (bodies.take(), bodyLimit)
        thread.perform { store in
            let facts = recorder.takeBatch(limit: .max)
            do {
                if !facts.isEmpty || recorder.hasJournal {
                    _ = try store.opened()
                    // The journal keeps the facts for the next launch, because a store in memory disappears now.
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

    package var problem: WaybillError? { thread.sync { problem(of: $0) ?? $0.recoveryProblem } }

    private func problem(of store: StoreSession) -> WaybillError? {
        _ = recorder.opening.wait(timeout: .now() + .seconds(1))
        _ = try? store.opened()
        return state.withLock { $0.writeProblem ?? $0.syncProblem ?? $0.journalProblem ?? $0.bodyProblem } ?? recorder
            .problem
            ?? store.problem
    }

    /// Whether a store exists or will: reading would otherwise create one.
    package var hasStore: Bool { state.withLock { $0.hasTakenFacts } || place.isThere }

    package func note(_ names: [RecordedName]) {
        state.withLock { state in
            state.names += names
            state.newNames += names
        }
        recorder.keep(names)
    }

    /// Runs `body` on the store's thread after all recorded facts are written, so callers read their own writes.
    package func run<Result: Sendable>(_ body: @escaping @Sendable (StoreSession, Store) throws -> Result)
        async throws(WaybillError) -> Result
    {
        try await thread.run { [self] store throws(WaybillError) in
            drain(into: store)
            return try noticing(store) { try body(store, try store.opened()) }
        }
    }

    package func runAndWait<Result: Sendable>(_ body: @Sendable (StoreSession, Store) throws -> Result)
        throws(WaybillError) -> Result
    {
        try thread.sync { store throws(WaybillError) in
            drain(into: store)
            return try noticing(store) { try body(store, try store.opened()) }
        }
    }

    /// Waits until all recorded facts are written and all earlier work is done; creates no store.
    package func drain() async throws(WaybillError) {
        try await thread.run { [self] store throws(WaybillError) in try drainOrThrow(store) }
    }

    func drainOrThrow(_ store: StoreSession) throws(WaybillError) {
        guard hasStore else { return }
        drain(into: store)
        if let problem = problem(of: store) { throw problem }
    }

    /// Runs `body` on the store's thread without waiting for it; passes `nil` if there is no store yet.
    package func perform(_ body: @escaping @Sendable (Store?) -> Void) {
        thread.perform { [self] store in
            guard hasStore else { return body(nil) }
            drain(into: store)
            body(try? store.opened())
        }
    }

    /// Runs `body` on the reader's thread, after all recorded facts are written.
    ///
    /// In memory, it runs on the store's thread, because a reader and a writer would block each other.
    package func read<Result: Sendable>(_ body: @escaping @Sendable (StoreReader) throws -> Result)
        async throws(WaybillError) -> Result
    {
        let place = try await run { opened, _ in opened.place }
        if case .memory = place { return try await run { opened, _ in try body(opened.reader()) } }
        do {
            return try await readingThread.run { end in try body(try end.reader(of: place)) }
        } catch {
            thread.perform { store in store.notice(error) }
            throw WaybillError(wrapping: error)
        }
    }

    private func noticing<Result>(_ store: StoreSession, _ body: () throws -> Result) throws(WaybillError) -> Result {
        do {
            return try body()
        } catch {
            store.notice(error)
            throw WaybillError(wrapping: error)
        }
    }

    func scheduleDrain(batchIsFull: Bool) {
        let isNeeded = state.withLock { state in
            state.hasTakenFacts = true
            // One drain of each kind runs at a time. Refused facts ask for drains, too, which would delay other work.
            if batchIsFull {
                // A failed batch waits for its retry.
                guard state.writeProblem == nil || !state.isRetryScheduled else { return false }
                return !exchange(&state.isFullDrainScheduled, with: true)
            }
            return !exchange(&state.isDrainScheduled, with: true)
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

    func scheduleRetry() {
        guard !state.withLock({ exchange(&$0.isRetryScheduled, with: true) }), writesByItself else { return }
        thread.perform(after: Self.retryAge) { [weak self] store in
            self?.state.withLock { $0.isRetryScheduled = false }
            self?.drain(into: store)
        }
    }

    private func tell(of facts: [Fact], in opened: StoreSession) {
        guard !facts.isEmpty, changes.isWatched else { return }
        do throws(WaybillError) {
            if let change = try opened.opened().change(by: facts, of: source) { changes.tell(change) }
        } catch {
            changes.tell(.reload)
        }
    }

    private func drain(into opened: StoreSession) {
        drainFacts(into: opened)
        drainBodies(into: opened)
    }

    /// The next drain finds a fact whose thread was stopped before it published the fact.
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
                (exchange(&state.newNames, with: []), refused != state.storedRefusedCount)
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
                // Later facts wait for the next drain; otherwise, a busy app would commit once for every few facts.
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

/// The link from the recorder, which is created first, to the writer.
private final class Waker: @unchecked Sendable {  // right because it is set once, before the recorder is handed out
    weak var writer: SourceWriter?
}

final class ReaderCache {
    private var opened: (reader: StoreReader, files: StoreFiles, isShared: Bool)?

    private let patience = Patience(milliseconds: Patience.sharedMilliseconds)
    private let activity: ExpiringActivity?

    init(_ activity: ExpiringActivity?) { self.activity = activity }

    func begin() { patience.renew() }

    func reader(of place: ResolvedLocation) throws(WaybillError) -> StoreReader {
        let files = StoreFiles(of: place)
        if let opened, opened.files == files { return opened.reader }
        let reader = try StoreReader(place, patience: place.isShared ? patience : nil, activity: activity)
        opened = (reader, files, place.isShared)
        return reader
    }

    /// An open reader holds locks, and this process may be suspended.
    func rest() { if opened?.isShared == true { opened = nil } }
}
