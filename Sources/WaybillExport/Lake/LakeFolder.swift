package import Foundation
package import WaybillCore
import WaybillStore

/// A lake in a folder, which a lock limits to one run at a time.
package final class LakeFolder: Lake {
    private let folder: URL
    private let lock: Int32

    /// Opens or creates the folder, and deletes partial files of killed runs.
    ///
    /// - Throws: `.setting` if it can't be written, is in use, or belongs to another user; `.format` for an invalid
    ///   `cursor.json`.
    package init(_ folder: URL) throws(WaybillError) {
        self.folder = folder
        let path = folder.path(percentEncoded: false)
        try WholeFile.checkFolder(folder)
        Self.make(folder)
        lock = DurableFile.open(path, O_RDONLY | O_DIRECTORY)
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
            // These files decide where exports continue; another user could forge them.
            guard !DurableFile.isForeign(path) else {
                throw WaybillError(.setting, "\(path) is another user's. Export into a folder of your own.")
            }
            for name in Self.names(in: inner) where name.hasPrefix(".") && name.hasSuffix(".partial") {
                unlink(inner.appending(path: name).path(percentEncoded: false))
            }
        }
    }

    deinit {
        // A forked child shares the lock until it executes another program. Unlock explicitly.
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

    private static func names(in folder: URL) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))) ?? []
    }

    /// Ignores errors, since a later write reports them.
    private static func make(_ folder: URL) {
        guard !FileManager.default.fileExists(atPath: folder.path(percentEncoded: false)) else { return }
        try? FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }
}

/// A destination of incremental exports, a folder or a bucket. Existing names are never replaced.
///
/// | name | content |
/// |---|---|
/// | `lake.json` | the version of the layout |
/// | `facts/<hash>.ndjson.gz` | facts, named by the SHA-256 of the file's bytes |
/// | `increments/<number>.json` | an ``Increment``: its files, and the cursor for the next run |
///
/// Files of `facts` without an increment are left from killed runs, and don't count.
package protocol Lake: Sendable {
    func place(of name: String) -> String

    func names(in folder: String) async throws -> [String]

    func bytes(of name: String) async throws -> [UInt8]?

    /// Stores a file atomically unless the name exists. Returns whether it did, or false if the response was lost.
    func put(_ bytes: [UInt8], as name: String) async throws -> Bool
}
