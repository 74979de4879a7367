public import Foundation
import WaybillStore

/// A new, empty folder that goes away, with all that is in it, when it is let go.
public final class TemporaryDirectory: Sendable {
    /// Where it is.
    public let url: URL

    // Tests beside each other spent a third of their time on this lock of SQLite under the thread sanitizer.
    private static let prepared: Void = WaybillStore.Connection.disableMemoryStatistics()

    /// Makes a folder of a name that is used by nobody else.
    public init() throws {
        _ = Self.prepared
        url = FileManager.default.temporaryDirectory.appending(
            path: "waybill-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// A URL inside it; makes nothing.
    public func file(_ name: String) -> URL { url.appending(path: name, directoryHint: .notDirectory) }

    /// The names of what is in it, hidden files too, sorted.
    public func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() }
}
