public import Foundation
import WaybillCore
import WaybillStore

/// A new, empty folder that is removed with its contents on release. Files that remain or are written later are removed
/// when the process ends, at the latest.
public final class TemporaryDirectory: Sendable {
    /// The folder's location.
    public let url: URL

    // Parallel tests spent a third of their time on this lock of SQLite under the thread sanitizer.
    private static let prepared: Void = WaybillStore.Connection.disableMemoryStatistics()

    /// Makes a folder with a unique name.
    public init() throws {
        _ = Self.prepared
        url = Self.place()
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// A location that nobody else uses. This creates nothing, and anything created there is removed when the process
    /// ends: a released store may write once more into a folder that was removed.
    public static func place() -> URL { ofProcess.appending(path: "\(GUID())", directoryHint: .isDirectory) }

    /// A URL inside the folder; creates nothing.
    public func file(_ name: String) -> URL { url.appending(path: name, directoryHint: .notDirectory) }

    /// The names of its contents, including hidden files, sorted.
    public func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() }

    // MARK: All of one process

    private static let prefix = "waybill-tests-"

    /// Holds all folders of this process. The first use removes those of processes that were killed.
    private static let ofProcess: URL = {
        let folder = FileManager.default.temporaryDirectory
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        where name.hasPrefix(prefix) && hasEnded(name, in: folder) {
            try? FileManager.default.removeItem(at: folder.appending(path: name))
        }
        // A forked process that ends must not remove this process's folder.
        atexit {
            guard TemporaryDirectory.ofProcess.lastPathComponent == "\(prefix)\(getpid())" else { return }
            try? FileManager.default.removeItem(at: TemporaryDirectory.ofProcess)
        }
        return folder.appending(path: "\(prefix)\(getpid())", directoryHint: .isDirectory)
    }()

    /// Whether the process that made this is gone. The folder must also be unchanged for an hour, because a process in
    /// another container can't be seen from here.
    private static func hasEnded(_ name: String, in folder: URL) -> Bool {
        guard let process = pid_t(name.dropFirst(prefix.count)), kill(process, 0) != 0, errno == ESRCH else {
            return false
        }
        let changed = try? folder.appending(path: name).resourceValues(forKeys: [.contentModificationDateKey])
        return (changed?.contentModificationDate).map { $0.timeIntervalSinceNow < -3_600 } ?? false
    }
}
