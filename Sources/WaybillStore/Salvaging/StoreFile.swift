import Foundation
import WaybillCore

/// The database file of a store, by its path: which file it is, and how it is replaced.
struct StoreFile {
    let path: String

    /// Which file a path leads to, under any name.
    struct Identity: Hashable {
        var device: UInt64
        var number: UInt64
    }

    /// nil: there is none.
    var identity: Identity? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return Identity(
            device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(truncatingIfNeeded: status.st_ino))
    }

    /// Where the new file is made, and where it waits for its name once it is complete.
    var draft: String { path + "-salvaging" }
    var successor: String { path + "-salvaged" }

    /// Whether a successor waits, and is ours.
    var hasSuccessor: Bool { access(successor, F_OK) == 0 && !DurableFile.isForeign(successor) }

    /// What a damaged file is called, before its time in seconds since 1970.
    static let asideMark = ".damaged-"

    /// Gives the complete successor the name of the damaged file, which is kept under another, with its WAL; does
    /// nothing without a successor.
    ///
    /// Interrupted anywhere, it can be done again.
    ///
    /// - Returns: The path that the damaged file has now.
    @discardableResult
    func succeed(at wall: Int64) throws(WaybillError) -> String? {
        guard hasSuccessor else { return nil }
        let aside = "\(path)\(Self.asideMark)\(wall / 1_000_000)"
        do {
            for suffix in ["-wal", ""] where access(path + suffix, F_OK) == 0 {
                try DurableFile.check(rename(path + suffix, aside + suffix))
            }
            unlink(path + "-shm")
            try DurableFile.rename(successor, to: URL(filePath: path))
        } catch {
            throw WaybillError(
                .store, "The damaged store \(path) cannot be moved away. Check the permissions of its folder.",
                cause: error.localizedDescription)
        }
        removeAside(butFor: aside)
        return aside
    }

    /// Removes the damaged stores that were kept.
    ///
    /// - Parameter latest: Kept all the same: one is enough to find out what happened.
    func removeAside(butFor latest: String? = nil) {
        let file = URL(filePath: path)
        let folder = file.deletingLastPathComponent()
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))) ?? []
        for name in names where name.hasPrefix(file.lastPathComponent + Self.asideMark) {
            let path = folder.appending(path: name).path(percentEncoded: false)
            if let latest, path.hasPrefix(latest) { continue }
            unlink(path)
        }
    }
}
