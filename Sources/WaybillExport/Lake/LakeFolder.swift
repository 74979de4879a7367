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

/// Where incremental exports go, a folder or a bucket: what has a name there is never replaced.
///
/// | name | what it is |
/// |---|---|
/// | `lake.json` | the version of all this |
/// | `facts/<hash>.ndjson.gz` | facts, named by the SHA-256 of the file's bytes |
/// | `increments/<number>.json` | an ``Increment``: which files count, and where the next run goes on |
///
/// What a killed run has left of `facts` is in no increment, and counts for nothing.
package protocol Lake: Sendable {
    /// What errors and people call something that is in it.
    func place(of name: String) -> String

    /// The names in a folder of it, without the folder's own.
    func names(in folder: String) async throws -> [String]

    /// nil where there is nothing of that name.
    func bytes(of name: String) async throws -> [UInt8]?

    /// Puts something there, unless something of that name is there: of two that do it at once, one does.
    ///
    /// - Returns: Whether it did; where it is not known, because an answer was lost, false.
    func put(_ bytes: [UInt8], as name: String) async throws -> Bool

    /// What an earlier version has exported to the same place, which noted its cursor otherwise; nil for nothing.
    func earlier() async throws -> Increment?

    /// Has the earlier version refuse to go on there, once its increment is among ours.
    func endEarlier() async throws
}

extension Lake {
    package func earlier() -> Increment? { nil }
    package func endEarlier() {}
}

/// A folder as versions before the lake's filled it: files `facts-000001.ndjson`, of which `cursor.json` names the last,
/// with the cursor behind it.
///
/// A file was written under a hidden name, then noted, then got its name. So a hidden file that was noted counts, and
/// any other does not.
final class EarlierLakeFolder: Sendable {
    /// All that is there, as the first increment of a lake; nil where such a version never was.
    let increment: Increment?

    private let note: URL
    private let isEnded: Bool

    private struct State: Decodable {
        var file: String
        var cursor: String
        /// Nil where it is the file's own with `.partial` at its end.
        var hiddenName: String?
    }

    /// What stands in the note once all is in an increment: an earlier version, which would go on from the cursor that
    /// it knows, says then that it cannot read it.
    private struct End: Codable { var continuedIn = Increment.folder }

    init(_ folder: URL) throws(WaybillError) {
        note = folder.appending(path: "cursor.json")
        let path = note.path(percentEncoded: false)
        guard FileManager.default.fileExists(atPath: path) else {
            (increment, isEnded) = (nil, true)
            return
        }
        let json = try? Data(contentsOf: note)
        guard json.flatMap({ try? JSONDecoder().decode(End.self, from: $0) }) == nil else {
            (increment, isEnded) = (nil, true)
            return
        }
        guard !DurableFile.isForeign(path) else {
            throw WaybillError(.setting, "\(path) is another user's. Export into a folder of your own.")
        }
        guard let state = json.flatMap({ try? JSONDecoder().decode(State.self, from: $0) }), !state.file.contains("/")
        else {
            throw WaybillError(
                .format,
                "\(path) cannot be read, so it is not known what was exported. Export into an empty folder.")
        }
        try Self.recover(folder, state)
        increment = Increment(number: 1, cursor: state.cursor, files: Self.files(in: folder))
        isEnded = false
    }

    /// Has the earlier version refuse the folder.
    func end() throws(WaybillError) {
        guard !isEnded else { return }
        let partial = try PartialFile(note)
        try partial.write(Array((try? JSONEncoder().encode(End())) ?? Data()) + [0x0A])
        try partial.finish()
    }

    private static func recover(_ folder: URL, _ state: State) throws(WaybillError) {
        let complete = state.hiddenName ?? ".\(state.file).partial"
        for name in names(in: folder) where name.hasPrefix(".facts-") && name.hasSuffix(".partial") {
            let path = folder.appending(path: name).path(percentEncoded: false)
            if name == complete, !DurableFile.isForeign(path) {
                do { try DurableFile.rename(path, to: folder.appending(path: state.file)) } catch {
                    throw WaybillError(
                        .setting, "\(path) cannot be renamed. Check the permissions of its folder.", cause: "\(error)")
                }
            } else {
                unlink(path)
            }
        }
    }

    private static func files(in folder: URL) -> [Increment.File] {
        names(in: folder).filter { $0.hasPrefix("facts-") }.sorted().compactMap { name -> Increment.File? in
            let path = folder.appending(path: name).path(percentEncoded: false)
            var status = stat()
            guard !DurableFile.isForeign(path), lstat(path, &status) == 0 else { return nil }
            return Increment.File(name: name, bytes: Int64(status.st_size))
        }
    }

    private static func names(in folder: URL) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))) ?? []
    }
}
