import Foundation
import WaybillCore

/// What a journal still holds whose process is gone.
struct RecoveredJournal {
    var source: Source
    var clocks: [ClockAnchor]
    var names: [RecordedName] = []
    /// In order of sequence; some may be in the store already.
    var facts: [Fact] = []
    /// How far the source had come at least, as the header and the segments say, whatever is left of the facts.
    var recorded = 0
    var refused = 0
    /// Records whose checksum does not fit what they say.
    var damagedCount = 0

    /// Why a journal cannot be read.
    enum Failure: Error {
        /// Its process died while it was made: nothing was in it.
        case empty
        case newer
        case damaged
    }
}

extension RecoveredJournal {
    /// Reads a whole journal. What was reserved and not published, or does not pass its checksum, is stepped over.
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
        recorded = layout.unsealed(words[Word.drained]) ?? 0
        refused = layout.unsealed(words[Word.refused]) ?? 0
        words.withUnsafeBufferPointer { words in
            for (turn, index) in layout.turns(words) {
                recorded = max(recorded, Int(truncatingIfNeeded: words[index + 1]))
                read(segment: index, turn: turn, words, layout)
            }
        }
        facts.sort { $0.sequence < $1.sequence }
    }

    private mutating func read(segment: Int, turn: Int, _ words: UnsafeBufferPointer<UInt64>, _ layout: JournalLayout) {
        var offset = JournalLayout.segmentHeaderWordCount
        while offset < layout.segmentWordCount {
            let heading = JournalHeading(word: words[segment + offset])
            let position = turn * layout.segmentWordCount + offset
            guard heading.word != 0 else {
                offset += 1
                continue
            }
            guard let kind = heading.kind, heading.wordCount > 0, heading.wordCount <= layout.segmentWordCount - offset else {
                damagedCount += 1
                offset += 1
                continue
            }
            guard kind != .filler else {
                offset += 1  // not to the segment's end: a closing's heading is one flipped bit away from this
                continue
            }
            let record = UnsafeBufferPointer(rebasing: words[(segment + offset)..<(segment + offset + heading.wordCount)])
            guard let start = record.baseAddress,
                JournalChecksum.sum(start, count: record.count, salt: layout.salt, position: position) == heading.checksum
            else {
                damagedCount += 1
                offset += 1
                continue
            }
            if kind == .name {
                if let name = RecordedName(record) { names.append(name) }
            } else if let fact = Fact(kind, start, wordCount: record.count) {
                facts.append(fact)
            }
            offset += heading.wordCount
        }
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
