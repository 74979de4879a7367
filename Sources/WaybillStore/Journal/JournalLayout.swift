import CJournal
import Foundation
import WaybillAtomics
import WaybillCore

/// Where things lie in a journal: a header, then segments that are used in turn, again and again.
///
/// Positions are counted in words of 8 bytes from the first record ever written, and never repeat; the segment of a
/// position is used for the `position / segmentWordCount`-th time round.
struct JournalLayout: Hashable {
    /// `WBILJRNL`, read as a little-endian word.
    static let magic: UInt64 = 0x4C4E_524A_4C49_4257
    /// What this code writes, and the highest that it reads: 2 since the header says how the process ended.
    static let version: UInt64 = 2
    /// Words at the start of each segment: its turn plus one, the sequence before its first fact, the checksum of both.
    static let segmentHeaderWordCount = 3
    /// Words in a page, to which the header is rounded.
    static let pageWordCount = 512

    /// Where words of the header stand. What follows is a description of the source, as JSON.
    enum HeaderWord {
        static let magic = 0, version = 1, wordCount = 2, salt = 3, segmentWordCount = 4, segmentCount = 5,
            startMicroseconds = 6
        static let descriptionByteCount = 7, checksum = 8
        /// The highest sequence that was drained, sealed: outside SQLite, so that a database that is rolled back cannot
        /// balance by forgetting.
        static let drained = 9
        /// Facts refused so far, when it was last drained; sealed.
        static let refused = 10
        /// How the process ended, as far as it could note that; see ``EndMark``. Since version 2, as is the next.
        static let end = 11
        /// In which boot of the device; 0 where the system does not say.
        static let boot = 12

        /// Those whose checksum is their own, and how many there are.
        static func extent(_ version: UInt64) -> (changing: Range<Int>, count: Int) {
            version > 1 ? (checksum..<boot, boot + 1) : (checksum..<end, end)
        }
    }

    let headerWordCount: Int
    /// A power of two, so that places are found without a division.
    let segmentWordCount: Int
    /// A power of two.
    let segmentCount: Int
    /// Random, for each file: what another journal left on the disk does not pass for a record of this one.
    let salt: UInt64

    private let turnShift: Int

    /// - Returns: nil where a number of segments, or of their words, is not a power of two.
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
    /// The longest record.
    var largestRecordWordCount: Int { segmentWordCount - Self.segmentHeaderWordCount }

    /// Where in the file a position lies.
    @inline(__always)
    func index(of position: Int64) -> Int {
        headerWordCount &+ Int(truncatingIfNeeded: position) & (segmentCount &<< turnShift &- 1)
    }

    /// A count in one word with its own checksum, because the header's does not cover what changes.
    func sealed(_ count: Int64) -> UInt64 {
        let value = UInt64(count) & Self.countMask
        return JournalChecksum.mix(salt, value) & ~Self.countMask | value
    }

    /// The count in a word; nil where the word is damaged.
    func unsealed(_ word: UInt64) -> Int64? {
        let count = Int64(word & Self.countMask)
        return sealed(count) == word ? count : nil
    }

    private static let countMask: UInt64 = 1 << 44 - 1

    /// Where in its segment a position lies.
    @inline(__always)
    func offset(of position: Int64) -> Int { Int(truncatingIfNeeded: position) & (segmentWordCount &- 1) }

    /// Checks what a segment's first words say of it.
    func checksum(ofTurn turn: Int64, base: UInt64) -> UInt64 {
        JournalChecksum.mix(JournalChecksum.mix(salt, UInt64(turn) &+ 1), base)
    }
}

/// The checksum of records: 32 bits that depend on the words, the file's salt and the position.
///
/// Against torn and stale records, not against forgery. Made of full multiplications, folded: the mixing step of wyhash
/// and similar functions.
enum JournalChecksum {
    @inline(__always)
    static func mix(_ sum: UInt64, _ word: UInt64) -> UInt64 {
        fold((sum ^ word ^ 0x9E37_79B9_7F4A_7C15).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93))
    }

    /// Of a record's kind and of the words after the heading: two for each multiplication, which do not wait for one
    /// another.
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

/// How large a journal is, and how it is written.
package struct JournalSize: Sendable {
    /// A power of two, as is the next.
    package var segmentCount: Int
    package var segmentByteCount: Int
    /// Whether the file is mapped; nil: where that is safe.
    package var isMapped: Bool?

    /// 8 segments of 256 KiB, room for about 50,000 events, unless told otherwise.
    package init(segmentCount: Int = 8, segmentByteCount: Int = 256 * 1024, isMapped: Bool? = nil) {
        self.segmentCount = segmentCount
        self.segmentByteCount = segmentByteCount
        self.isMapped = isMapped
    }
}

/// Where a journal notes how its process ended: one word of its header, which `exit` sets and, where that is asked for,
/// the handler of a signal.
///
/// A process that is killed sets nothing. What C keeps for all journals (ending.h) is there once: no other file uses it,
/// and nothing here is inlined into one that could.
struct EndMark {
    private let index: Int32

    /// Has the end of this process noted in a journal, and sets the word to what it says where nothing is.
    ///
    /// - Parameters:
    ///   - word: In memory; stays there until ``stop(_:)``.
    ///   - layout: The journal's.
    ///   - file: Where the word has to be written besides; nil: it gets into the file by itself.
    ///   - catchesSignals: Whether signals that end the process are noted, too; from now on they are for all journals
    ///     of the process.
    @inline(never)
    init(_ word: UnsafeMutablePointer<UInt64>, _ layout: JournalLayout, file: Int32?, catchesSignals: Bool) {
        let isCaught = catchesSignals || Self.catchesSignals.load(ordering: .relaxed)
        word.pointee = layout.endSeal | UInt64(isCaught ? waybill_end_unseen : waybill_end_unwatched)
        Self.watchExit()
        if catchesSignals, !Self.catchesSignals.exchange(true) { waybill_catch_signals() }
        index = waybill_watch(
            word, layout.endSeal, file ?? -1, off_t(JournalLayout.HeaderWord.end * MemoryLayout<UInt64>.size))
        if index < 0 { word.pointee = layout.endSeal | UInt64(waybill_end_unwatched) }
    }

    private static let watchesExit = Atomic(false)
    private static let catchesSignals = Atomic(false)

    /// Has `exit` note the end of the process in each journal.
    @inline(never)
    static func watchExit() {
        guard !watchesExit.exchange(true) else { return }
        waybill_watch_exit { waybill_note(UInt64(waybill_end_exit)) }
    }

    /// Nothing more is noted in the word.
    @inline(never)
    func stop(_ word: UnsafeMutablePointer<UInt64>) { waybill_unwatch(index, word) }
}

extension JournalLayout {
    /// The upper bits of the word that says how the process ended: what else stands there is damage.
    fileprivate var endSeal: UInt64 { JournalChecksum.mix(salt, UInt64(HeaderWord.end)) & ~Self.endMask }

    private static let endMask: UInt64 = 0xFFFF

    /// What the header's words say of how the process ended; nil: nothing that could be told.
    ///
    /// - Parameter boot: The present one.
    func end(_ words: [UInt64], boot: String) -> SourceEnd? {
        guard words[HeaderWord.version] > 1 else { return nil }
        let noted = words[HeaderWord.end]
        let then = words[HeaderWord.boot]
        let isOtherBoot = then != 0 && bootWord(boot) != 0 && then != bootWord(boot)
        let unwatched: SourceEnd? = isOtherBoot ? .reboot : nil
        guard noted & ~Self.endMask == endSeal else { return unwatched }
        switch noted & Self.endMask {
        case UInt64(waybill_end_exit): return .exit
        case UInt64(waybill_end_unseen): return isOtherBoot ? .reboot : .system
        case let number: return Self.signals[Int32(number)].map { .signal($0) } ?? unwatched
        }
    }

    /// Stands for a boot of the device, which it tells nobody.
    ///
    /// - Parameter boot: The system's ID of it; empty: it does not say.
    /// - Returns: 0 where the system does not say.
    func bootWord(_ boot: String) -> UInt64 {
        boot.isEmpty ? 0 : boot.utf8.reduce(salt) { JournalChecksum.mix($0, UInt64($1)) } | 1
    }

    /// The signals that are caught.
    private static let signals: [Int32: String] = [
        SIGHUP: "SIGHUP", SIGINT: "SIGINT", SIGQUIT: "SIGQUIT", SIGILL: "SIGILL", SIGTRAP: "SIGTRAP",
        SIGABRT: "SIGABRT", SIGBUS: "SIGBUS", SIGFPE: "SIGFPE", SIGSEGV: "SIGSEGV", SIGSYS: "SIGSYS",
        SIGPIPE: "SIGPIPE", SIGTERM: "SIGTERM", SIGXCPU: "SIGXCPU",
    ]
}

/// How many transactions and exchanges may be open at once, in memory and in the journal that takes over from it.
package enum OpenLimit {
    /// What an app gets unless it says otherwise.
    package static let standard = 100_000
    /// The most that it can ask for: a segment of the journal counts its facts in 20 bits.
    package static let most = 500_000
}
