public import Foundation
import WaybillCore
import WaybillStore

/// A new, empty folder that goes away, with all that is in it, when it is let go; what is left, or comes again, at the
/// latest when the process ends.
public final class TemporaryDirectory: Sendable {
    /// Where it is.
    public let url: URL

    // Tests beside each other spent a third of their time on this lock of SQLite under the thread sanitizer.
    private static let prepared: Void = WaybillStore.Connection.disableMemoryStatistics()

    /// Makes a folder of a name that is used by nobody else.
    public init() throws {
        _ = Self.prepared
        url = Self.place()
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// A place that nobody else uses. Nothing is made there, and what somebody makes is removed when the process ends: a
    /// store that is let go of may write once more into a folder that was removed.
    public static func place() -> URL { ofProcess.appending(path: "\(GUID())", directoryHint: .isDirectory) }

    /// A URL inside it; makes nothing.
    public func file(_ name: String) -> URL { url.appending(path: name, directoryHint: .notDirectory) }

    /// The names of what is in it, hidden files too, sorted.
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
        // A process that was forked and ends is another one.
        atexit {
            guard TemporaryDirectory.ofProcess.lastPathComponent == "\(prefix)\(getpid())" else { return }
            try? FileManager.default.removeItem(at: TemporaryDirectory.ofProcess)
        }
        return folder.appending(path: "\(prefix)\(getpid())", directoryHint: .isDirectory)
    }()

    /// Whether the process is gone that made this, for an hour at least: one in another container is not seen from here.
    private static func hasEnded(_ name: String, in folder: URL) -> Bool {
        guard let process = pid_t(name.dropFirst(prefix.count)), kill(process, 0) != 0, errno == ESRCH else {
            return false
        }
        let changed = try? folder.appending(path: name).resourceValues(forKeys: [.contentModificationDateKey])
        return (changed?.contentModificationDate).map { $0.timeIntervalSinceNow < -3_600 } ?? false
    }
}
