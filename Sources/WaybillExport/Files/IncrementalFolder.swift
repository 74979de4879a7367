package import Foundation
package import WaybillCore
package import WaybillStore

/// A folder into which each run writes one more file, with the facts that are new since the last: never one twice,
/// never one left out.
///
/// `cursor.json` says up to where the files go. A file is written whole under a hidden name and synced, then the cursor
/// is noted, then the file gets its name. A run that finds a hidden file that the cursor knows gives it its name; any
/// other it throws away. So the noted cursor is what decides, at any point at which the process is killed, and files
/// that were taken away since are not written again.
package final class IncrementalFolder {
    /// Where the last run ended, as the exported source names it; nil before the first.
    package var cursor: String? { state?.cursor }

    private struct State: Codable {
        var file: String
        var cursor: String
        /// What the file is called until it gets its name; nil where an earlier version wrote it, under a name that the
        /// file's own tells.
        var hiddenName: String?
    }

    private let folder: URL
    private let suffix: String
    private let lock: Int32
    private var state: State?

    /// Opens the folder, makes it where it is missing, and puts right what a run that was killed has left.
    ///
    /// - Parameter suffix: What the names of new files end with, e.g. `ndjson.gz`.
    /// - Throws: `.setting` where the folder cannot be written, another run is at it, or its cursor cannot be read.
    package init(_ folder: URL, suffix: String) throws(WaybillError) {
        self.folder = folder
        self.suffix = suffix
        let path = folder.path(percentEncoded: false)
        if !FileManager.default.fileExists(atPath: path) {
            try? FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
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
        try readState()
        try recover()
    }

    deinit {
        // By hand: a process that was forked meanwhile, to become another program, has the same lock until it does.
        flock(lock, LOCK_UN)
        close(lock)
    }

    /// Begins the next file.
    package func next() throws(WaybillError) -> PartialFile {
        try PartialFile(folder.appending(path: Self.name(number + 1, suffix)))
    }

    /// Notes that a file, which is complete, goes up to a cursor, and gives it its name.
    ///
    /// - Parameter noted: Called between the two, by tests.
    package func finish(_ file: PartialFile, cursor: String, noted: () -> Void = {}) throws(WaybillError) {
        try file.sync()
        let state = State(file: file.file.lastPathComponent, cursor: cursor, hiddenName: file.hiddenName)
        let note = try PartialFile(stateFile)
        try note.write(Array((try? JSONEncoder().encode(state)) ?? Data()))
        try note.finish()
        self.state = state
        noted()
        try file.finish()
    }

    private var stateFile: URL { folder.appending(path: "cursor.json") }

    private static func name(_ number: Int, _ suffix: String) -> String {
        let digits = String(number)
        return "facts-\(String(repeating: "0", count: max(0, 6 - digits.count)))\(digits).\(suffix)"
    }

    /// Of the last file.
    private var number: Int { state.flatMap { Int($0.file.dropFirst("facts-".count).prefix { $0 != "." }) } ?? 0 }

    private func readState() throws(WaybillError) {
        guard let data = try? Data(contentsOf: stateFile) else {
            guard !FileManager.default.fileExists(atPath: stateFile.path(percentEncoded: false)) else {
                throw unreadable
            }
            return
        }
        guard let state = try? JSONDecoder().decode(State.self, from: data), !state.file.contains("/") else {
            throw unreadable
        }
        self.state = state
    }

    private var unreadable: WaybillError {
        WaybillError(
            .format,
            "\(stateFile.path(percentEncoded: false)) cannot be read, so it is not known what was exported. Export into an empty folder."
        )
    }

    private func recover() throws(WaybillError) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))) ?? []
        let complete = state.map { $0.hiddenName ?? ".\($0.file).partial" }
        for name in names where name.hasPrefix(".facts-") && name.hasSuffix(".partial") {
            let path = folder.appending(path: name).path(percentEncoded: false)
            if name == complete, let state, !DurableFile.isForeign(path) {
                do { try DurableFile.rename(path, to: folder.appending(path: state.file)) } catch {
                    throw WaybillError(
                        .setting, "\(path) cannot be renamed. Check the permissions of its folder.", cause: "\(error)")
                }
            } else {
                unlink(path)
            }
        }
    }
}
