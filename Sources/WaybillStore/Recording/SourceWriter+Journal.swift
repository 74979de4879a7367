import CJournal
import Foundation
package import WaybillCore

/// Returns 0, or the error number if the system gives no thread.
package typealias ThreadStarter = @Sendable (_ body: @escaping @Sendable () -> Void) -> Int32

/// Starts a thread. Foundation's `Thread` does not report a failure.
@Sendable package func detachThread(_ body: @escaping @Sendable () -> Void) -> Int32 {
    let context = Unmanaged.passRetained(ThreadBody(run: body))
    let error = waybill_start_thread(
        { context in
            if let context { Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().run() }
            return nil
        }, context.toOpaque())
    if error != 0 { context.release() }
    return error
}

private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void

    init(run: @escaping @Sendable () -> Void) { self.run = run }
}

extension SourceWriter {
    /// A power cut loses at most five seconds of facts: this delay, a batch and the sync.
    private static let syncAge = Duration.milliseconds(4_500)

    /// Opens the journal on its own thread, which waits for no store.
    func openJournal() {
        state.withLock { $0.isJournalAskedFor = true }
        recorder.opening.enter()
        recorder.recovering.enter()
        let error = startThread { [self] in
            let file = beginJournal()
            recorder.opening.leave()
            if file != nil, writesByItself, ownJournal.hasManyLeftovers { takeInLeftovers() }
            recorder.recovering.leave()
            ownJournal.sync(file)
        }
        if error != 0 {
            note(
                WaybillError(
                    .store, "The system gives no thread to open the journal; what is recorded waits in memory.",
                    cause: String(cString: strerror(error))))
            recorder.opening.leave()
            recorder.recovering.leave()
        }
        if place.isShared, writesByItself { scheduleBeat() }
    }

    /// Opens the store, which recovers earlier journals.
    private func takeInLeftovers() {
        let recovering = recorder.recovering
        recovering.enter()
        thread.perform { [weak self] store in
            if self != nil { _ = try? store.opened() }
            recovering.leave()
        }
    }

    func askForJournal() {
        guard !state.withLock({ exchange(&$0.isJournalAskedFor, with: true) }), place.journalFolder != nil else {
            return
        }
        thread.perform { [weak self] store in self?.reopenJournal(store) }
    }

    /// Other work begins with a heartbeat, too.
    private func scheduleBeat() {
        guard !state.withLock({ exchange(&$0.isBeating, with: true) }) else { return }
        thread.perform(after: Heartbeat.age) { [weak self] store in
            guard let self else { return }
            if store.wasSilent { _ = try? store.opened() }
            state.withLock { $0.isBeating = false }
            scheduleBeat()
        }
    }

    private func reopenJournal(_ store: StoreSession) {
        do throws(WaybillError) { _ = try store.opened() } catch {
            // If a shared store is only late, the journal keeps the facts meanwhile.
            guard place.isShared else { return note(error) }
        }
        // A journal can't keep its promise for a store in memory. The store's problem explains why there is none.
        guard !store.hasFallenBack else {
            return state.withLock { state in (state.isJournalAskedFor, state.journalProblem) = (false, nil) }
        }
        if let file = beginJournal() { ownJournal.sync(file) }
    }

    private func beginJournal() -> JournalFile? {
        do throws(WaybillError) {
            let file = try ownJournal.open(anchor: anchors.current(), startMicroseconds: startMicroseconds) { file in
                recorder.begin(file) { state.withLock { $0.names } }
            }
            state.withLock { state in
                state.journalProblem = nil
                // The facts in memory did not fit; try again after they are stored.
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
        guard !state.withLock({ exchange(&$0.isSyncScheduled, with: true) }), writesByItself else { return }
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

    /// Does the same as ``drain()``, and syncs the store to survive a power cut.
    package func sync() async throws(WaybillError) {
        try await thread.run { [self] opened throws(WaybillError) in
            try drainOrThrow(opened)
            guard hasStore else { return }
            try opened.opened().sync()
            recorder.confirmSync()
        }
    }

    /// Erases facts from the store and this source's journal, on the store's thread. If the sync fails, nothing is
    /// erased.
    package func erase(_ scope: ErasureScope, from store: Store, at wall: Int64) throws(WaybillError) -> Erasure {
        try scrubJournal(store, erases: true)
        return try store.erase(scope, at: wall)
    }

    /// Overwrites stored facts in this source's journal. If the sync fails, the journal keeps them.
    package func scrubJournal(_ store: Store, erases: Bool = false) throws(WaybillError) {
        try store.sync()
        recorder.scrub(erases: erases)
    }
}

extension SourceWriter {
    package func keep(_ piece: BodyPiece) {
        let isFirst = bodies.add(piece)
        if bodies.isPressing { scheduleDrain(batchIsFull: true) } else if isFirst { scheduleDrain(batchIsFull: false) }
    }

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

/// A file that shows processes of a shared folder, without a lock, when the source last ran.
///
/// A suspended process counts as ended after a while; its next beat revives its source.
struct Heartbeat {
    static let age = Duration.seconds(30)
    /// The silence after which a source counts as ended. Its leases have expired by then.
    static let silence = Duration.seconds(15 * 60)

    private let file: URL
    private let boot: String
    private var last: Int64?

    init(of source: GUID, in folder: URL, boot: String = Moment.thisBoot) {
        file = Self.file(of: source, in: folder)
        self.boot = boot
    }

    /// Writes a beat if it is due; returns whether the source was silent for so long that it may count as ended.
    @discardableResult
    mutating func beat(at uptime: Int64) throws(WaybillError) -> Bool {
        let path = file.path(percentEncoded: false)
        let since = last.map { abs(uptime - $0) }
        if let since, since < Self.age.microseconds / 2, access(path, F_OK) == 0 { return false }
        let descriptor = DurableFile.openOwn(path, O_WRONLY | O_CREAT)
        do {
            try DurableFile.check(descriptor)
            defer { close(descriptor) }
            // A single write of constant length never shows readers a partial time.
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
        return abs(moment.uptime.subtracting(uptime)) <= Self.silence.microseconds
    }

    /// Whether a source has a heartbeat file, and maybe a journal in its process's folder.
    static func isThere(for source: GUID, in folder: URL) -> Bool {
        access(file(of: source, in: folder).path(percentEncoded: false), F_OK) == 0
    }

    static func remove(of source: GUID, in folder: URL) {
        unlink(file(of: source, in: folder).path(percentEncoded: false))
    }

    private static func file(of source: GUID, in folder: URL) -> URL { folder.appending(path: "alive-\(source)") }
}
