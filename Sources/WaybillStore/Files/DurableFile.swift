import CJournal
package import Foundation

/// What makes files stay through a power cut; each throws what the system says as a `POSIXError`.
package enum DurableFile {
    /// Writes all of the bytes.
    package static func write(_ bytes: [UInt8], to descriptor: Int32) throws {
        try bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Foundation.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0 && errno == EINTR { continue }
                try check(Int32(truncatingIfNeeded: min(count, 0)))
                rest = rest.dropFirst(count)
            }
        }
    }

    /// Waits until what was written is on the disk.
    package static func sync(_ descriptor: Int32) throws {
        #if canImport(Darwin)
        // fsync(2) there leaves the bytes in the drive's own buffer.
        if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
        #endif
        try check(fsync(descriptor))
    }

    /// Gives a complete file that is on the disk its name, in place of one of that name. A rename is on the disk when
    /// the folder is.
    package static func rename(_ temporary: String, to file: URL) throws {
        try check(Foundation.rename(temporary, file.path(percentEncoded: false)))
        try syncFolder(file.deletingLastPathComponent())
    }

    /// Gives a complete file that is on the disk a second name, which is on the disk then, too.
    ///
    /// - Returns: Whether it has it: false where something has that name already, which stays.
    static func link(_ temporary: String, to file: URL) throws -> Bool {
        if Foundation.link(temporary, file.path(percentEncoded: false)) < 0 {
            guard errno == EEXIST else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
            return false
        }
        try syncFolder(file.deletingLastPathComponent())
        return true
    }

    /// Makes what was made, renamed or removed in a folder stay.
    package static func syncFolder(_ folder: URL) throws {
        try withDescriptor(of: folder.path(percentEncoded: false), O_RDONLY | O_DIRECTORY, sync)
    }

    /// Opens a file, which only its owner may read where it is made, and closes it again.
    package static func withDescriptor(of path: String, _ flags: Int32, _ body: (Int32) throws -> Void) throws {
        let descriptor = open(path, flags | O_CLOEXEC, 0o600)
        try check(descriptor)
        defer { close(descriptor) }
        try body(descriptor)
    }

    /// Opens a file of our own in a folder that others may be able to write to: never by way of a link, nor one that
    /// somebody else has put there.
    ///
    /// - Parameter flags: Of open(2); what it makes, only its owner may read.
    /// - Returns: -1, with `errno`, as open(2): `ELOOP` for a link of either kind, `EPERM` for what is no file, or
    ///   somebody else's.
    static func openOwn(_ path: String, _ flags: Int32) -> Int32 {
        // Without waiting: to open a pipe is to wait for somebody at its other end.
        let descriptor = open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return -1 }
        var file = stat()
        guard fstat(descriptor, &file) == 0, file.st_mode & S_IFMT == S_IFREG, !isForeign(file, at: path) else {
            close(descriptor)
            errno = EPERM
            return -1
        }
        // By a second name, a hard link, another file of this user would be written.
        guard file.st_nlink <= 1 else {
            close(descriptor)
            errno = ELOOP
            return -1
        }
        // Its folder may be one that the app has made, and that is in backups.
        if flags & O_CREAT != 0, file.st_size == 0 { StoreFolder.excludeFromBackup(URL(filePath: path)) }
        return descriptor
    }

    /// Reads a file that says what we do, such as who may ask a collector: never one that somebody else may have put there.
    ///
    /// In a folder that only its owner may write to, it may be a link.
    ///
    /// - Returns: nil where there is none.
    package static func trustedBytes(of path: String) throws -> [UInt8]? {
        var folder = stat()
        let isShared =
            stat(URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false), &folder) == 0
            && folder.st_mode & (S_IWGRP | S_IWOTH) != 0
        let descriptor = isShared ? openOwn(path, O_RDONLY) : open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        if descriptor < 0, errno == ENOENT { return nil }
        try check(descriptor)
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &piece, piece.count)
            if count < 0 && errno == EINTR { continue }
            try check(Int32(truncatingIfNeeded: min(count, 0)))
            guard count > 0 else { return bytes }
            bytes += piece[..<count]
        }
    }

    /// What is wrong with a folder that is to be trusted, as the end of a sentence; nil where nothing is, or where there
    /// is no such folder yet.
    ///
    /// Where others can write to the folder around it, they could have made it, or a link of that name.
    package static func reasonToDistrust(folder: URL) -> String? {
        var path = folder.path(percentEncoded: false)
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        var (status, outer) = (stat(), stat())
        guard lstat(path, &status) == 0,
            stat(URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false), &outer) == 0,
            outer.st_mode & (S_IWGRP | S_IWOTH) != 0
        else { return nil }
        if status.st_mode & S_IFMT == S_IFLNK { return "is a link in a folder that others can write to" }
        return isForeign(status, at: path)
            ? "belongs to another user, who was able to write to the folder around it" : nil
    }

    /// Whether somebody else may have put there what has that name; false where there is nothing.
    package static func isForeign(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && isForeign(status, at: path)
    }

    /// Neither this user nor the folder's owner did, in a folder that more than its owner may write to.
    private static func isForeign(_ file: stat, at path: String) -> Bool {
        var folder = stat()
        guard stat(URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false), &folder) == 0 else {
            return true
        }
        return file.st_uid != geteuid() && file.st_uid != folder.st_uid
            && folder.st_mode & (S_IWGRP | S_IWOTH) != 0
    }

    /// Throws what `errno` says where a call returned a negative number.
    package static func check(_ status: Int32) throws {
        if status < 0 { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }
}

/// An open file that a forked child lets go of, with the locks on it and its mapping: they are its parent's.
///
/// What C keeps for all of them (forking.h) is there once: no other file uses it, and nothing here is inlined into one that
/// could.
final class ParentsFile: Sendable {
    private let index: Int32

    private static let watchesForks: Void = waybill_watch_forks()

    /// Registers an open file until this is let go of, which has to be before the file is closed.
    ///
    /// - Parameter mapping: Where it is mapped; `nil` if it is not.
    @inline(never)
    init(_ descriptor: Int32, mapping: UnsafeMutableRawBufferPointer? = nil) {
        _ = Self.watchesForks
        index = waybill_add_file(descriptor, mapping?.baseAddress, mapping?.count ?? 0)
    }

    @inline(never)
    deinit { waybill_remove_file(index) }
}
