package import Foundation
package import WaybillCore

/// A file that appears whole or not at all: written under a hidden name beside its own, synced, and renamed when it is
/// complete.
///
/// Let go of before that, it leaves nothing. What a process that was killed leaves is hidden, and taken over by the
/// next that writes the same file.
package final class PartialFile {
    package let file: URL
    /// Bytes written so far.
    package private(set) var byteCount = 0

    private let path: String
    private let descriptor: Int32
    private var isOver = false

    /// The hidden name that a file has until it is complete.
    package static func partial(of file: URL) -> URL {
        file.deletingLastPathComponent().appending(path: ".\(file.lastPathComponent).partial")
    }

    /// Begins the file, which only its owner may read.
    ///
    /// - Throws: Where the folder is missing or cannot be written, a folder has the name, or another process is writing
    ///   the same file.
    package init(_ file: URL) throws(WaybillError) {
        self.file = file
        path = Self.partial(of: file).path(percentEncoded: false)
        guard !ResolvedLocation.isFolder(file) else {
            throw WaybillError(.setting, "\(file.path(percentEncoded: false)) is a folder. Name a file to write.")
        }
        descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.error(file, errno) }
        // Locked, so that what a process that has ended left is told from what a running one writes; the name may have
        // moved on before the lock was there.
        var (opened, named) = (stat(), stat())
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, fstat(descriptor, &opened) == 0, stat(path, &named) == 0,
            opened.st_ino == named.st_ino, ftruncate(descriptor, 0) == 0
        else {
            close(descriptor)
            isOver = true
            throw WaybillError(
                .setting,
                "\(file.path(percentEncoded: false)) is being written by another process. Try again when it has finished."
            )
        }
    }

    deinit {
        guard !isOver else { return }
        unlink(path)
        close(descriptor)
    }

    /// Adds bytes.
    package func write(_ bytes: [UInt8]) throws(WaybillError) {
        try mappingErrors { try DurableFile.write(bytes, to: descriptor) }
        byteCount += bytes.count
    }

    /// Waits until what was written is on the disk, still under the hidden name.
    package func sync() throws(WaybillError) { try mappingErrors { try DurableFile.sync(descriptor) } }

    /// Gives the file its name, in place of one of that name; it is complete and on the disk then.
    package func finish() throws(WaybillError) {
        try sync()
        try mappingErrors { try DurableFile.rename(path, to: file) }
        isOver = true
        close(descriptor)
    }

    /// Gives the name to another file, of the same folder or one in it, and gives up its own.
    ///
    /// - Returns: The file's length.
    package func finish(with other: URL) throws(WaybillError) -> Int {
        let path = other.path(percentEncoded: false)
        var status = stat()
        try mappingErrors {
            try DurableFile.withDescriptor(of: path, O_RDONLY) { descriptor in
                try DurableFile.sync(descriptor)
                try DurableFile.check(fstat(descriptor, &status))
            }
            try DurableFile.rename(path, to: file)
        }
        return Int(status.st_size)
    }

    private func mappingErrors(_ body: () throws -> Void) throws(WaybillError) {
        do { try body() } catch { throw Self.error(file, (error as? POSIXError)?.code.rawValue ?? EIO) }
    }

    private static func error(_ file: URL, _ code: Int32) -> WaybillError {
        let path = file.path(percentEncoded: false)
        let sentence =
            switch code {
            case ENOSPC, EDQUOT: "There is no room left on the disk to write \(path). Free some space and try again."
            case ENOENT, ENOTDIR:
                "\(path) cannot be written: there is no folder \(file.deletingLastPathComponent().path(percentEncoded: false))."
            default: "\(path) cannot be written. Check the permissions of its folder."
            }
        return WaybillError(.setting, sentence, cause: String(cString: strerror(code)))
    }
}
