import Foundation
import WaybillCore
import WaybillStore

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
