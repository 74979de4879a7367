import CJournal
package import Foundation

/// File operations that survive a power cut; they throw `POSIXError`.
package enum DurableFile {
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

    package static func sync(_ descriptor: Int32) throws {
        #if canImport(Darwin)
        // fsync(2) on Darwin leaves the bytes in the drive's buffer.
        if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
        #endif
        try check(fsync(descriptor))
    }

    /// Renames a synced file and syncs the folder.
    package static func rename(_ temporary: String, to file: URL) throws {
        try check(Foundation.rename(temporary, file.path(percentEncoded: false)))
        try syncFolder(file.deletingLastPathComponent())
    }

    /// Gives a synced file a second name and syncs the folder; returns `false` if the name is taken.
    static func link(_ temporary: String, to file: URL) throws -> Bool {
        if Foundation.link(temporary, file.path(percentEncoded: false)) < 0 {
            guard errno == EEXIST else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
            return false
        }
        try syncFolder(file.deletingLastPathComponent())
        return true
    }

    package static func syncFolder(_ folder: URL) throws {
        try withDescriptor(of: folder.path(percentEncoded: false), O_RDONLY | O_DIRECTORY, sync)
    }

    /// Opens a file with a descriptor above 2. In a process without standard input, output and errors, the next files get
    /// their numbers, and what the app prints.
    package static func open(_ path: String, _ flags: Int32) -> Int32 {
        let descriptor = Foundation.open(path, flags | O_CLOEXEC, 0o600)
        guard (0...STDERR_FILENO).contains(descriptor) else { return descriptor }
        let higher = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
        let reason = errno
        close(descriptor)
        errno = reason
        return higher
    }

    package static func withDescriptor(of path: String, _ flags: Int32, _ body: (Int32) throws -> Void) throws {
        let descriptor = open(path, flags)
        try check(descriptor)
        defer { close(descriptor) }
        try body(descriptor)
    }

    /// Opens our own regular file in a folder that other users may write to; never follows a link.
    ///
    /// - Returns: -1 and `errno`: `ELOOP` for a link of either kind, `EPERM` for no file or another user's.
    static func openOwn(_ path: String, _ flags: Int32) -> Int32 {
        // `O_NONBLOCK`, because opening a pipe would wait for its other end.
        let descriptor = open(path, flags | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return -1 }
        var file = stat()
        guard fstat(descriptor, &file) == 0, file.st_mode & S_IFMT == S_IFREG, !isForeign(file, at: path) else {
            close(descriptor)
            errno = EPERM
            return -1
        }
        // A hard link could lead to another file of this user.
        guard file.st_nlink <= 1 else {
            close(descriptor)
            errno = ELOOP
            return -1
        }
        // The app may have created the folder, which is then in backups.
        if flags & O_CREAT != 0, file.st_size == 0 { StoreFolder.excludeFromBackup(URL(filePath: path)) }
        return descriptor
    }

    /// Reads a configuration file that no other user can have created; `nil` if it doesn't exist.
    package static func trustedBytes(of path: String) throws -> [UInt8]? {
        var folder = stat()
        let isShared =
            stat(URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false), &folder) == 0
            && folder.st_mode & (S_IWGRP | S_IWOTH) != 0
        let descriptor = isShared ? openOwn(path, O_RDONLY) : open(path, O_RDONLY | O_NONBLOCK)
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

    /// Returns why a folder can't be trusted, as the end of a sentence; `nil` if it can, or doesn't exist.
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

    /// Whether another user may have created the file of that name; `false` if there is none.
    package static func isForeign(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && isForeign(status, at: path)
    }

    private static func isForeign(_ file: stat, at path: String) -> Bool {
        var folder = stat()
        guard stat(URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false), &folder) == 0 else {
            return true
        }
        return file.st_uid != geteuid() && file.st_uid != folder.st_uid
            && folder.st_mode & (S_IWGRP | S_IWOTH) != 0
    }

    package static func check(_ status: Int32) throws {
        if status < 0 { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }
}

/// An open file that a forked child releases, with its locks and mapping.
///
/// The table in forking.h must exist once in a process, so nothing here may be inlined into another file.
final class ParentsFile: Sendable {
    private let index: Int32

    private static let watchesForks: Void = waybill_watch_forks()

    @inline(never)
    init(_ descriptor: Int32, mapping: UnsafeMutableRawBufferPointer? = nil) {
        _ = Self.watchesForks
        index = waybill_add_file(descriptor, mapping?.baseAddress, mapping?.count ?? 0)
    }

    @inline(never)
    deinit { waybill_remove_file(index) }
}
