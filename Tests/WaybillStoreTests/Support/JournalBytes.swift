import Foundation
import WaybillCore

@testable import WaybillStore

/// Treats arbitrary bytes as a journal's file. The fuzzer and the replay of its findings share this code.
enum JournalBytes {
    /// A violation of a rule that a reader must follow for any input.
    struct Failure: Error {
        var text: String
    }

    /// Reads the bytes unchanged, and again with valid checksums, which make a reader trust the bytes.
    ///
    /// - Returns: The number of facts read.
    /// - Throws: `Failure` if a fact changes when it is encoded again, or if no store could accept it.
    static func check(_ bytes: [UInt8], at path: String) throws -> Int {
        try read(bytes, at: path) + read(sealed(bytes), at: path)
    }

    private static func read(_ bytes: [UInt8], at path: String) throws -> Int {
        try Data(bytes).write(to: URL(filePath: path))
        guard let journal = try? RecoveredJournal(LockedJournalFile(path: path)) else { return 0 }
        let facts = journal.next(limit: .max)
        guard facts.count * JournalRecord.prefixWordCount * 8 < bytes.count else {
            throw Failure(text: "more facts than room")
        }
        var latest: Int64 = 0
        for fact in facts {
            let numbers = [fact.sequence, fact.part, fact.atMicroseconds]
            guard numbers.allSatisfy({ (0...Limits.largestInteger).contains($0) }), fact.sequence > 0 else {
                throw Failure(text: "a fact that no store can count: \(numbers)")
            }
            guard fact.sequence >= latest else { throw Failure(text: "out of order at \(fact.sequence)") }
            latest = fact.sequence
            let words = words(of: fact.content)
            let again = words.withUnsafeBufferPointer { try? Fact.Content(fact.content.journalKind, $0) }
            // Compares words, because NaN does not equal itself. Sorts them, because attributes have no order.
            guard let again, Self.words(of: again).sorted() == words.sorted() else {
                throw Failure(text: "another fact at \(fact.sequence) when read again")
            }
        }
        return facts.count
    }

    /// Returns a fact as the words that follow a record's prefix.
    static func words(of content: Fact.Content) -> [UInt64] {
        var counter = JournalWordCounter()
        content.write(to: &counter)
        return [UInt64](unsafeUninitializedCapacity: counter.count) { buffer, count in
            guard let start = buffer.baseAddress else { return }
            var writer = JournalWordWriter(at: start)
            content.write(to: &writer)
            count = counter.count
        }
    }

    /// Returns the journal with correct checksums of its header, its segments and its records.
    static func sealed(_ bytes: [UInt8]) -> [UInt8] {
        typealias Header = JournalLayout.HeaderWord
        var words = bytes.withUnsafeBytes { bytes in
            (0..<bytes.count / 8).map { bytes.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self) }
        }
        guard words.count > Header.boot else { return bytes }
        words[Header.magic] = JournalLayout.magic
        words[Header.version] = min(max(words[Header.version], 1), JournalLayout.version)
        let numbers = [Header.wordCount, Header.segmentWordCount, Header.segmentCount].map { Int(clamping: words[$0]) }
        guard (Header.boot...words.count).contains(numbers[0]), (4...words.count).contains(numbers[1]),
            (1...words.count).contains(numbers[2]), numbers[0] + numbers[1] * numbers[2] == words.count,
            let layout = JournalLayout(
                headerWordCount: numbers[0], segmentWordCount: numbers[1], segmentCount: numbers[2],
                salt: words[Header.salt])
        else { return bytes }
        words[Header.checksum] = words.withUnsafeBufferPointer {
            $0.baseAddress.map { JournalFile.headerChecksum($0, numbers[0]) } ?? 0
        }
        for segment in 0..<layout.segmentCount { seal(segment, of: &words, layout) }
        return words.withUnsafeBytes { Array($0) }
    }

    private static func seal(_ segment: Int, of words: inout [UInt64], _ layout: JournalLayout) {
        let index = layout.headerWordCount + segment * layout.segmentWordCount
        if words[index] == 0 || words[index] >= 1 << 40 { words[index] = UInt64(segment + 1) }
        let turn = Int64(words[index]) - 1
        words[index + 2] = layout.checksum(ofTurn: turn, base: words[index + 1])
        var offset = JournalLayout.segmentHeaderWordCount
        while offset < layout.segmentWordCount {
            let heading = JournalHeading(word: words[index + offset])
            guard let kind = heading.kind, (1...layout.segmentWordCount - offset).contains(heading.wordCount) else {
                offset += 1
                continue
            }
            let sum = words.withUnsafeBufferPointer { buffer in
                buffer.baseAddress.map {
                    JournalChecksum.sum(
                        kind, $0 + index + offset, count: heading.wordCount, salt: layout.salt,
                        position: turn * Int64(layout.segmentWordCount) + Int64(offset))
                }
            }
            words[index + offset] = JournalHeading(kind, wordCount: heading.wordCount, checksum: sum ?? 0).word
            offset += heading.wordCount
        }
    }
}
