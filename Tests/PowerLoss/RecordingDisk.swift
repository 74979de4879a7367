import CRecordingDisk
package import Foundation
package import WaybillCore

/// Records each write, sync, creation and removal in a folder and its subfolders as an event. A ``PowerCut`` can be
/// tried after any event.
///
/// SQLite's writes are recorded through a VFS, and each sync through the C library's functions. Other files, above all
/// a mapped journal, are inspected at every event. Linux only.
package final class RecordingDisk: Sendable {
    /// The recorded folder, by its real path. It must exist until the disk is released.
    package let folder: URL
    private let root: String
    private let clock: any TransactionClock
    private let state = Locked(State())

    struct State {
        var moment = 0
        /// The uptime at each event.
        var times = History<Int64>()
        var files: [FileHistory] = []
        /// The entries that each path has named.
        var names: [String: History<Entry>] = [:]
        /// When the names in a folder were synced.
        var folderSyncs: [String: History<Int>] = [:]
        /// The indices in `files` of the files that have a name now, by inode.
        var filesByNumber: [ino_t: Int] = [:]
        /// SQLite's files, which are never opened here: that would drop SQLite's locks.
        var databaseFiles: Set<String> = []
    }

    enum Entry: Equatable {
        case nothing
        case folder
        /// An index in the state's files.
        case file(Int)
    }

    /// Starts to record. Everything in the folder now counts as synced.
    ///
    /// - Throws: If the folder does not exist, or SQLite rejects the VFS.
    package init(_ folder: URL, clock: any TransactionClock) throws {
        self.clock = clock
        guard Self.isInstalled, let real = realpath(folder.path(percentEncoded: false), nil) else {
            throw CocoaError(.fileNoSuchFile)
        }
        root = String(cString: real)
        free(real)
        self.folder = URL(filePath: root, directoryHint: .isDirectory)
        state.withLock { state in
            state.names[root, default: History()].append(.folder, at: 0)
            state.look(root)
            state.times.append(clock.uptimeMicroseconds(), at: state.moment)
            for index in state.files.indices { state.files[index].sync(at: state.moment) }
            for (path, course) in state.names where course.last == .folder {
                state.folderSyncs[path, default: History()].append(state.moment, at: state.moment)
            }
        }
        Self.disks.withLock { $0[root + "/"] = Weak(disk: self) }
    }

    deinit { Self.disks.withLock { $0[root + "/"] = nil } }

    /// Notes changes that SQLite did not write. Call it after recording: a journal is memory, and a write to it causes
    /// no event.
    ///
    /// - Returns: The latest moment. All changes up to it are noted.
    @discardableResult
    package func look() -> Int {
        state.withLock { state in
            look(&state)
            return state.moment
        }
    }

    /// The last event.
    package var moment: Int { state.withLock { $0.moment } }

    /// The latest possible uptime of a power cut after an event: the uptime at the next event, or now.
    package func latestUptime(after moment: Int) -> Int64 {
        state.withLock { $0.moment > moment ? $0.times.value(at: moment + 1) : nil } ?? clock.uptimeMicroseconds()
    }

    /// Makes a folder with the contents that a power cut leaves.
    ///
    /// - Parameter target: Must not exist.
    package func rebuild(after cut: PowerCut, in target: URL) throws {
        var cut = cut
        let found = state.withLock { $0.entries(after: &cut, root) }
        try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
        for (path, bytes) in found.sorted(by: { $0.path < $1.path }) {
            let url = target.appending(path: path)
            if let bytes {
                try Data(bytes).write(to: url)
            } else {
                try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            }
        }
    }

    // MARK: Events

    private static let disks = Locked<[String: Weak]>([:])
    private struct Weak { weak var disk: RecordingDisk? }

    /// Whether the VFS is installed, once for all disks of the process.
    private static let isInstalled: Bool =
        waybill_disk_install { event, path, offset, bytes, count in
            guard let path else { return false }
            let name = String(cString: path)
            let disk = RecordingDisk.disks.withLock { disks in
                disks.first { (name + "/").hasPrefix($0.key) }?.value.disk
            }
            disk?.note(
                event, name, offset: Int(offset),
                UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : Int(count)),
                size: Int(count))
            return disk != nil
        } == 0

    private func look(_ state: inout State) {
        let before = state.moment
        state.look(root)
        if state.moment > before { state.times.append(clock.uptimeMicroseconds(), at: state.moment) }
    }

    private func note(
        _ event: waybill_disk_event, _ path: String, offset: Int, _ bytes: UnsafeRawBufferPointer, size: Int
    ) {
        guard !State.isLostAnyway(path) else { return }
        state.withLock { state in
            if event == waybill_disk_opening { state.databaseFiles.insert(path) }
            look(&state)
            guard event != waybill_disk_opening else { return }
            state.moment += 1
            state.times.append(clock.uptimeMicroseconds(), at: state.moment)
            switch (state.names[path]?.last, event) {
            case (.folder, waybill_disk_synced):
                state.folderSyncs[path, default: History()].append(state.moment, at: state.moment)
            case (.file(let file), waybill_disk_synced): state.files[file].sync(at: state.moment)
            case (.file(let file), waybill_disk_written): state.files[file].write(bytes, at: offset, at: state.moment)
            case (.file(let file), waybill_disk_truncated): state.files[file].resize(to: size, at: state.moment)
            default: break  // `look` has noted creations and removals
            }
        }
    }
}
