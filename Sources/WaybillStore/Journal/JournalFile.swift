import CAtomicWords
import CJournal
import Foundation
import WaybillAtomics
import WaybillCore

/// The file of a journal, locked for as long as its source runs, and its words in memory.
///
/// Mapped where a mapped write cannot fail once the file's room is allocated; elsewhere the words are this process's
/// own, and each record is written to the file besides. Either way it outlives the process.
// right because `words` is only used as `Journal` says, and everything else is immutable
final class JournalFile: @unchecked Sendable {
    let layout: JournalLayout
    let words: UnsafeMutablePointer<UInt64>
    /// Whether records reach the file by themselves.
    let isMapped: Bool

    private let file: LockedJournalFile
    private let endMark: EndMark
    private let failure = Atomic<Int32>(0)
    /// Whether records that reach the file do not outlive the process: it was deleted, or left.
    private let isDetached = Atomic(false)
    private let isLeft = Atomic(false)

    /// Makes the journal of a source that starts now.
    ///
    /// - Parameters:
    ///   - file: Its file, empty, and locked.
    ///   - description: What recovery has to know of the source.
    ///   - boot: The device's present boot; empty: the system does not say.
    ///   - catchesSignals: Whether it notes by which signal the process ends.
    /// - Throws: Where there is no room for it.
    init(
        _ file: LockedJournalFile, description: [UInt8], startMicroseconds: Int64,
        salt: UInt64 = .random(in: .min ... .max),
        size: JournalSize = JournalSize(), boot: String = Moment.thisBoot, catchesSignals: Bool = false
    ) throws(WaybillError) {
        let wordCount = JournalLayout.HeaderWord.extent(JournalLayout.version).count
        let headerBytes = (wordCount + JournalWordCounter.words(description.count)) * 8
        let pageBytes = JournalLayout.pageWordCount * 8
        let layout = JournalLayout(
            headerWordCount: (headerBytes + pageBytes - 1) / pageBytes * JournalLayout.pageWordCount,
            segmentWordCount: size.segmentByteCount / 8, segmentCount: size.segmentCount, salt: salt)
        guard let layout else {
            throw WaybillError(
                .store, "\(size.segmentCount) segments of \(size.segmentByteCount) bytes: both must be powers of two.")
        }
        self.layout = layout
        self.file = file
        let byteCount = layout.wordCount * 8
        guard file.allocate(byteCount) else {
            throw WaybillError(
                .store,
                "There is no room for the journal \(file.path) of \(byteCount / 1024) KiB; what is recorded waits in memory.",
                cause: String(cString: strerror(errno)))
        }
        isMapped = size.isMapped ?? file.canBeMapped
        // What is written to a file is in memory at once; the first write to a mapped page reads many others before it.
        if isMapped {
            let start = [UInt8](repeating: 0, count: min(byteCount, Self.writtenByteCount))
            _ = pwrite(file.descriptor, start, start.count, 0)
        }
        let (flags, descriptor) = isMapped ? (MAP_SHARED, file.descriptor) : (MAP_PRIVATE | MAP_ANON, -1)
        guard let memory = mmap(nil, byteCount, PROT_READ | PROT_WRITE, flags, descriptor, 0), memory != MAP_FAILED
        else {
            throw WaybillError(
                .store, "The journal \(file.path) cannot be mapped; what is recorded waits in memory.",
                cause: String(cString: strerror(errno)))
        }
        words = memory.bindMemory(to: UInt64.self, capacity: layout.wordCount)
        if isMapped { file.leaveToParent(UnsafeMutableRawBufferPointer(start: memory, count: byteCount)) }
        endMark = EndMark(
            words + JournalLayout.HeaderWord.end, layout, file: isMapped ? nil : file.descriptor,
            catchesSignals: catchesSignals)
        writeHeader(description, startMicroseconds: startMicroseconds, boot: boot)
    }

    /// Bytes at the start that the first records meet in memory.
    private static let writtenByteCount = 64 << 10

    deinit {
        endMark.stop(words + JournalLayout.HeaderWord.end)
        file.leaveToParent(nil)
        munmap(words, layout.wordCount * 8)
    }

    /// Waits until the file is on the disk under its name, with its header: what is lost of the records can then be
    /// counted.
    func sync() throws {
        // Before anything waits for the disk: a page that is not in memory yet cannot be written once the file system was
        // shut down.
        touch()
        try DurableFile.sync(file.descriptor)
        try DurableFile.syncFolder(URL(filePath: file.path).deletingLastPathComponent())
        touch()
    }

    /// Makes sure that no call that records waits for a page: the system takes the permission to write from pages that
    /// it brings to the disk.
    func touch() {
        #if os(Linux)
        if isMapped, !isLeft.load(ordering: .relaxed) { waybill_make_writable(words, layout.wordCount * 8) }
        #endif
    }

    /// Leaves the file as it is, for the next launch: what is recorded from now on is in memory alone.
    ///
    /// For a store that has to be kept in memory: there nothing outlives the process, so that what was journaled must
    /// not be overwritten.
    func leave() {
        guard !isLeft.exchange(true) else { return }
        isDetached.store(true, ordering: .sequentiallyConsistent)
        #if os(Linux)
        if isMapped { waybill_detach(words, layout.wordCount * 8, file.descriptor) }
        #endif
    }

    /// Takes the file away that was left: what it holds is erased from the store.
    func removeIfLeft() { if isLeft.load(ordering: .relaxed) { remove() } }

    /// Takes the file away: everything in it is in the store.
    func remove() { unlink(file.path) }

    /// Brings words to the file, where they do not get there by themselves; false where that fails, as ``problem``
    /// says.
    ///
    /// A journal that can no longer be written is still drained from memory, and what is missing in the file reads as
    /// room that was never used.
    @discardableResult
    func write(_ range: Range<Int>) -> Bool {
        if isMapped { return isWrittenByItself }
        guard !isLeft.load(ordering: .relaxed) else { return false }
        let isWritten =
            pwrite(file.descriptor, words + range.lowerBound, range.count * 8, off_t(range.lowerBound * 8)) == range
            .count * 8
        failure.store(isWritten ? 0 : errno, ordering: .relaxed)
        return isWritten && !isDetached.load(ordering: .relaxed)
    }

    /// Overwrites words, in memory and in the file, that nobody writes to meanwhile.
    ///
    /// - Parameter start: From where on all is zero already, up to the words; nil: only they are.
    func clear(_ range: Range<Int>, zeroSince start: Int? = nil) {
        if isMapped || !replacePages(of: range, zeroSince: start ?? range.lowerBound) {
            (words + range.lowerBound).update(repeating: 0, count: range.count)
        }
        write(range)
    }

    /// Has the system take the pages back, and give others when they are used next; false where it did not.
    private func replacePages(of range: Range<Int>, zeroSince zero: Int) -> Bool {
        let pageBytes = UInt(getpagesize())
        let (start, end) = (UInt(bitPattern: words + range.lowerBound), UInt(bitPattern: words + range.upperBound))
        let firstWhole = (UInt(bitPattern: words + zero) + pageBytes - 1) / pageBytes * pageBytes
        let (first, last) = (max(firstWhole, start / pageBytes * pageBytes), end / pageBytes * pageBytes)
        guard first < last, let address = UnsafeMutableRawPointer(bitPattern: first) else { return false }
        let flags = MAP_PRIVATE | MAP_ANON | MAP_FIXED
        guard mmap(address, Int(last - first), PROT_READ | PROT_WRITE, flags, -1, 0) == address else { return false }
        // What of them lies on pages that others use as well.
        if first > start { memset(words + range.lowerBound, 0, Int(first - start)) }
        if let rest = UnsafeMutableRawPointer(bitPattern: last) { memset(rest, 0, Int(end - last)) }
        return true
    }

    /// Whether a record is in the file, under its name, as soon as it is in the words.
    @inline(__always)
    var isWrittenByItself: Bool { isMapped && !isDetached.load(ordering: .relaxed) }

    /// Notices that the file was deleted: then what is in it does not survive the process.
    func checkPresence() {
        var status = stat()
        if fstat(file.descriptor, &status) == 0, status.st_nlink == 0 { isDetached.store(true, ordering: .relaxed) }
    }

    /// Why the last write failed; nil when it did not.
    var problem: WaybillError? {
        // Of a file that was left, the store says why.
        guard !isLeft.load(ordering: .relaxed) else { return nil }
        if isDetached.load(ordering: .relaxed) {
            return WaybillError(
                .store, "The journal \(file.path) was deleted; what is recorded waits in memory until the next launch.")
        }
        let code = failure.load(ordering: .relaxed)
        guard code != 0 else { return nil }
        return WaybillError(
            .store, "The journal \(file.path) cannot be written; what is recorded waits in memory.",
            cause: String(cString: strerror(code)))
    }

    /// Sets one of the header's words that change.
    func setHeader(_ index: Int, to value: Int64) {
        waybill_store_release(words + index, layout.sealed(value))
        write(index..<index + 1)
    }

    private func writeHeader(_ description: [UInt8], startMicroseconds: Int64, boot: String) {
        typealias Word = JournalLayout.HeaderWord
        words[Word.magic] = JournalLayout.magic
        words[Word.version] = JournalLayout.version
        words[Word.wordCount] = UInt64(layout.headerWordCount)
        words[Word.salt] = layout.salt
        words[Word.segmentWordCount] = UInt64(layout.segmentWordCount)
        words[Word.segmentCount] = UInt64(layout.segmentCount)
        words[Word.startMicroseconds] = UInt64(bitPattern: Int64(startMicroseconds))
        words[Word.descriptionByteCount] = UInt64(description.count)
        words[Word.boot] = layout.bootWord(boot)
        UnsafeMutableRawPointer(words + Word.extent(JournalLayout.version).count).copyMemory(
            from: description, byteCount: description.count)
        words[Word.checksum] = JournalFile.headerChecksum(words, layout.headerWordCount)
        write(0..<layout.headerWordCount)
    }

    /// Of all of the header that does not change.
    static func headerChecksum(_ words: UnsafePointer<UInt64>, _ count: Int) -> UInt64 {
        typealias Word = JournalLayout.HeaderWord
        var sum = JournalLayout.magic
        let changing = Word.extent(words[Word.version]).changing
        for index in 0..<count where !changing.contains(index) { sum = JournalChecksum.mix(sum, words[index]) }
        return sum
    }
}

/// The journal's file, which is locked for as long as its source runs: that tells sources that run from those that have
/// ended, also after SIGKILL.
///
/// `flock`, never `fcntl`, whose locks are lost when any descriptor of the file is closed. An Apple system ends an app
/// that it suspends with such a lock in the container of an app group; in its own container it may have one.
final class LockedJournalFile {
    let descriptor: Int32
    let path: String
    private var parents: ParentsFile?

    /// Locks the file of a source; the lock goes with the process. Waits for those who are just looking whether it is
    /// locked.
    convenience init(of source: GUID, in folder: URL) throws(WaybillError) {
        try self.init(path: Self.path(of: source, in: folder), waits: true)
    }

    /// Locks a file, and makes it where it is missing.
    ///
    /// - Throws: Also where it is locked already: its source runs. Unless it `waits`.
    init(path: String, waits: Bool = false) throws(WaybillError) {
        self.path = path
        descriptor = Self.lock(path, waits: waits)
        guard descriptor >= 0 else {
            throw WaybillError(
                .store, "\(path) cannot be made and locked. Check the permissions of its folder.",
                cause: String(cString: strerror(errno)))
        }
        parents = ParentsFile(descriptor)
    }

    /// Has a forked child let go of a mapping of the file, too, which would keep the lock as well; `nil` before it is
    /// unmapped.
    func leaveToParent(_ mapping: UnsafeMutableRawBufferPointer?) {
        parents = nil
        parents = ParentsFile(descriptor, mapping: mapping)
    }

    /// A descriptor that has the lock of the file of that name; -1, with `errno`, where there is none.
    private static func lock(_ path: String, waits: Bool) -> Int32 {
        while true {
            let descriptor = DurableFile.openOwn(path, O_RDWR | O_CREAT)
            guard descriptor >= 0 else { return -1 }
            let status = flock(descriptor, waits ? LOCK_EX : LOCK_EX | LOCK_NB)
            var (mine, named) = (stat(), stat())
            if status == 0, fstat(descriptor, &mine) == 0, stat(path, &named) == 0, mine.st_ino == named.st_ino {
                return descriptor
            }
            let reason = errno
            close(descriptor)
            errno = reason
            // Before it was locked, another process took it for one of a process that had ended, and removed it: what
            // is written to it would be gone.
            guard status == 0 || (waits && reason == EINTR) else { return -1 }
        }
    }

    deinit {
        parents = nil
        if descriptor >= 0 { close(descriptor) }
    }

    /// Whether the source runs.
    static func isLocked(for source: GUID, in folder: URL) -> Bool {
        let descriptor = DurableFile.openOwn(path(of: source, in: folder), O_RDWR)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    static let prefix = "journal-"
    /// What follows the name of a journal that a newer version of Waybill has written.
    static let newerSuffix = ".newer"

    /// Whether there is a journal of a source, one of a newer version included.
    static func isThere(for source: GUID, in folder: URL) -> Bool {
        let path = path(of: source, in: folder)
        return access(path, F_OK) == 0 || access(path + newerSuffix, F_OK) == 0
    }

    /// The sources whose journals lie in a folder, whether they run or not.
    static func sources(in folder: URL) -> [GUID] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))) ?? []
        return names.sorted().compactMap { $0.hasPrefix(prefix) ? GUID($0.dropFirst(prefix.count)) : nil }
    }

    static func path(of source: GUID, in folder: URL) -> String {
        folder.appending(path: prefix + source.description).path(percentEncoded: false)
    }

    // MARK: As a file to write to

    /// Gives the file room on the disk, zeroed; false, with `errno`, where there is none.
    func allocate(_ byteCount: Int) -> Bool {
        // An attempt before this one may have left records.
        guard ftruncate(descriptor, 0) == 0 else { return false }
        #if canImport(Darwin)
        // Not preallocated: on these systems it is not mapped, and a write that fails is no signal.
        return ftruncate(descriptor, off_t(byteCount)) == 0
        #else
        errno = posix_fallocate(descriptor, 0, off_t(byteCount))
        return errno == 0
        #endif
    }

    /// Whether a write to a mapped page of the file cannot fail, once its room is allocated.
    var canBeMapped: Bool {
        #if os(Linux)
        Self.canBeMapped(on: waybill_file_system(descriptor))
        #else
        false
        #endif
    }

    /// Whether a file system keeps a page where it is when the page is written again, and lets it be written after the
    /// file system was shut down or its disk is full.
    ///
    /// ext4 and tmpfs do (the case `shut down` of Tests/Faults). XFS raises SIGBUS after a shutdown and on reflinked blocks, and btrfs on a
    /// full disk. All others are unproven, so records are written to them by `pwrite`.
    ///
    /// - Parameter type: The `f_type` of statfs(2); linux/magic.h has the numbers.
    static func canBeMapped(on type: UInt32) -> Bool {
        let (ext4, tmpfs): (UInt32, UInt32) = (0xEF53, 0x0102_1994)
        return type == ext4 || type == tmpfs
    }
}
