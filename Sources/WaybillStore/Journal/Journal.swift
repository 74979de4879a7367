import CAtomicWords
import WaybillAtomics
import WaybillCore

/// A queue of records in a file, from any thread to one reader. A record usually takes no lock, no allocation and, if
/// the file is mapped, no system call.
///
/// A compare-and-swap reserves a record, and its first word publishes it, stored last with release order. The reader
/// stops at the first unpublished record. A segment is reused after everything in it is read, stored and synced.
final class Journal: @unchecked Sendable {  // right because each word has one writer, and is read once it is published
    private let file: JournalFile
    private let layout: JournalLayout
    private let words: UnsafeMutablePointer<UInt64>
    /// The fact count of the current segment (upper 20 bits) and the position of the next record.
    private let head: Atomic<UInt64>
    private let limit: Atomic<Int64>
    private let openCount: Atomic<Int>
    private let refused: Atomic<Int64>
    private let openLimit: Int
    private let overflow = JournalOverflow()
    private let turning = Locked(())
    private let reading: Locked<ReadingState>

    private struct ReadingState {
        /// Everything before `stored` is in the store, before `taken` was taken, and before `scrubbed` was overwritten.
        /// Segments before `freedTurn` are free.
        var stored: Int64
        var taken: Int64
        var freedTurn: Int64 = 0
        var scrubbed: Int64 = 0
        var lastSequence: Int64
        var takenSequence: Int64
    }

    private var segmentLength: Int64 { Int64(layout.segmentWordCount) }

    private static let positionMask: UInt64 = 1 << 44 - 1
    /// The reserve for one closing: a record without attributes.
    private static let closingWordCount = 16
    /// The reserve for unused ends of segments; at most a quarter of a small journal.
    private static let marginWordCount = 1024

    private enum Reserve {
        case nothing
        case closings
        /// Room for expected closings, and an eighth of the journal for events.
        case closingsAndEvents
    }

    /// Takes over from a recorder in memory; `lastSequence` precedes the journal's first.
    init(
        _ file: JournalFile, lastSequence: Int64, openCount: Int, refusedCount: Int64,
        openLimit: Int = OpenLimit.standard
    ) {
        self.openLimit = openLimit
        self.file = file
        layout = file.layout
        words = file.words
        let start = Int64(JournalLayout.segmentHeaderWordCount)
        head = Atomic(UInt64(start), isContended: true)
        limit = Atomic(Int64(file.layout.segmentWordCount * file.layout.segmentCount))
        self.openCount = Atomic(openCount)
        refused = Atomic(refusedCount)
        reading = Locked(
            ReadingState(stored: start, taken: start, lastSequence: lastSequence, takenSequence: lastSequence))
        beginSegment(turn: 0, base: lastSequence)
        noteDrained(lastSequence)
    }

    var refusedCount: Int64 { refused.load(ordering: .relaxed) }

    enum Appended {
        /// `isKept` means that the file has the record. `isPressing` asks to store facts now: a segment was begun and
        /// at most half are free.
        case done(sequence: Int64, isKept: Bool, isPressing: Bool)
        case refused
    }

    @inline(__always)
    func append(event code: Int, part: Int64, atMicroseconds: Int64) -> Appended {
        counted(append(.event, 1, part: part, atMicroseconds: atMicroseconds, keeping: .closings) { $0.integer(code) })
    }

    @inline(__always)
    private func counted(_ appended: Appended) -> Appended {
        if case .refused = appended { refused.add(1) }
        return appended
    }

    func append(_ content: Fact.Content, part: Int64, atMicroseconds: Int64) -> Appended {
        switch content {
        case .event, .attributesSet, .unknown:
            return counted(append(content, part: part, atMicroseconds: atMicroseconds, keeping: .closings))
        case .opened, .exchangeOpened:
            var appended = Appended.refused
            if openCount.add(1) <= openLimit {
                appended = append(content, part: part, atMicroseconds: atMicroseconds, keeping: .closingsAndEvents)
            }
            if case .refused = appended { openCount.subtract(1) }
            return counted(appended)
        case .closed, .exchangeClosed:
            openCount.subtract(1)
            let whole = append(content, part: part, atMicroseconds: atMicroseconds, keeping: .closings)
            if case .done = whole { return whole }
            // A long closing must not take the room reserved for others, so it loses its details.
            let bare = append(content.bare, part: part, atMicroseconds: atMicroseconds, keeping: .nothing)
            if case .done = bare { return bare }
            let sequence = overflow.append(content.bare, part: part, atMicroseconds: atMicroseconds) { takeSequence() }
            return .done(sequence: sequence, isKept: false, isPressing: true)
        }
    }

    private func takeSequence() -> Int64 {
        var old = head.load(ordering: .acquiring)
        while true {
            let turn = (Int64(truncatingIfNeeded: old & Self.positionMask) - 1) / segmentLength
            let base = Int64(truncatingIfNeeded: (words + layout.index(of: turn * segmentLength))[1])
            let (isExchanged, found) = head.weakCompareExchange(expected: old, desired: old &+ (1 << 44))
            if isExchanged { return base + Int64(truncatingIfNeeded: old >> 44) + 1 }
            old = found
        }
    }

    @inline(never)
    private func append(
        _ content: Fact.Content, part: Int64, atMicroseconds: Int64, keeping reserve: Reserve
    ) -> Appended {
        var counter = JournalWordCounter()
        content.write(to: &counter)
        return append(
            content.journalKind, counter.count, part: part, atMicroseconds: atMicroseconds, keeping: reserve
        ) {
            content.write(to: &$0)
        }
    }

    /// Releases the room of a closing that will never arrive.
    func forgoClosing() { openCount.subtract(1) }

    func append(_ name: RecordedName) {
        var counter = JournalWordCounter()
        name.write(to: &counter)
        _ = append(.name, counter.count, part: 0, atMicroseconds: 0, keeping: .closings) { name.write(to: &$0) }
    }

    @inline(__always)
    private func append(
        _ kind: JournalRecord.Kind, _ contentWordCount: Int, part: Int64, atMicroseconds: Int64,
        keeping reserve: Reserve,
        write: (inout JournalWordWriter) -> Void
    ) -> Appended {
        let wordCount = JournalRecord.prefixWordCount + contentWordCount
        let isFact = kind != .name
        let total = layout.segmentWordCount &* layout.segmentCount
        // Closings beyond a quarter of the journal have room in memory.
        let kept: Int =
            reserve == .nothing
            ? 0
            : min(Self.marginWordCount, total / 4)
                &+ min(openCount.load(ordering: .relaxed) &* Self.closingWordCount, total / 4)
                &+ (reserve == .closingsAndEvents ? total / 8 : 0)
        var isNewSegment = false
        var old = head.load(ordering: .acquiring)
        while true {
            let position = Int64(truncatingIfNeeded: old & Self.positionMask)
            let offset = layout.offset(of: position)
            let fits = offset >= JournalLayout.segmentHeaderWordCount && offset &+ wordCount <= layout.segmentWordCount
            // The unused end of a segment doesn't count as reserved room.
            let unused =
                fits
                ? 0
                : (offset == 0 ? 0 : layout.segmentWordCount &- offset) &+ JournalLayout.segmentHeaderWordCount
            guard position &+ Int64(unused &+ wordCount &+ kept) <= limit.load(ordering: .acquiring),
                wordCount <= layout.largestRecordWordCount
            else { return .refused }
            guard fits else {
                guard turn(from: position) else { return .refused }
                isNewSegment = true
                old = head.load(ordering: .acquiring)
                continue
            }
            let new = old &+ UInt64(truncatingIfNeeded: wordCount) &+ (isFact ? 1 << 44 : 0)
            let (isExchanged, found) = head.weakCompareExchange(expected: old, desired: new)
            guard isExchanged else {
                old = found
                continue
            }
            let index = layout.index(of: position)
            let record = words + index
            let base = words[index &- offset &+ 1]
            let sequence = isFact ? Int64(truncatingIfNeeded: base &+ old >> 44) &+ 1 : 0
            record[1] = UInt64(truncatingIfNeeded: sequence)
            record[2] = UInt64(truncatingIfNeeded: atMicroseconds)
            record[3] = UInt64(truncatingIfNeeded: kind == .opened ? sequence : part)
            var writer = JournalWordWriter(at: record + JournalRecord.prefixWordCount)
            write(&writer)
            let checksum = JournalChecksum.sum(kind, record, count: wordCount, salt: layout.salt, position: position)
            waybill_store_release(record, JournalHeading(kind, wordCount: wordCount, checksum: checksum).word)
            let isKept = file.isWrittenByItself || file.write(index..<index &+ wordCount)
            return .done(
                sequence: sequence, isKept: isKept, isPressing: isNewSegment && isHalfFull(at: position))
        }
    }

    private func isHalfFull(at position: Int64) -> Bool {
        let end = ((position - 1) / segmentLength + 1) * segmentLength
        return limit.load(ordering: .relaxed) - end <= segmentLength * Int64(layout.segmentCount / 2)
    }

    /// Begins the next segment; returns `false` if it is not free.
    @inline(never)
    private func turn(from position: Int64) -> Bool {
        turning.withLock { _ in
            while true {
                let old = head.load(ordering: .acquiring)
                let current = Int64(old & Self.positionMask)
                let turn = (current - 1) / segmentLength
                guard turn == (position - 1) / segmentLength else { return true }  // another thread did it
                let next = (turn + 1) * segmentLength
                guard next + segmentLength <= limit.load(ordering: .acquiring) else { return false }
                let base = Int64((words + layout.index(of: turn * segmentLength))[1]) + Int64(old >> 44)
                beginSegment(turn: turn + 1, base: base)
                let start = UInt64(next + Int64(JournalLayout.segmentHeaderWordCount))
                guard head.compareExchange(expected: old, desired: start).exchanged else { continue }
                if current < next { fill(from: current, wordCount: Int(next - current)) }
                return true
            }
        }
    }

    private func beginSegment(turn: Int64, base: Int64) {
        let index = layout.index(of: turn * segmentLength)
        words[index + 1] = UInt64(base)
        words[index + 2] = layout.checksum(ofTurn: turn, base: UInt64(base))
        waybill_store_release(words + index, UInt64(turn + 1))
        file.write(index..<index + JournalLayout.segmentHeaderWordCount)
    }

    private func fill(from position: Int64, wordCount: Int) {
        let index = layout.index(of: position)
        waybill_store_release(words + index, JournalHeading(.filler, wordCount: wordCount, checksum: 0).word)
        file.write(index..<index + 1)
    }

    // MARK: The reader

    /// Returns published facts that no earlier call returned, in order of sequence.
    func take(limit: Int) -> [Fact] {
        reading.withLock { state in
            var facts: [Fact] = []
            let end = Int64(head.load(ordering: .sequentiallyConsistent) & Self.positionMask)
            // Reserving avoids repeated copies while the array grows.
            facts.reserveCapacity(min(limit, Int(clamping: end - state.taken) / JournalRecord.plainEventWordCount))
            while facts.count < limit, state.taken < end {
                if layout.offset(of: state.taken) == 0 {
                    state.taken += Int64(JournalLayout.segmentHeaderWordCount)
                    continue
                }
                let record = words + layout.index(of: state.taken)
                let heading = JournalHeading(word: waybill_load_acquire(record))
                guard let kind = heading.kind else { break }  // reserved, and not published yet
                if kind != .filler && kind != .name, let fact = Fact(kind, record, wordCount: heading.wordCount) {
                    state.takenSequence = fact.sequence
                    facts.append(fact)
                }
                state.taken += Int64(heading.wordCount)
            }
            overflow.merge(into: &facts, last: &state.takenSequence)
            return facts
        }
    }

    var hasMore: Bool {
        overflow.hasMore
            || reading.withLock { $0.taken } < Int64(head.load(ordering: .sequentiallyConsistent) & Self.positionMask)
    }

    var problem: WaybillError? { file.problem }

    func confirm() {
        reading.withLock { state in
            state.stored = state.taken
            overflow.confirm()
            state.lastSequence = state.takenSequence
            noteDrained(state.lastSequence)
        }
    }

    private func noteDrained(_ sequence: Int64) {
        file.setHeader(JournalLayout.HeaderWord.drained, to: sequence)
        file.setHeader(JournalLayout.HeaderWord.refused, to: refusedCount)
        file.checkPresence()
    }

    func giveBack() {
        reading.withLock { state in
            state.taken = state.stored
            overflow.giveBack()
            state.takenSequence = state.lastSequence
        }
    }

    var wantsSync: Bool {
        reading.withLock { ($0.stored - 1) / segmentLength - $0.freedTurn >= max(1, layout.segmentCount / 2) }
    }

    func confirmSync() {
        reading.withLock { state in
            // The segment of the last stored word stays: the next segment takes its base from there.
            let turn = (state.stored - 1) / segmentLength
            while state.freedTurn < turn {
                let index = layout.index(of: state.freedTurn * segmentLength)
                file.clear(index..<index + layout.segmentWordCount)
                state.freedTurn += 1
                limit.add(segmentLength)
            }
        }
        file.touch()
    }

    func leaveFile() { file.leave() }

    /// Overwrites stored facts, even in the current segment. Recovery skips zeros.
    func scrub(erases: Bool = false) {
        if erases { file.removeIfLeft() }
        confirmSync()
        reading.withLock { state in
            let first = state.freedTurn * segmentLength + Int64(JournalLayout.segmentHeaderWordCount)
            let start = max(state.scrubbed, first)
            guard state.stored > start else { return }
            let index = layout.index(of: start)
            file.clear(index..<index + Int(state.stored - start), zeroSince: layout.index(of: first))
            state.scrubbed = state.stored
        }
    }

    func removeIfStored() {
        let isStored = reading.withLock { $0.stored } >= Int64(head.load(ordering: .acquiring) & Self.positionMask)
        if isStored, overflow.isEmpty { file.remove() }
    }
}

extension Fact.Content {
    /// A closing without details, which fits into its reserved room.
    fileprivate var bare: Fact.Content {
        switch self {
        case .closed(let content): .closed(Fact.Closed(outcome: content.outcome))
        case .exchangeClosed(let content):
            .exchangeClosed(Fact.ExchangeClosed(exchange: content.exchange, state: content.state))
        default: self
        }
    }
}
