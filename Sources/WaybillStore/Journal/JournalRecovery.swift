import Foundation
import WaybillCore

/// What a journal still holds whose process is gone: read a batch at a time, so that memory does not grow with what is
/// left.
struct RecoveredJournal {
    var source: SourceIdentity
    /// nil in a journal of before there were any.
    let proof: IdentityProof?
    let clocks: [ClockAnchor]
    let refused: Int64
    /// How its process ended; nil: that cannot be told.
    let end: SourceEnd?
    /// Those that were passed so far.
    var names: [RecordedName] = []
    /// How far the source had come at least: as the header and what was passed so far say, also where a record is
    /// damaged.
    private(set) var recorded: Int64
    /// Places where something was damaged, so far: one record, or several in a row.
    private(set) var damagedCount: Int

    private let words: [UInt64]
    private let layout: JournalLayout
    /// The segments that are not read to their end; the first one is read up to ``offset``.
    private var segments: ArraySlice<JournalSegment>
    private var offset = JournalLayout.segmentHeaderWordCount
    private var last = Step.record
    /// The sequence of the last fact in the first segment; nil: none was passed yet.
    private var lastInSegment: Int64?
    /// The highest sequence that was handed out.
    private var latest: Int64 = 0

    /// Why a journal cannot be read.
    enum Failure: Error {
        /// Its process died while it was made: nothing was in it.
        case empty
        case newer
        case damaged
    }

    private enum Step { case record, unpublished, damaged }

    /// Reads a journal's file, and what its header says.
    ///
    /// - Parameter boot: The device's present boot.
    init(_ lockedFile: LockedJournalFile, boot: String = Moment.thisBoot) throws(Failure) {
        guard let words = lockedFile.words() else { throw .damaged }
        let layout = try JournalLayout(header: words)
        typealias Word = JournalLayout.HeaderWord
        let description = words.withUnsafeBytes { bytes in
            Array(
                bytes.dropFirst(Word.extent(words[Word.version]).count * 8).prefix(
                    Int(words[Word.descriptionByteCount])))
        }
        guard let share = try? TransactionSet.decode(description).set.sources.first else { throw .damaged }
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

    /// The next facts, in order of sequence; fewer than `limit` when there are no more. Some may be in the store
    /// already.
    ///
    /// What was reserved and not published, or does not pass its checksum, is stepped over.
    mutating func next(limit: Int) -> [Fact] {
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

    /// Goes past the next record, or the next word that is none; gives a fact where that was one.
    private mutating func step(in segment: JournalSegment, _ words: UnsafeBufferPointer<UInt64>) -> Fact? {
        guard let (kind, record) = layout.record(at: offset, in: segment, words) else {
            // Where a heading should be and is none, a record was reserved and not published: it was promised to no
            // caller.
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
            if let name = RecordedName(record) { names.append(name) }
            return nil
        default:
            guard let start = record.baseAddress, let fact = Fact(kind, start, wordCount: record.count) else {
                return nil
            }
            // In a segment whose own count is damaged, checksums may lead to an older round.
            guard fact.sequence > latest else { return nil }
            (latest, lastInSegment) = (fact.sequence, fact.sequence)
            return fact
        }
    }

    private mutating func end(_ segment: JournalSegment) {
        // How many are gone with a damaged end is not known: at least one.
        recorded = max(recorded, (lastInSegment ?? segment.base) + (last == .damaged ? 1 : 0))
        segments.removeFirst()
        (offset, last, lastInSegment) = (JournalLayout.segmentHeaderWordCount, .record, nil)
    }
}

/// A segment that was begun.
private struct JournalSegment {
    var turn: Int64
    /// Where it lies.
    var index: Int
    /// The sequence before its first fact; 0 where that is not known.
    var base: Int64
    /// Whether what it says of itself can be trusted; else the turn was found by trying.
    var isWhole: Bool
}

extension JournalLayout {
    /// Reads and checks a header.
    init(header words: [UInt64]) throws(RecoveredJournal.Failure) {
        typealias Word = HeaderWord
        guard words.count > Word.magic, words[Word.magic] != 0 else { throw .empty }
        guard words.count > Word.boot, words[Word.magic] == Self.magic else { throw .damaged }
        guard words[Word.version] <= Self.version else { throw .newer }
        let wordCount = Word.extent(words[Word.version]).count
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
            headerWordCount > wordCount, Int(numbers[3]) <= (headerWordCount - wordCount) * 8,
            words.withUnsafeBufferPointer({ $0.baseAddress.map { JournalFile.headerChecksum($0, headerWordCount) } })
                == words[Word.checksum]
        else { throw .damaged }
    }

    /// The segments that were begun, oldest first.
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
        return segments.sorted { $0.turn < $1.turn }
    }

    /// A segment whose own words about it are damaged: its turn is the one for which the checksum of a record in it is
    /// right.
    private func segment(_ number: Int, latest: Int64?, _ words: UnsafeBufferPointer<UInt64>) -> JournalSegment? {
        // All segments that are in use are of the last round or the one before; of a single one nothing is known.
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

    /// The record that begins at an offset in a segment; nil where there is none, or it is damaged. A filler has no
    /// checksum, but reaches to the end.
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
    /// The whole file; nil where it cannot be read. At most 64 MiB.
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
