package import Foundation
import WaybillCore

/// Where a store lies.
package enum ResolvedLocation: Sendable, Hashable {
    /// A folder that holds `waybill.sqlite`.
    ///
    /// - own: A folder of this process alone, for the journals and their locks; nil: they lie beside the store. With it,
    ///   other processes may use the store while this one is suspended: nothing is locked there but while it is written.
    case folder(URL, own: URL? = nil)
    /// One file, e.g. a snapshot.
    case file(URL)
    /// In memory, shared by all connections of this process that use the same name, and gone with the last of them.
    case memory(name: String)

    /// What a person means by a path: a folder's store, or the file itself.
    package init(path: String) {
        let url = URL(filePath: path)
        self = Self.isFolder(url) ? .folder(url) : .file(url)
    }

    /// The folder that holds the store; nil where it is one file, or in memory.
    package var folder: URL? { if case .folder(let url, _) = self { url } else { nil } }

    /// The folder of the journals; nil where there are none.
    var journalFolder: URL? { if case .folder(let url, let own) = self { own ?? url } else { nil } }

    /// Whether processes use the store that the system may suspend.
    package var isShared: Bool { if case .folder(_, _?) = self { true } else { false } }

    /// The database file's path; nil in memory.
    package var path: String? {
        switch self {
        case .folder(let url, _): url.appending(path: "waybill.sqlite").path(percentEncoded: false)
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
