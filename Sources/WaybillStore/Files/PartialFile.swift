package import Foundation
package import WaybillCore

/// A file that appears whole or not at all: written under a hidden name beside its own, synced, and renamed when it is
/// complete.
///
/// The hidden name is a random one, and the file is made by this process: whoever else may write to the folder can put
/// nothing in its way, neither a link that leads elsewhere nor a file that others may read.
///
/// Let go of before it is complete, it leaves nothing. What a process that was killed leaves is hidden, and removed by
/// the next that writes the same file.
package final class PartialFile {
    package let file: URL
    /// Bytes written so far.
    package private(set) var byteCount: Int64 = 0
    /// What it is called until it is complete, in the same folder.
    package let hiddenName: String

    private let path: String
    private let descriptor: Int32
    private var isOver = false
    private var hasFolder = false

    /// Begins the file, which only its owner may read.
    ///
    /// - Throws: Where the folder is missing or cannot be written, a folder has the name, or another process of this
    ///   user is writing the same file.
    package init(_ file: URL) throws(WaybillError) {
        self.file = file
        hiddenName = Self.prefix(of: file) + String(UInt64.random(in: .min ... .max), radix: 36) + Self.suffix
        path = file.deletingLastPathComponent().appending(path: hiddenName).path(percentEncoded: false)
        guard !ResolvedLocation.isFolder(file) else {
            throw WaybillError(.setting, "\(file.path(percentEncoded: false)) is a folder. Name a file to write.")
        }
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.error(file, errno) }
        // Locked, so that what a process that has ended left is told from what a running one writes. Each locks its own
        // before it looks for others: of two, one at least sees the other. Before it was locked, another may have taken
        // it for one that was left.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, Self.isAlone(hiddenName, writing: file),
            Self.has(path, descriptor)
        else {
            unlink(path)
            close(descriptor)
            isOver = true
            throw WaybillError(
                .setting,
                "\(file.path(percentEncoded: false)) is being written by another process. Try again when it has finished."
            )
        }
    }

    deinit {
        if hasFolder { try? FileManager.default.removeItem(atPath: Self.folder(of: path)) }
        guard !isOver else { return }
        unlink(path)
        close(descriptor)
    }

    /// Makes a folder for work on the file, which only its owner may read, and which is removed when this is let go of.
    package func makeFolder() throws(WaybillError) -> URL {
        let folder = Self.folder(of: path)
        try mappingErrors { try DurableFile.check(mkdir(folder, 0o700)) }
        hasFolder = true
        return URL(filePath: folder, directoryHint: .notDirectory)
    }

    private static func folder(of path: String) -> String { path + ".d" }

    // MARK: Others that write the same file

    private static let suffix = ".partial"

    private static func prefix(of file: URL) -> String { ".\(file.lastPathComponent)." }

    /// Whether a name is the hidden one of a file; between its ends it has no dot, or it is another file's.
    private static func isHiddenName(_ name: String, of file: URL) -> Bool {
        let prefix = prefix(of: file)
        return name.hasPrefix(prefix) && name.hasSuffix(suffix)
            && name.utf8.count > prefix.utf8.count + suffix.utf8.count
            && !name.dropFirst(prefix.count).dropLast(suffix.count).contains(".")
    }

    /// Whether no other process writes the same file; removes what those have left that have ended. What somebody else
    /// has put there is left alone.
    private static func isAlone(_ hiddenName: String, writing file: URL) -> Bool {
        let folder = file.deletingLastPathComponent()
        // Where the folder may be written but not listed, none are seen.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))) ?? []
        for name in names where isHiddenName(name, of: file) && name != hiddenName {
            let path = folder.appending(path: name).path(percentEncoded: false)
            let descriptor = DurableFile.openOwn(path, O_RDONLY)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return false }
            guard has(path, descriptor) else { continue }
            try? FileManager.default.removeItem(atPath: Self.folder(of: path))
            unlink(path)
        }
        return true
    }

    /// Whether the file that is open has that name.
    private static func has(_ path: String, _ descriptor: Int32) -> Bool {
        var (opened, named) = (stat(), stat())
        return fstat(descriptor, &opened) == 0 && lstat(path, &named) == 0 && opened.st_ino == named.st_ino
            && opened.st_dev == named.st_dev
    }

    /// Adds bytes.
    package func write(_ bytes: [UInt8]) throws(WaybillError) {
        try mappingErrors { try DurableFile.write(bytes, to: descriptor) }
        byteCount += Int64(bytes.count)
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

    /// Gives the file its name, unless something has that name; it is complete and on the disk then.
    ///
    /// - Returns: Whether it has it; otherwise it is gone.
    package func finishOnce() throws(WaybillError) -> Bool {
        try sync()
        var isNamed = false
        try mappingErrors { isNamed = try DurableFile.link(path, to: file) }
        unlink(path)
        isOver = true
        close(descriptor)
        return isNamed
    }

    /// Gives the name to another file, of the same folder or one in it, and gives up its own.
    ///
    /// - Returns: The file's length.
    package func finish(with other: URL) throws(WaybillError) -> Int64 {
        let path = other.path(percentEncoded: false)
        var status = stat()
        try mappingErrors {
            try DurableFile.withDescriptor(of: path, O_RDONLY) { descriptor in
                try DurableFile.sync(descriptor)
                try DurableFile.check(fstat(descriptor, &status))
            }
            try DurableFile.rename(path, to: file)
        }
        return Int64(status.st_size)
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
