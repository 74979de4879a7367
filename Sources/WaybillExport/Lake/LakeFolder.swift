package import Foundation
package import WaybillCore
import WaybillStore

/// A lake in a folder, at which one run is at a time.
package final class LakeFolder: Lake {
    private let folder: URL
    private let lock: Int32
    private let earlierFolder: EarlierLakeFolder

    /// Opens the folder, makes it where it is missing, and takes away what a run that was killed has left.
    ///
    /// - Throws: `.setting` where the folder cannot be written, another run is at it, or it is somebody else's; `.format`
    ///   where what an earlier version has noted cannot be read.
    package init(_ folder: URL) throws(WaybillError) {
        self.folder = folder
        let path = folder.path(percentEncoded: false)
        try WholeFile.checkFolder(folder)
        Self.make(folder)
        lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard lock >= 0 else {
            throw WaybillError(
                .setting,
                "The folder \(path) cannot be made or opened. Check the permissions of the one that holds it.",
                cause: String(cString: strerror(errno)))
        }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            throw WaybillError(.setting, "Another run is exporting into \(path). Try again when it has finished.")
        }
        for name in ["facts", Increment.folder] {
            let inner = folder.appending(path: name)
            let path = inner.path(percentEncoded: false)
            // What is in there says where exports go on, and others could say it.
            guard !DurableFile.isForeign(path) else {
                throw WaybillError(.setting, "\(path) is another user's. Export into a folder of your own.")
            }
            for name in Self.names(in: inner) where name.hasPrefix(".") && name.hasSuffix(".partial") {
                unlink(inner.appending(path: name).path(percentEncoded: false))
            }
        }
        earlierFolder = try EarlierLakeFolder(folder)
    }

    deinit {
        // By hand: a process that was forked meanwhile, to become another program, has the same lock until it does.
        flock(lock, LOCK_UN)
        close(lock)
    }

    package func place(of name: String) -> String { folder.appending(path: name).relativePath }

    package func names(in folder: String) -> [String] { Self.names(in: self.folder.appending(path: folder)) }

    package func bytes(of name: String) throws -> [UInt8]? {
        let file = folder.appending(path: name)
        guard FileManager.default.fileExists(atPath: file.path(percentEncoded: false)) else { return nil }
        do { return Array(try Data(contentsOf: file)) } catch {
            throw WaybillError(
                .setting, "\(file.path(percentEncoded: false)) cannot be read. Check its permissions.",
                cause: "\(error)")
        }
    }

    package func put(_ bytes: [UInt8], as name: String) throws -> Bool {
        let file = folder.appending(path: name)
        Self.make(file.deletingLastPathComponent())
        let partial = try PartialFile(file)
        try partial.write(bytes)
        return try partial.finishOnce()
    }

    package func earlier() -> Increment? { earlierFolder.increment }

    package func endEarlier() throws { try earlierFolder.end() }

    private static func names(in folder: URL) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))) ?? []
    }

    /// Where it cannot be made, what is written into it says so.
    private static func make(_ folder: URL) {
        guard !FileManager.default.fileExists(atPath: folder.path(percentEncoded: false)) else { return }
        try? FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }
}
