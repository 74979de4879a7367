package import Foundation
package import WaybillCore

/// A file that appears completely or not at all: it is synced under a hidden name, and then renamed.
///
/// The hidden name is random, so another user of the folder can't prepare a link or a readable file. The next writer of
/// the same file deletes what a killed process left.
package final class PartialFile {
    package let file: URL
    package private(set) var byteCount: Int64 = 0
    package let hiddenName: String

    private let path: String
    private let descriptor: Int32
    private var isOver = false
    private var hasFolder = false

    /// Creates the file, readable only by its owner; throws if another process of this user writes the same one.
    package init(_ file: URL) throws(WaybillError) {
        self.file = file
        hiddenName = Self.prefix(of: file) + String(UInt64.random(in: .min ... .max), radix: 36) + Self.suffix
        path = file.deletingLastPathComponent().appending(path: hiddenName).path(percentEncoded: false)
        guard !ResolvedLocation.isFolder(file) else {
            throw WaybillError(.setting, "\(file.path(percentEncoded: false)) is a folder. Name a file to write.")
        }
        var status = stat()
        guard lstat(file.path(percentEncoded: false), &status) < 0 || status.st_mode & S_IFMT == S_IFREG else {
            throw WaybillError(
                .setting, "\(file.path(percentEncoded: false)) is a link, a device or a pipe. Name a file to write.")
        }
        descriptor = DurableFile.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
        guard descriptor >= 0 else { throw Self.error(file, errno) }
        // The lock tells running writers from ended ones. Each process locks its own file before it looks for others,
        // so of two at least one sees the other. Before the lock, another process may have deleted the file.
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

    /// Creates a work folder for its owner only, which is deleted on deinit.
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

    private static func isHiddenName(_ name: String, of file: URL) -> Bool {
        let prefix = prefix(of: file)
        return name.hasPrefix(prefix) && name.hasSuffix(suffix)
            && name.utf8.count > prefix.utf8.count + suffix.utf8.count
            && !name.dropFirst(prefix.count).dropLast(suffix.count).contains(".")
    }

    /// Deletes leftovers of ended processes, but no files of other users.
    private static func isAlone(_ hiddenName: String, writing file: URL) -> Bool {
        let folder = file.deletingLastPathComponent()
        // Without permission to list the folder, it finds none.
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

    private static func has(_ path: String, _ descriptor: Int32) -> Bool {
        var (opened, named) = (stat(), stat())
        return fstat(descriptor, &opened) == 0 && lstat(path, &named) == 0 && opened.st_ino == named.st_ino
            && opened.st_dev == named.st_dev
    }

    package func write(_ bytes: [UInt8]) throws(WaybillError) {
        try mappingErrors { try DurableFile.write(bytes, to: descriptor) }
        byteCount += Int64(bytes.count)
    }

    package func sync() throws(WaybillError) { try mappingErrors { try DurableFile.sync(descriptor) } }

    package func finish() throws(WaybillError) {
        try sync()
        try mappingErrors { try DurableFile.rename(path, to: file) }
        isOver = true
        close(descriptor)
    }

    /// Completes the file if its name is free; otherwise deletes it and returns `false`.
    package func finishOnce() throws(WaybillError) -> Bool {
        try sync()
        var isNamed = false
        try mappingErrors { isNamed = try DurableFile.link(path, to: file) }
        unlink(path)
        isOver = true
        close(descriptor)
        return isNamed
    }

    /// Gives the name to another file in the same folder or below it, and returns that file's length.
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
