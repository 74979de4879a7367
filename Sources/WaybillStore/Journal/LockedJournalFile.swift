import CJournal
import Foundation
import WaybillCore

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
