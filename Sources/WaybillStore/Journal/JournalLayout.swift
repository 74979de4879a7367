import Foundation
import WaybillAtomics
import WaybillCore

/// The layout of a journal: a header, then segments that are reused in turn.
///
/// Positions count words of 8 bytes since the first record and never repeat. The quotient `position / segmentWordCount`
/// is the segment's turn.
struct JournalLayout: Equatable {
    /// `WBILJRNL`, read as a little-endian word.
    static let magic: UInt64 = 0x4C4E_524A_4C49_4257
    /// The version that this code writes, and the highest that it reads.
    static let version: UInt64 = 1
    /// Each segment begins with its turn plus one, the sequence before its first fact, and the checksum of both.
    static let segmentHeaderWordCount = 3
    static let pageWordCount = 512

    /// The positions of the header's words; a description of the source follows as JSON.
    enum HeaderWord {
        static let magic = 0, version = 1, wordCount = 2, salt = 3, segmentWordCount = 4, segmentCount = 5,
            startMicroseconds = 6
        static let descriptionByteCount = 7, checksum = 8
        /// The highest drained sequence, sealed. Outside SQLite, it reveals a database that was rolled back.
        static let drained = 9
        static let refused = 10
        /// How the process ended, if known; see ``EndMark``.
        static let end = 11
        /// The device's boot; 0 if it is unknown.
        static let boot = 12

        static let count = 13
        /// The words that change while the journal is used, and the checksum, which leaves them out.
        static let changing = checksum..<boot
    }

    let headerWordCount: Int
    /// A power of two, to find positions without a division.
    let segmentWordCount: Int
    let segmentCount: Int
    /// Random for each file, to reject another journal's remains on the disk.
    let salt: UInt64

    private let turnShift: Int

    /// Returns `nil` if a count is not a power of two.
    init?(headerWordCount: Int, segmentWordCount: Int, segmentCount: Int, salt: UInt64) {
        guard segmentWordCount > Self.segmentHeaderWordCount, segmentWordCount.nonzeroBitCount == 1,
            segmentCount.nonzeroBitCount == 1,
            segmentCount > 0
        else { return nil }
        self.headerWordCount = headerWordCount
        self.segmentWordCount = segmentWordCount
        self.segmentCount = segmentCount
        self.salt = salt
        turnShift = segmentWordCount.trailingZeroBitCount
    }

    var wordCount: Int { headerWordCount + segmentWordCount * segmentCount }
    var largestRecordWordCount: Int { segmentWordCount - Self.segmentHeaderWordCount }

    @inline(__always)
    func index(of position: Int64) -> Int {
        headerWordCount &+ Int(truncatingIfNeeded: position) & (segmentCount &<< turnShift &- 1)
    }

    /// Returns a count with its own checksum, because the header's checksum omits words that change.
    func sealed(_ count: Int64) -> UInt64 {
        let value = UInt64(count) & Self.countMask
        return JournalChecksum.mix(salt, value) & ~Self.countMask | value
    }

    func unsealed(_ word: UInt64) -> Int64? {
        let count = Int64(word & Self.countMask)
        return sealed(count) == word ? count : nil
    }

    private static let countMask: UInt64 = 1 << 44 - 1

    @inline(__always)
    func offset(of position: Int64) -> Int { Int(truncatingIfNeeded: position) & (segmentWordCount &- 1) }

    func checksum(ofTurn turn: Int64, base: UInt64) -> UInt64 {
        JournalChecksum.mix(JournalChecksum.mix(salt, UInt64(turn) &+ 1), base)
    }
}

/// The checksum of records, from the words, the file's salt and the position.
///
/// It detects torn and stale records, not forgery, with the folded multiplication of wyhash.
enum JournalChecksum {
    @inline(__always)
    static func mix(_ sum: UInt64, _ word: UInt64) -> UInt64 {
        fold((sum ^ word ^ 0x9E37_79B9_7F4A_7C15).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93))
    }

    /// Each multiplication takes two words and does not wait for another.
    @inline(__always)
    static func sum(
        _ kind: JournalRecord.Kind, _ words: UnsafePointer<UInt64>, count: Int, salt: UInt64, position: Int64
    )
        -> UInt32
    {
        var seed = salt &+ UInt64(truncatingIfNeeded: position) &* 0xA076_1D64_78BD_642F
        var sum = UInt64(truncatingIfNeeded: count) &<< 8 | UInt64(kind.rawValue)
        var index = 1
        while index &+ 1 < count {
            sum &+= fold((words[index] ^ seed).multipliedFullWidth(by: words[index &+ 1] ^ 0xE703_7ED1_A0B4_28DB))
            seed &+= 0x8EBC_6AF0_9C88_C6E3
            index &+= 2
        }
        if index < count { sum &+= fold((words[index] ^ seed).multipliedFullWidth(by: 0xE703_7ED1_A0B4_28DB)) }
        return UInt32(truncatingIfNeeded: mix(seed, sum) >> 16)
    }

    @inline(__always)
    private static func fold(_ product: (high: UInt64, low: UInt64)) -> UInt64 { product.high ^ product.low }
}

/// The first word of a record, published last: checksum, size and kind.
struct JournalHeading {
    var word: UInt64

    init(word: UInt64) { self.word = word }

    @inline(__always)
    init(_ kind: JournalRecord.Kind, wordCount: Int, checksum: UInt32) {
        word = UInt64(checksum) << 32 | UInt64(UInt32(truncatingIfNeeded: wordCount)) << 8 | UInt64(kind.rawValue)
    }

    var kind: JournalRecord.Kind? { JournalRecord.Kind(rawValue: UInt8(truncatingIfNeeded: word)) }
    var wordCount: Int { Int(word >> 8 & 0xFF_FFFF) }
    var checksum: UInt32 { UInt32(truncatingIfNeeded: word >> 32) }
}

package struct JournalSize: Sendable {
    package var segmentCount: Int
    package var segmentByteCount: Int
    /// `nil` maps the file where that is safe.
    package var isMapped: Bool?

    /// The defaults, 8 segments of 256 KiB, hold about 50,000 events.
    package init(segmentCount: Int = 8, segmentByteCount: Int = 256 * 1024, isMapped: Bool? = nil) {
        self.segmentCount = segmentCount
        self.segmentByteCount = segmentByteCount
        self.isMapped = isMapped
    }
}

package enum OpenLimit {
    package static let standard = 100_000
    /// The maximum that apps can set: a segment counts its facts in 20 bits.
    package static let most = 500_000
}
