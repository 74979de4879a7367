import Foundation
import WaybillCore

/// What a journal still holds whose process is gone: read a batch at a time, so that memory does not grow with what is left.
struct RecoveredJournal {
    let source: Source
    let clocks: [ClockAnchor]
    /// The highest sequence that was drained.
    let drained: Int
    let refused: Int
    /// Those that were passed so far.
    var names: [RecordedName] = []
    /// Records passed so far whose checksum does not fit what they say.
    private(set) var damagedCount = 0

    private let words: [UInt64]
    private let layout: JournalLayout
    /// The segments that are not read to their end, and where the first one is to be read on.
    private var segments: ArraySlice<(turn: Int, index: Int)>
    private var offset = JournalLayout.segmentHeaderWordCount

    /// Why a journal cannot be read.
    enum Failure: Error {
        /// Its process died while it was made: nothing was in it.
        case empty
        case newer
        case damaged
    }

    init(_ mark: LifeMark) throws(Failure) {
        guard let words = mark.words() else { throw .damaged }
        let layout = try JournalLayout(header: words)
        typealias Word = JournalLayout.HeaderWord
        let description = words.withUnsafeBytes { bytes in
            Array(bytes.dropFirst(Word.count * 8).prefix(Int(words[Word.descriptionByteCount])))
        }
        guard let share = try? TransactionSet.decode(description).set.sources.first else { throw .damaged }
        source = share.source
        clocks = share.clocks
        drained = Int(truncatingIfNeeded: words[Word.drained])
        refused = Int(truncatingIfNeeded: words[Word.refused])
        segments = words.withUnsafeBufferPointer { layout.turns($0) }[...]
        self.words = words
        self.layout = layout
    }

    /// The next facts, in order of sequence; fewer than `limit` when there are no more. Some may be in the store already.
    ///
    /// What was reserved and not published, or does not pass its checksum, is stepped over.
    mutating func next(limit: Int) -> [Fact] {
        var facts: [Fact] = []
        let words = words
        words.withUnsafeBufferPointer { words in
            while facts.count < limit, let segment = segments.first {
                if offset >= layout.segmentWordCount {
                    segments.removeFirst()
                    offset = JournalLayout.segmentHeaderWordCount
                } else if let fact = step(in: segment, words) {
                    facts.append(fact)
                }
            }
        }
        return facts
    }

    /// Goes past the next record, or the next word that is none; gives a fact where that was one.
    private mutating func step(in segment: (turn: Int, index: Int), _ words: UnsafeBufferPointer<UInt64>) -> Fact? {
        let start = segment.index + offset
        let heading = JournalHeading(word: words[start])
        guard heading.word != 0 else {
            offset += 1
            return nil
        }
        guard let kind = heading.kind, heading.wordCount > 0, heading.wordCount <= layout.segmentWordCount - offset else {
            damagedCount += 1
            offset += 1
            return nil
        }
        if kind == .filler {
            offset = layout.segmentWordCount
            return nil
        }
        let record = UnsafeBufferPointer(rebasing: words[start..<start + heading.wordCount])
        let position = segment.turn * layout.segmentWordCount + offset
        guard let first = record.baseAddress,
            JournalChecksum.sum(first, count: record.count, salt: layout.salt, position: position) == heading.checksum
        else {
            damagedCount += 1
            offset += 1
            return nil
        }
        offset += heading.wordCount
        guard kind == .name else { return Fact(kind, first, wordCount: record.count) }
        if let name = RecordedName(record) { names.append(name) }
        return nil
    }
}

extension JournalLayout {
    /// Reads and checks a header.
    init(header words: [UInt64]) throws(RecoveredJournal.Failure) {
        typealias Word = HeaderWord
        guard words.count > Word.count, words[Word.magic] != 0 else { throw .empty }
        guard words[Word.magic] == Self.magic else { throw .damaged }
        guard words[Word.version] <= Self.version else { throw .newer }
        let numbers = [Word.wordCount, Word.segmentWordCount, Word.segmentCount, Word.descriptionByteCount].map { words[$0] }
        guard numbers.allSatisfy({ $0 > 0 && $0 < 1 << 32 }) else { throw .damaged }
        guard
            let layout = Self(
                headerWordCount: Int(numbers[0]), segmentWordCount: Int(numbers[1]), segmentCount: Int(numbers[2]), salt: words[Word.salt])
        else { throw .damaged }
        self = layout
        guard headerWordCount <= words.count,
            segmentWordCount.multipliedReportingOverflow(by: segmentCount).partialValue == words.count - headerWordCount,
            Int(numbers[3]) <= (headerWordCount - Word.count) * 8,
            words.withUnsafeBufferPointer({ $0.baseAddress.map { JournalFile.headerChecksum($0, headerWordCount) } })
                == words[Word.checksum]
        else { throw .damaged }
    }

    /// The segments that were begun, oldest first, and where each lies.
    fileprivate func turns(_ words: UnsafeBufferPointer<UInt64>) -> [(turn: Int, index: Int)] {
        var turns: [(turn: Int, index: Int)] = []
        for segment in 0..<segmentCount {
            let index = headerWordCount + segment * segmentWordCount
            guard words[index] > 0, words[index] < 1 << 40 else { continue }
            let turn = Int(words[index]) - 1
            guard turn % segmentCount == segment, words[index + 2] == checksum(ofTurn: turn, base: words[index + 1]) else { continue }
            turns.append((turn, index))
        }
        return turns.sorted { $0.turn < $1.turn }
    }
}

extension LifeMark {
    /// The whole file; nil where it cannot be read. At most 64 MiB.
    fileprivate func words() -> [UInt64]? {
        let byteCount = Int(lseek(descriptor, 0, SEEK_END))
        guard byteCount >= 0, byteCount <= 64 << 20 else { return nil }
        var words = [UInt64](repeating: 0, count: byteCount / 8)
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
