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

/// Bodies on their way into the store, behind the facts that they belong to.
extension SourceWriter {
    /// Has a piece of a body stored, redacted already and with room reserved for it; never waits.
    package func keep(_ piece: BodyPiece) {
        let isFirst = bodies.add(piece)
        if bodies.isPressing { scheduleDrain(batchIsFull: true) } else if isFirst { scheduleDrain(batchIsFull: false) }
    }

    /// Writes what waits. What cannot be written goes on waiting, and is left out at last for want of room.
    func drainBodies(into opened: StoreSession) {
        let pieces = bodies.take()
        guard !pieces.isEmpty else { return }
        do throws(WaybillError) {
            let store = try opened.opened()
            let early = try store.append(pieces, of: source, limit: bodyLimit)
            bodies.adjust(by: early.reduce(0) { $0 + $1.bytes.count } - pieces.reduce(0) { $0 + $1.bytes.count })
            bodies.giveBack(early)
            state.withLock { $0.bodyProblem = nil }
        } catch {
            opened.notice(error)
            bodies.giveBack(pieces)
            state.withLock { $0.bodyProblem = error }
            scheduleRetry()
        }
    }
}

/// Says in a folder that several processes use that a source runs, without a lock: a small file with the time of its
/// last beat, by the uptime of the device.
///
/// A process that is suspended has no beats, as one that has ended. Who is silent for too long is taken for ended; who
/// then goes on says so with its next beat, and its source is as it was.
struct Heartbeat {
    /// Between two beats.
    static let age = Duration.seconds(30)
    /// After how long without one a source is taken for ended. Until then its leases have expired.
    static let silence = Duration.seconds(15 * 60)

    private let file: URL
    private let boot: String
    private var last: Int64?

    /// Of a source; nothing is written yet.
    init(of source: GUID, in folder: URL, boot: String = Moment.thisBoot) {
        file = Self.file(of: source, in: folder)
        self.boot = boot
    }

    /// Beats, if it is time; makes the file where it is missing.
    ///
    /// - Returns: Whether the last beat before is so long ago that others may take the source for ended.
    @discardableResult
    mutating func beat(at uptime: Int64) throws(WaybillError) -> Bool {
        let path = file.path(percentEncoded: false)
        let since = last.map { abs(uptime - $0) }
        if let since, since < Self.age.microseconds / 2, access(path, F_OK) == 0 { return false }
        let descriptor = DurableFile.openOwn(path, O_WRONLY | O_CREAT)
        do {
            try DurableFile.check(descriptor)
            defer { close(descriptor) }
            // In one call, and always as long, so that nobody reads half of it.
            let digits = String(uptime)
            let text = String(repeating: "0", count: max(0, 20 - digits.count)) + digits + " \(boot)\n"
            try DurableFile.write(Array(text.utf8), to: descriptor)
        } catch {
            throw WaybillError(
                .store, "\(path) cannot be written, which tells other processes that this one runs.",
                cause: error.localizedDescription)
        }
        last = uptime
        return since ?? 0 > Self.silence.microseconds
    }

    /// Whether a source has a beat that is not too long ago.
    static func isBeating(_ source: GUID, in folder: URL, at moment: Moment) -> Bool {
        let path = file(of: source, in: folder).path(percentEncoded: false)
        let descriptor = DurableFile.openOwn(path, O_RDONLY)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 128)
        let count = read(descriptor, &bytes, bytes.count)
        let words = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard let uptime = words.first.flatMap({ Int64($0) }),
            words.dropFirst().first.map(String.init) ?? "" == moment.boot
        else { return false }
        return abs(moment.uptime - uptime) <= Self.silence.microseconds
    }

    /// Whether a source has one, beating or not: then its journal may be in the folder of its process.
    static func isThere(for source: GUID, in folder: URL) -> Bool {
        access(file(of: source, in: folder).path(percentEncoded: false), F_OK) == 0
    }

    /// The source has ended, and all that it recorded is in the store.
    static func remove(of source: GUID, in folder: URL) {
        unlink(file(of: source, in: folder).path(percentEncoded: false))
    }

    private static func file(of source: GUID, in folder: URL) -> URL { folder.appending(path: "alive-\(source)") }
}
