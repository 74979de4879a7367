import CAtomicWords
import CJournal
import Foundation
import WaybillAtomics
import WaybillCore

/// The file of a journal, locked while its source runs, and its words in memory.
///
/// It is mapped if writes to the mapping can't fail; otherwise each record is also written to the file. Both survive
/// the process. `@unchecked Sendable` is right, because `Journal` coordinates access to `words`.
final class JournalFile: @unchecked Sendable {
    let layout: JournalLayout
    let words: UnsafeMutablePointer<UInt64>
    let isMapped: Bool

    private let file: LockedJournalFile
    private let endMark: EndMark
    private let failure = Atomic<Int32>(0)
    /// Whether the file was deleted or left, so new records die with the process.
    private let isDetached = Atomic(false)
    private let isLeft = Atomic(false)

    /// Creates the journal of a new source in an empty, locked file; throws if the disk has no room for it.
    init(
        _ file: LockedJournalFile, description: [UInt8], startMicroseconds: Int64,
        salt: UInt64 = .random(in: .min ... .max),
        size: JournalSize = JournalSize(), boot: String = Moment.thisBoot, catchesSignals: Bool = false
    ) throws(WaybillError) {
        let headerBytes = (JournalLayout.HeaderWord.count + JournalWordCounter.words(description.count)) * 8
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
        // The first write to a mapped page would read many others; a written page is already in memory.
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

    private static let writtenByteCount = 64 << 10

    deinit {
        endMark.stop(words + JournalLayout.HeaderWord.end)
        file.leaveToParent(nil)
        munmap(words, layout.wordCount * 8)
    }

    /// Recovery can count lost records once the header is on the disk.
    func sync() throws {
        // The pages must be in memory first: after a file system shutdown, a page that is not can't be written.
        touch()
        try DurableFile.sync(file.descriptor)
        try DurableFile.syncFolder(URL(filePath: file.path).deletingLastPathComponent())
        touch()
    }

    /// Makes the pages writable for recording calls; the system revokes write permission when it writes them to the
    /// disk.
    func touch() {
        #if os(Linux)
        if isMapped, !isLeft.load(ordering: .relaxed) { waybill_make_writable(words, layout.wordCount * 8) }
        #endif
    }

    /// Keeps the journaled facts for the next launch while the store is in memory; new records stay in memory only.
    func leave() {
        guard !isLeft.exchange(true) else { return }
        isDetached.store(true, ordering: .sequentiallyConsistent)
        #if os(Linux)
        if isMapped { waybill_detach(words, layout.wordCount * 8, file.descriptor) }
        #endif
    }

    func removeIfLeft() { if isLeft.load(ordering: .relaxed) { remove() } }

    func remove() { unlink(file.path) }

    /// Writes words to an unmapped file; returns `false` if that fails. A journal that can't be written is drained from
    /// memory, and missing words read as unused room.
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

    /// Overwrites words that no other thread writes. `start` is the first word of zeros before the range.
    func clear(_ range: Range<Int>, zeroSince start: Int? = nil) {
        if isMapped || !replacePages(of: range, zeroSince: start ?? range.lowerBound) {
            (words + range.lowerBound).update(repeating: 0, count: range.count)
        }
        write(range)
    }

    /// Replaces whole pages by fresh zero pages; returns `false` if it didn't.
    private func replacePages(of range: Range<Int>, zeroSince zero: Int) -> Bool {
        let pageBytes = UInt(getpagesize())
        let (start, end) = (UInt(bitPattern: words + range.lowerBound), UInt(bitPattern: words + range.upperBound))
        let firstWhole = (UInt(bitPattern: words + zero) + pageBytes - 1) / pageBytes * pageBytes
        let (first, last) = (max(firstWhole, start / pageBytes * pageBytes), end / pageBytes * pageBytes)
        guard first < last, let address = UnsafeMutableRawPointer(bitPattern: first) else { return false }
        let flags = MAP_PRIVATE | MAP_ANON | MAP_FIXED
        guard mmap(address, Int(last - first), PROT_READ | PROT_WRITE, flags, -1, 0) == address else { return false }
        if first > start { memset(words + range.lowerBound, 0, Int(first - start)) }
        if let rest = UnsafeMutableRawPointer(bitPattern: last) { memset(rest, 0, Int(end - last)) }
        return true
    }

    @inline(__always)
    var isWrittenByItself: Bool { isMapped && !isDetached.load(ordering: .relaxed) }

    func checkPresence() {
        var status = stat()
        if fstat(file.descriptor, &status) == 0, status.st_nlink == 0 { isDetached.store(true, ordering: .relaxed) }
    }

    /// Why the last write failed; `nil` if it succeeded.
    var problem: WaybillError? {
        // The store reports why the file was left.
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
        UnsafeMutableRawPointer(words + Word.count).copyMemory(
            from: description, byteCount: description.count)
        words[Word.checksum] = JournalFile.headerChecksum(words, layout.headerWordCount)
        write(0..<layout.headerWordCount)
    }

    static func headerChecksum(_ words: UnsafePointer<UInt64>, _ count: Int) -> UInt64 {
        typealias Word = JournalLayout.HeaderWord
        var sum = JournalLayout.magic
        for index in 0..<count where !Word.changing.contains(index) { sum = JournalChecksum.mix(sum, words[index]) }
        return sum
    }
}

/// The journal's file, whose lock tells running sources from ended ones, even after SIGKILL.
///
/// It uses `flock`, because closing any descriptor of the file releases a lock of `fcntl`. Apple's systems kill a
/// suspended app with such a lock in an app group's container, but not in its own.
final class LockedJournalFile {
    let descriptor: Int32
    let path: String
    private var parents: ParentsFile?

    /// Waits for processes that test the lock.
    convenience init(of source: GUID, in folder: URL) throws(WaybillError) {
        try self.init(path: Self.path(of: source, in: folder), waits: true)
    }

    /// Without `waits`, throws an error if the file is locked, because its source runs.
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

    /// Also lets a forked child release a mapping, which would keep the lock. Pass `nil` before unmapping.
    func leaveToParent(_ mapping: UnsafeMutableRawBufferPointer?) {
        parents = nil
        parents = ParentsFile(descriptor, mapping: mapping)
    }

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
            // Another process removed the file as a leftover before it was locked; writes to it would be lost.
            guard status == 0 || (waits && reason == EINTR) else { return -1 }
        }
    }

    deinit {
        parents = nil
        if descriptor >= 0 { close(descriptor) }
    }

    static func isLocked(for source: GUID, in folder: URL) -> Bool {
        let descriptor = DurableFile.openOwn(path(of: source, in: folder), O_RDWR)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    static let prefix = "journal-"
    static let newerSuffix = ".newer"

    static func isThere(for source: GUID, in folder: URL) -> Bool {
        let path = path(of: source, in: folder)
        return access(path, F_OK) == 0 || access(path + newerSuffix, F_OK) == 0
    }

    static func sources(in folder: URL) -> [GUID] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))) ?? []
        return names.sorted().compactMap { $0.hasPrefix(prefix) ? GUID($0.dropFirst(prefix.count)) : nil }
    }

    static func path(of source: GUID, in folder: URL) -> String {
        folder.appending(path: prefix + source.description).path(percentEncoded: false)
    }

    // MARK: As a file to write to

    func allocate(_ byteCount: Int) -> Bool {
        // An earlier attempt may have left records.
        guard ftruncate(descriptor, 0) == 0 else { return false }
        #if canImport(Darwin)
        // Darwin files are not mapped, so a failed write is an error and not a signal.
        return ftruncate(descriptor, off_t(byteCount)) == 0
        #else
        errno = posix_fallocate(descriptor, 0, off_t(byteCount))
        return errno == 0
        #endif
    }

    var canBeMapped: Bool {
        #if os(Linux)
        Self.canBeMapped(on: waybill_file_system(descriptor))
        #else
        false
        #endif
    }

    /// Whether a file system keeps rewritten pages in place, and lets them be written after a shutdown or on a full
    /// disk.
    ///
    /// ext4 and tmpfs do (the case `shut down` of Tests/Faults). XFS raises SIGBUS after a shutdown and on reflinked
    /// blocks, and btrfs on a full disk. All others are unproven.
    ///
    /// - Parameter type: The `f_type` of statfs(2), from linux/magic.h.
    static func canBeMapped(on type: UInt32) -> Bool {
        let (ext4, tmpfs): (UInt32, UInt32) = (0xEF53, 0x0102_1994)
        return type == ext4 || type == tmpfs
    }
}
