import CJournal
import Dispatch
import Foundation
import WaybillAtomics
package import WaybillCore

/// Takes facts on the caller's thread and gives each its sequence and its time; never blocks on the store, never
/// throws.
///
/// The first call has the journal opened on another thread, and waits for it for 2 ms at most. Where the disk takes
/// longer, facts wait in memory until the journal is open.
package final class Recorder: Sendable {
    private let clock: any TransactionClock
    private let isSystemClock: Bool
    private let startMicroseconds: Int64
    private let memory: BufferedRecorder
    private let wake: @Sendable (_ batchIsFull: Bool) -> Void
    /// The address of the journal, 0 while there is none. ``owned`` keeps it alive, so that no caller has to count
    /// references.
    private let journal = Atomic<UInt>(0)
    private let isJournalWanted: Atomic<Bool>
    private let openJournal: @Sendable () -> Void
    private let patience: Duration
    private let openLimit: Int
    private let generation = ProcessGeneration.current
    /// Entered while a thread opens the journal.
    let opening = DispatchGroup()
    /// Entered until it is known whether processes before this one left many journals, and while the store's thread takes
    /// these in.
    let recovering = DispatchGroup()
    private let owned = Locked<Journal?>(nil)
    /// Whether the writer knows that there is something to store.
    private let isAwake = Atomic(false)

    /// How long the first call waits for the journal.
    package static let patience = Duration.milliseconds(2)

    /// - Parameter openJournal: Starts to open the journal, on another thread, which enters ``opening``; `nil` if there
    ///   is to be none.
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
                    // `exit` calls the handler that was set last first, so the end is noted after everything is journaled.
                    EndMark.watchExit()
                    waybill_watch_exit { Recorder.journalAll() }
                }
                journaling = journaling.filter { $0.recorder != nil } + [Reference(recorder: self)]
            }
        }
    }

    /// Records a fact.
    ///
    /// - Parameter past: When it happened, in microseconds since its source started, below 0 before that; `nil`: now.
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
            // Asked by its own type, the clock costs no call through a table.
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

    /// Microseconds since its source started, which is how every time in a fact is told.
    package var elapsedMicroseconds: Int64 { max(0, clock.uptimeMicroseconds() &- startMicroseconds) }

    /// Returns the time of a fact that happened at some microseconds since 1970: below 0 before its source started, and
    /// not later than now.
    package func microseconds(atWall wall: Int64) -> Int64 {
        let age = clock.wallMicroseconds().subtractingReportingOverflow(wall)
        let limit = Limits.largestInteger / 2
        return elapsedMicroseconds - max(0, age.overflow ? limit : min(age.partialValue, limit))
    }

    /// Whether a journal has taken over.
    var hasJournal: Bool { journal.load(ordering: .acquiring) != 0 }

    /// How many milliseconds `exit` waits for journals and the store, in all; tests on a busy machine wait longer.
    package static func setExitPatience(milliseconds: Int) { exitPatience.store(milliseconds, ordering: .relaxed) }

    private static let exitPatience = Atomic(50)

    private struct Reference {
        weak var recorder: Recorder?
    }

    /// The recorders that journal, in the order in which they were made.
    private static let journaling = Locked<[Reference]>([])
    private static let watchesExit = Atomic(false)

    /// Brings what is still in memory into the journals before the process exits, in the order in which the recorders
    /// were made; and lets what earlier processes left come into the store, so that short programs do not leave ever
    /// more of it. Takes 50 ms in all at most.
    static func journalAll() {
        let limit = DispatchTime.now() + .milliseconds(exitPatience.load(ordering: .relaxed))
        // After a fork another thread of the parent may have had the lock, for ever.
        let soon = Date(timeIntervalSinceNow: 0.01)
        let recorders = journaling.withLock(before: soon) { $0.compactMap(\.recorder) } ?? []
        let own = recorders.filter { $0.generation == ProcessGeneration.latest }
        for recorder in own where !recorder.hasJournal && recorder.memory.hasRecorded {
            // Unless a thread is at it.
            if recorder.opening.wait(timeout: .now()) == .success { recorder.openJournal() }
        }
        for recorder in own { _ = recorder.opening.wait(timeout: limit) }
        for recorder in own { _ = recorder.recovering.wait(timeout: limit) }
    }

    /// Goes on in a journal, with everything that waits in memory.
    ///
    /// - Parameter names: Gives the names to keep in the journal, once what is named later goes there by itself.
    /// - Returns: Whether it fits; else memory goes on. False also if a journal was begun before.
    func begin(_ file: JournalFile, names: () -> [RecordedName]) -> Bool {
        var isBegun = false
        memory.handOver { facts, lastSequence, openCount, refusedCount in
            let first = facts.first?.sequence ?? lastSequence + 1
            // What the facts open and close is counted in `openCount`, and counted again as they are appended.
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

    /// Leaves the journal's file as it is, for the next launch; see `JournalFile.leave()`.
    func leaveJournal() { owned.withLock { $0 }?.leaveFile() }

    /// Keeps names for the recovery of the journal; they reach the store besides.
    func keep(_ names: [RecordedName]) {
        guard let journal = owned.withLock({ $0 }) else { return }
        for name in names { journal.append(name) }
    }

    /// Takes the journal's file away, if everything in it is stored.
    func removeJournalIfStored() { owned.withLock { $0 }?.removeIfStored() }

    /// Gives what the store does not have yet.
    ///
    /// Waits while the journal is being opened, because facts move there; for a second at most, after which facts of a
    /// batch may be handed out twice.
    package func takeBatch(limit: Int) -> [Fact] {
        _ = opening.wait(timeout: .now() + .seconds(1))
        guard let journal = owned.withLock({ $0 }) else { return memory.takeBatch(limit: limit) }
        isAwake.store(false, ordering: .sequentiallyConsistent)
        return journal.take(limit: limit)
    }

    /// Whether something that was just recorded could not be handed out yet: its thread was stopped while it wrote.
    var hasMore: Bool { owned.withLock { $0 }?.hasMore ?? false }

    /// Why the journal cannot be written; nil when it can, or there is none.
    var problem: WaybillError? { owned.withLock { $0 }?.problem }

    package func confirmBatch() { owned.withLock { $0 }.map { $0.confirm() } ?? memory.confirmBatch() }

    package func returnBatch() { owned.withLock { $0 }.map { $0.giveBack() } ?? memory.returnBatch() }

    package func forgoClosing() { owned.withLock { $0 }.map { $0.forgoClosing() } ?? memory.forgoClosing() }

    /// Overwrites everything that is stored and synced.
    ///
    /// - Parameter erases: Whether it is erased from the store next, so that no file may keep it.
    func scrub(erases: Bool = false) { owned.withLock { $0 }?.scrub(erases: erases) }

    package var wantsSync: Bool { owned.withLock { $0 }?.wantsSync ?? false }

    package func confirmSync() { owned.withLock { $0 }?.confirmSync() }

    package var refusedCount: Int64 { owned.withLock { $0 }?.refusedCount ?? memory.refusedCount }
}

extension Fact.Content {
    fileprivate var openCountChange: Int {
        switch self {
        case .opened, .exchangeOpened: 1
        case .closed, .exchangeClosed: -1
        case .event, .attributesSet: 0
        }
    }
}

/// What a recorder says of one fact.
package struct Recorded: Sendable {
    /// The fact's sequence; 0 where it was not taken.
    package var sequence: Int64
    package var result: LogResult

    package init(sequence: Int64, result: LogResult) {
        self.sequence = sequence
        self.result = result
    }

    /// Not taken for want of room.
    package static let refused = Recorded(sequence: 0, result: .refused)

    /// Not taken because the app did not want it recorded.
    package static let withheld = Recorded(sequence: 0, result: .withheld)
}

/// Remembers, beside a store, whether recording was turned on or off: an empty file whose name says it, so that a
/// launch learns it by one `access(2)`, and which is renamed, so that it never says both.
package struct RecordingMark: Sendable {
    private let folder: URL

    /// - Returns: nil where there is no folder to remember it in.
    package init?(beside place: ResolvedLocation) {
        guard let folder = place.folder else { return nil }
        self.folder = folder
    }

    /// Whether recording was turned that way, and not the other way since.
    package func says(isOn: Bool) -> Bool { access(path(isOn), F_OK) == 0 }

    /// Remembers it; makes the folder where it is missing.
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
