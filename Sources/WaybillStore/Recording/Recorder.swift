import WaybillAtomics
package import WaybillCore

/// Takes facts on the caller's thread and gives each its sequence and its time; never blocks on the store, never
/// throws.
///
/// Into a journal as soon as there is one, into memory until then.
///
/// The journal is made on the store's thread, a few milliseconds after the first fact: no call that records waits for a
/// file.
package final class Recorder: Sendable {
    private let clock: any TransactionClock
    private let isSystemClock: Bool
    private let startMicroseconds: Int64
    private let memory: BufferedRecorder
    private let wake: @Sendable (_ batchIsFull: Bool) -> Void
    /// The address of the journal, 0 while there is none. ``owned`` keeps it alive, so that no caller has to count
    /// references.
    private let journal = Atomic<UInt>(0)
    private let owned = Locked<Journal?>(nil)
    /// Whether the writer knows that there is something to store.
    private let isAwake = Atomic(false)

    package init(
        clock: any TransactionClock, startMicroseconds: Int64, capacity: Int,
        wake: @escaping @Sendable (_ batchIsFull: Bool) -> Void
    ) {
        self.clock = clock
        isSystemClock = clock is SystemClock
        self.startMicroseconds = startMicroseconds
        self.wake = wake
        memory = BufferedRecorder(clock: clock, startMicroseconds: startMicroseconds, capacity: capacity, wake: wake)
    }

    /// Records a fact.
    ///
    /// - Parameter past: When it happened, in microseconds since its source started, below 0 before that; `nil`: now.
    package func record(_ content: Fact.Content, part: Int64, at past: Int64? = nil) -> Recorded {
        if let pointer = journalPointer {
            return record(in: pointer) { $0.append(content, part: part, atMicroseconds: past ?? $1) }
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

    /// Goes on in a journal, with everything that waits in memory.
    ///
    /// - Returns: Whether it fits; else memory goes on.
    func begin(_ file: JournalFile, names: [RecordedName]) -> Bool {
        memory.handOver { facts, lastSequence, openCount, refusedCount in
            let first = facts.first?.sequence ?? lastSequence + 1
            // What the facts open and close is counted in `openCount`, and counted again as they are appended.
            var isOpenBefore = openCount
            for fact in facts { isOpenBefore -= fact.content.openCountChange }
            let made = Journal(file, lastSequence: first - 1, openCount: isOpenBefore, refusedCount: refusedCount)
            for name in names { made.append(name) }
            for fact in facts {
                if case .refused = made.append(fact.content, part: fact.part, atMicroseconds: fact.atMicroseconds) {
                    return false
                }
            }
            owned.withLock { $0 = made }
            journal.store(UInt(bitPattern: Unmanaged.passUnretained(made).toOpaque()), ordering: .releasing)
            return true
        }
        guard hasJournal else { return false }
        wake(false)
        return true
    }

    /// Keeps names for the recovery of the journal; they reach the store besides.
    func keep(_ names: [RecordedName]) {
        guard let journal = owned.withLock({ $0 }) else { return }
        for name in names { journal.append(name) }
    }

    /// Takes the journal's file away, if everything in it is stored.
    func removeJournalIfStored() { owned.withLock { $0 }?.removeIfStored() }

    package func takeBatch(limit: Int) -> [Fact] {
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

    /// Overwrites everything that is stored and synced: what was erased from the store must not be left in the journal.
    func scrub() { owned.withLock { $0 }?.scrub() }

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
