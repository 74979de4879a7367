import CJournal
import Dispatch
import Foundation
import WaybillAtomics
package import WaybillCore

/// The recorder of a source, which takes facts on the caller's thread and never throws or waits for the store.
///
/// The first call opens the journal on another thread and waits up to 2 ms. Until it is open, facts wait in memory.
package final class Recorder: Sendable {
    private let clock: any TransactionClock
    private let isSystemClock: Bool
    private let startMicroseconds: Int64
    private let memory: BufferedRecorder
    private let wake: @Sendable (_ batchIsFull: Bool) -> Void
    /// The address of the journal, or 0. ``owned`` keeps it alive, which avoids reference counting for each fact.
    private let journal = Atomic<UInt>(0)
    private let isJournalWanted: Atomic<Bool>
    private let openJournal: @Sendable () -> Void
    private let patience: Duration
    private let openLimit: Int
    private let generation = ProcessGeneration.current
    let opening = DispatchGroup()
    let recovering = DispatchGroup()
    private let owned = Locked<Journal?>(nil)
    private let isAwake = Atomic(false)

    package static let patience = Duration.milliseconds(2)

    /// `openJournal` opens the journal on another thread, which enters ``opening``; `nil` turns the journal off.
    package init(
        clock: any TransactionClock, startMicroseconds: Int64, capacity: Int, openLimit: Int = OpenLimit.standard,
        patience: Duration = patience, openJournal: (@Sendable () -> Void)? = nil,
        wake: @escaping @Sendable (_ batchIsFull: Bool) -> Void
    ) {
        self.patience = patience
        self.openLimit = openLimit
        self.openJournal = openJournal ?? {}
        isJournalWanted = Atomic(openJournal != nil)
        self.clock = clock
        isSystemClock = clock is SystemClock
        self.startMicroseconds = startMicroseconds
        self.wake = wake
        memory = BufferedRecorder(
            clock: clock, startMicroseconds: startMicroseconds, capacity: capacity, openLimit: openLimit, wake: wake)
        if openJournal != nil {
            Self.journaling.withLock { journaling in
                if !Self.watchesExit.exchange(true) {
                    // `exit` calls handlers in reverse order, so the end is noted after everything is journaled.
                    EndMark.watchExit()
                    waybill_watch_exit { Recorder.journalAll() }
                }
                journaling = journaling.filter { $0.recorder != nil } + [Reference(recorder: self)]
            }
        }
    }

    /// `past` is the fact's time in microseconds since the source started, and `nil` means now.
    package func record(_ content: Fact.Content, part: Int64, at past: Int64? = nil) -> Recorded {
        if let pointer = journalPointer {
            return record(in: pointer) { $0.append(content, part: part, atMicroseconds: past ?? $1) }
        }
        if isJournalWanted.load(ordering: .relaxed), isJournalWanted.exchange(false) {
            openJournal()
            _ = opening.wait(timeout: .now() + .microseconds(Int(patience.microseconds)))
            if hasJournal { return record(content, part: part, at: past) }
        }
        if let recorded = memory.recordUnlessHandedOver(content, part: part, at: past) { return recorded }
        guard let pointer = journalPointer else { return .refused }
        return record(in: pointer) { $0.append(content, part: part, atMicroseconds: past ?? $1) }
    }

    package func record(event code: Int, part: Int64) -> Recorded {
        guard let pointer = journalPointer else { return record(.event(Fact.Event(code: code)), part: part) }
        return record(in: pointer) { $0.append(event: code, part: part, atMicroseconds: $1) }
    }

    private var journalPointer: UnsafeRawPointer? { UnsafeRawPointer(bitPattern: journal.load(ordering: .acquiring)) }

    @inline(__always)
    private func record(in pointer: UnsafeRawPointer, _ append: (Journal, _ atMicroseconds: Int64) -> Journal.Appended)
        -> Recorded
    {
        Unmanaged<Journal>.fromOpaque(pointer)._withUnsafeGuaranteedRef { journal in
            // Call `SystemClock` directly to avoid dynamic dispatch.
            let uptime = isSystemClock ? SystemClock().uptimeMicroseconds() : clock.uptimeMicroseconds()
            switch append(journal, max(0, uptime &- startMicroseconds)) {
            case .done(let sequence, let isKept, let isPressing):
                if isPressing {
                    isAwake.store(true, ordering: .releasing)
                    wake(true)
                } else if !isAwake.load(ordering: .relaxed), !isAwake.exchange(true) {
                    wake(false)
                }
                return Recorded(sequence: sequence, result: isKept ? .journaled : .inMemory)
            case .refused:
                wake(true)
                return .refused
            }
        }
    }

    package var elapsedMicroseconds: Int64 { max(0, clock.uptimeMicroseconds() &- startMicroseconds) }

    /// Returns the time since the source started, limited to now and negative before the start.
    package func microseconds(atWall wall: Int64) -> Int64 {
        let age = clock.wallMicroseconds().subtractingReportingOverflow(wall)
        let limit = Limits.largestInteger / 2
        return elapsedMicroseconds - max(0, age.overflow ? limit : min(age.partialValue, limit))
    }

    var hasJournal: Bool { journal.load(ordering: .acquiring) != 0 }

    /// Sets how long `exit` waits for journals and the store in total; the default is 50 ms.
    package static func setExitPatience(milliseconds: Int) { exitPatience.store(milliseconds, ordering: .relaxed) }

    private static let exitPatience = Atomic(50)

    private struct Reference {
        weak var recorder: Recorder?
    }

    private static let journaling = Locked<[Reference]>([])
    private static let watchesExit = Atomic(false)

    /// Writes facts from memory to the journals and recovers leftover journals before the process exits.
    static func journalAll() {
        let limit = DispatchTime.now() + .milliseconds(exitPatience.load(ordering: .relaxed))
        // After a fork, a thread of the parent may hold the lock forever.
        let soon = Date(timeIntervalSinceNow: 0.01)
        let recorders = journaling.withLock(before: soon) { $0.compactMap(\.recorder) } ?? []
        let own = recorders.filter { $0.generation == ProcessGeneration.latest }
        for recorder in own where !recorder.hasJournal && recorder.memory.hasRecorded {
            if recorder.opening.wait(timeout: .now()) == .success { recorder.openJournal() }
        }
        for recorder in own { _ = recorder.opening.wait(timeout: limit) }
        for recorder in own { _ = recorder.recovering.wait(timeout: limit) }
    }

    /// Moves all waiting facts into a journal; returns `false` if they don't fit or a journal was begun before.
    ///
    /// `names` is called once new names reach the journal directly.
    func begin(_ file: JournalFile, names: () -> [RecordedName]) -> Bool {
        var isBegun = false
        memory.handOver { facts, lastSequence, openCount, refusedCount in
            let first = facts.first?.sequence ?? lastSequence + 1
            // Appending the facts counts their openings and closings again.
            var isOpenBefore = openCount
            for fact in facts { isOpenBefore -= fact.content.openCountChange }
            let made = Journal(
                file, lastSequence: first - 1, openCount: isOpenBefore, refusedCount: refusedCount,
                openLimit: openLimit)
            for fact in facts {
                if case .refused = made.append(fact.content, part: fact.part, atMicroseconds: fact.atMicroseconds) {
                    return false
                }
            }
            owned.withLock { $0 = made }
            journal.store(UInt(bitPattern: Unmanaged.passUnretained(made).toOpaque()), ordering: .releasing)
            isBegun = true
            return true
        }
        guard isBegun else { return false }
        keep(names())
        wake(false)
        return true
    }

    func leaveJournal() { owned.withLock { $0 }?.leaveFile() }

    func keep(_ names: [RecordedName]) {
        guard let journal = owned.withLock({ $0 }) else { return }
        for name in names { journal.append(name) }
    }

    func removeJournalIfStored() { owned.withLock { $0 }?.removeIfStored() }

    /// Waits up to a second for a journal that is being opened; later, facts of a batch may be returned twice.
    package func takeBatch(limit: Int) -> [Fact] {
        _ = opening.wait(timeout: .now() + .seconds(1))
        guard let journal = owned.withLock({ $0 }) else { return memory.takeBatch(limit: limit) }
        isAwake.store(false, ordering: .sequentiallyConsistent)
        return journal.take(limit: limit)
    }

    /// Whether a thread was stopped while it wrote a fact.
    var hasMore: Bool { owned.withLock { $0 }?.hasMore ?? false }

    var problem: WaybillError? { owned.withLock { $0 }?.problem }

    package func confirmBatch() { owned.withLock { $0 }.map { $0.confirm() } ?? memory.confirmBatch() }

    package func returnBatch() { owned.withLock { $0 }.map { $0.giveBack() } ?? memory.returnBatch() }

    package func forgoClosing() { owned.withLock { $0 }.map { $0.forgoClosing() } ?? memory.forgoClosing() }

    /// If `erases`, the store erases the facts next, so no file may keep them.
    func scrub(erases: Bool = false) { owned.withLock { $0 }?.scrub(erases: erases) }

    package var wantsSync: Bool { owned.withLock { $0 }?.wantsSync ?? false }

    package func confirmSync() { owned.withLock { $0 }?.confirmSync() }

    package var refusedCount: Int64 { owned.withLock { $0 }?.refusedCount ?? memory.refusedCount }
}

extension Fact.Content {
    /// 1 if the fact opens a part or an exchange, and -1 if it closes one.
    package var openCountChange: Int {
        switch self {
        case .opened, .exchangeOpened: 1
        case .closed, .exchangeClosed: -1
        case .event, .attributesSet, .unknown: 0
        }
    }
}

package struct Recorded: Sendable {
    /// 0 if the fact was not taken.
    package var sequence: Int64
    package var result: LogResult

    package init(sequence: Int64, result: LogResult) {
        self.sequence = sequence
        self.result = result
    }

    package static let refused = Recorded(sequence: 0, result: .refused)

    package static let withheld = Recorded(sequence: 0, result: .withheld)
}

/// The recording switch, stored in the name of an empty file. A launch reads it with one `access(2)`, and a rename
/// switches it atomically.
package struct RecordingMark: Sendable {
    private let folder: URL

    package init?(beside place: ResolvedLocation) {
        guard let folder = place.folder else { return nil }
        self.folder = folder
    }

    package func says(isOn: Bool) -> Bool { access(path(isOn), F_OK) == 0 }

    package func set(isOn: Bool) throws(WaybillError) {
        try StoreFolder.make(folder)
        guard rename(path(!isOn), path(isOn)) != 0 else { return }
        let descriptor = DurableFile.openOwn(path(isOn), O_WRONLY | O_CREAT)
        guard descriptor >= 0 else {
            throw WaybillError(
                .store,
                "It cannot be remembered that recording is \(isOn ? "on" : "off"): \(path(isOn)) cannot be made.",
                cause: String(cString: strerror(errno)))
        }
        close(descriptor)
    }

    private func path(_ isOn: Bool) -> String {
        folder.appending(path: isOn ? "recording-on" : "recording-off").path(percentEncoded: false)
    }
}
