package import Foundation
import WaybillCore

/// Where a store lies.
package enum ResolvedLocation: Sendable, Hashable {
    /// A folder that holds `waybill.sqlite`.
    case folder(URL)
    /// One file, e.g. a snapshot.
    case file(URL)
    /// In memory, shared by all connections of this process that use the same name, and gone with the last of them.
    case memory(name: String)

    /// What a person means by a path: a folder's store, or the file itself.
    package init(path: String) {
        let url = URL(filePath: path)
        self = Self.isFolder(url) ? .folder(url) : .file(url)
    }

    /// The database file's path; nil in memory.
    package var path: String? {
        switch self {
        case .folder(let url): url.appending(path: "waybill.sqlite").path(percentEncoded: false)
        case .file(let url): url.path(percentEncoded: false)
        case .memory: nil
        }
    }

    /// Whether there is a store; in memory there is one as soon as it is asked for.
    package var isThere: Bool { path.map { access($0, F_OK) == 0 } ?? true }

    /// For sentences.
    var description: String { path ?? "memory" }

    /// What SQLite opens.
    ///
    /// - Parameter isImmutable: Whether SQLite shall take neither locks nor notice of a WAL
    ///   (sqlite.org/c3ref/open.html, "immutable").
    func uri(isImmutable: Bool = false) -> String {
        // The VFS `memdb` rather than a shared cache, whose readers get SQLITE_LOCKED at once instead of waiting for
        // the writer.
        guard let path else { return "file:/\(Self.escaped("waybill-\(name)"))?vfs=memdb" }
        return "file:\(Self.escaped(path))" + (isImmutable ? "?immutable=1" : "")
    }

    private var name: String {
        if case .memory(let name) = self { name } else { "" }
    }

    /// sqlite.org/uri.html: `%`, `?` and `#` have a meaning in a URI.
    static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? text
    }

    static func isFolder(_ url: URL) -> Bool {
        var isDirectory: ObjCBool = false
        return FileManager.default.fileExists(atPath: url.path(percentEncoded: false), isDirectory: &isDirectory)
            && isDirectory.boolValue
    }
}
