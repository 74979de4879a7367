import Foundation
import WaybillCore

/// The remains of a journal, read in batches to limit memory.
final class RecoveredJournal {
    var source: SourceIdentity
    /// `nil` in journals that predate proofs.
    let proof: IdentityProof?
    let clocks: [ClockAnchor]
    let refused: Int64
    let end: SourceEnd?
    var names: [RecordedName] = []
    /// The highest sequence according to the header and the records read so far, including damaged ones.
    private(set) var recorded: Int64
    /// Each place has one or more damaged records.
    private(set) var damagedCount: Int

    private let words: [UInt64]
    private let layout: JournalLayout
    /// The first segment is read up to ``offset``.
    private var segments: ArraySlice<JournalSegment>
    private var offset = JournalLayout.segmentHeaderWordCount
    private var last = Step.record
    private var lastInSegment: Int64?
    private var latest: Int64 = 0

    enum Failure: Error {
        /// The process ended while it created the journal.
        case empty
        case newer
        case damaged
    }

    private enum Step { case record, unpublished, damaged }

    init(_ lockedFile: LockedJournalFile, boot: String = Moment.thisBoot) throws(Failure) {
        guard let words = lockedFile.words() else { throw .damaged }
        let layout = try JournalLayout(header: words)
        typealias Word = JournalLayout.HeaderWord
        let description = words.withUnsafeBytes { bytes in
            Array(
                bytes.dropFirst(Word.count * 8).prefix(
                    Int(words[Word.descriptionByteCount])))
        }
        guard let share = try? TransactionSet.decode(description).sources.first else { throw .damaged }
        source = share.source
        proof = share.sourceProof
        clocks = share.clocks
        recorded = layout.unsealed(words[Word.drained]) ?? 0
        refused = layout.unsealed(words[Word.refused]) ?? 0
        end = layout.end(words, boot: boot)
        segments = words.withUnsafeBufferPointer { layout.segments($0) }[...]
        damagedCount = segments.count { !$0.isWhole }
        self.words = words
        self.layout = layout
    }

    /// Returns the next facts in order of sequence, including some that may be stored already. At the end, there are
    /// fewer than `limit`.
    func next(limit: Int) -> [Fact] {
        var facts: [Fact] = []
        let words = words
        words.withUnsafeBufferPointer { words in
            while facts.count < limit, let segment = segments.first {
                if offset >= layout.segmentWordCount {
                    end(segment)
                } else if let fact = step(in: segment, words) {
                    facts.append(fact)
                }
            }
        }
        return facts
    }

    /// Skips a record, or one word that begins none; returns a fact if the record has one.
    private func step(in segment: JournalSegment, _ words: UnsafeBufferPointer<UInt64>) -> Fact? {
        guard let (kind, record) = layout.record(at: offset, in: segment, words) else {
            // Zero means that a record was reserved but not published, so no caller relies on it.
            if last == .record {
                last = words[segment.index + offset] == 0 ? .unpublished : .damaged
                if last == .damaged { damagedCount += 1 }
            }
            offset += 1
            return nil
        }
        last = .record
        offset += record.count
        switch kind {
        case .filler: return nil
        case .name:
            if let name = try? RecordedName(record) { names.append(name) }
            return nil
        default:
            guard let start = record.baseAddress, let fact = Fact(kind, start, wordCount: record.count) else {
                return nil
            }
            // If a segment's turn is damaged, checksums may match records of an older turn.
            guard fact.sequence > latest else { return nil }
            (latest, lastInSegment) = (fact.sequence, fact.sequence)
            return fact
        }
    }

    private func end(_ segment: JournalSegment) {
        // A damaged end hides an unknown number of facts: at least one.
        recorded = max(recorded, (lastInSegment ?? segment.base) + (last == .damaged ? 1 : 0))
        segments.removeFirst()
        (offset, last, lastInSegment) = (JournalLayout.segmentHeaderWordCount, .record, nil)
    }
}

private struct JournalSegment {
    var turn: Int64
    var index: Int
    /// The sequence before its first fact; 0 if unknown.
    var base: Int64
    /// `false` if the segment's header is damaged and the turn was found by trying.
    var isWhole: Bool
}

extension JournalLayout {
    init(header words: [UInt64]) throws(RecoveredJournal.Failure) {
        typealias Word = HeaderWord
        guard words.count > Word.magic, words[Word.magic] != 0 else { throw .empty }
        guard words.count > Word.boot, words[Word.magic] == Self.magic else { throw .damaged }
        guard words[Word.version] <= Self.version else { throw .newer }
        let numbers = [Word.wordCount, Word.segmentWordCount, Word.segmentCount, Word.descriptionByteCount].map {
            words[$0]
        }
        guard numbers.allSatisfy({ $0 > 0 && $0 < 1 << 31 }) else { throw .damaged }
        guard
            let layout = Self(
                headerWordCount: Int(numbers[0]), segmentWordCount: Int(numbers[1]), segmentCount: Int(numbers[2]),
                salt: words[Word.salt])
        else { throw .damaged }
        self = layout
        let (segmentWords, isTooMuch) = segmentWordCount.multipliedReportingOverflow(by: segmentCount)
        guard headerWordCount <= words.count, !isTooMuch, segmentWords == words.count - headerWordCount,
            headerWordCount > Word.count, Int(numbers[3]) <= (headerWordCount - Word.count) * 8,
            words.withUnsafeBufferPointer({ $0.baseAddress.map { JournalFile.headerChecksum($0, headerWordCount) } })
                == words[Word.checksum]
        else { throw .damaged }
    }

    fileprivate func segments(_ words: UnsafeBufferPointer<UInt64>) -> [JournalSegment] {
        var segments: [JournalSegment] = []
        var damaged: [Int] = []
        for number in 0..<segmentCount {
            let index = headerWordCount + number * segmentWordCount
            let turn = words[index] < 1 << 40 ? Int64(words[index]) - 1 : -1
            if turn >= 0, turn % Int64(segmentCount) == number,
                words[index + 2] == checksum(ofTurn: turn, base: words[index + 1])
            {
                segments.append(
                    JournalSegment(
                        turn: turn, index: index, base: Int64(truncatingIfNeeded: words[index + 1]), isWhole: true))
            } else if words[index..<index + Self.segmentHeaderWordCount].contains(where: { $0 != 0 }) {
                damaged.append(number)
            }
        }
        let latest = segments.map(\.turn).max()
        for number in damaged {
            if let segment = segment(number, latest: latest, words) { segments.append(segment) }
        }
        return segments.ordered { $0.turn < $1.turn }
    }

    /// A record's checksum must match the turn of a segment with a damaged header.
    private func segment(_ number: Int, latest: Int64?, _ words: UnsafeBufferPointer<UInt64>) -> JournalSegment? {
        // All segments in use belong to the last two rounds; nothing is known of a single segment.
        let rounds = latest.map { max(0, $0 / Int64(segmentCount) - 1)...($0 / Int64(segmentCount) + 1) } ?? 0...1_000
        let index = headerWordCount + number * segmentWordCount
        for round in rounds {
            let turn = round * Int64(segmentCount) + Int64(number)
            let segment = JournalSegment(turn: turn, index: index, base: 0, isWhole: false)
            for offset in Self.segmentHeaderWordCount..<min(segmentWordCount, Self.segmentHeaderWordCount + 64)
            where record(at: offset, in: segment, words).map({ $0.kind != .filler }) ?? false { return segment }
        }
        return nil
    }

    /// Returns the record at an offset, if it is intact. A filler has no checksum, but reaches the end of the segment.
    fileprivate func record(
        at offset: Int, in segment: JournalSegment, _ words: UnsafeBufferPointer<UInt64>
    ) -> (kind: JournalRecord.Kind, UnsafeBufferPointer<UInt64>)? {
        let heading = JournalHeading(word: words[segment.index + offset])
        guard let kind = heading.kind, heading.wordCount > 0, heading.wordCount <= segmentWordCount - offset else {
            return nil
        }
        let start = segment.index + offset
        let record = UnsafeBufferPointer(rebasing: words[start..<start + heading.wordCount])
        if kind == .filler { return heading.wordCount == segmentWordCount - offset ? (kind, record) : nil }
        let position = segment.turn * Int64(segmentWordCount) + Int64(offset)
        guard let first = record.baseAddress,
            JournalChecksum.sum(kind, first, count: record.count, salt: salt, position: position) == heading.checksum
        else { return nil }
        return (kind, record)
    }
}

extension LockedJournalFile {
    fileprivate func words() -> [UInt64]? {
        let byteCount = lseek(descriptor, 0, SEEK_END)
        guard byteCount >= 0, byteCount <= 64 << 20 else { return nil }
        var words = [UInt64](repeating: 0, count: Int(byteCount) / 8)
        let isRead = words.withUnsafeMutableBytes { bytes in
            var done = 0
            while done < bytes.count {
                let count = pread(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done, off_t(done))
                guard count > 0 else { return false }
                done += count
            }
            return true
        }
        return isRead ? words : nil
    }
}
