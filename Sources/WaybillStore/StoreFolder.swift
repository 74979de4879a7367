package import Foundation
package import WaybillCore

/// The folder that a store lies in.
package enum StoreFolder {
    /// Makes the folder if it is missing: for its owner only, on Apple platforms excluded from backups and readable from
    /// the first unlock on.
    ///
    /// An existing folder stays as it is; it may hold other files, too. One that somebody else may have put there is
    /// refused.
    ///
    /// - Parameter syncs: Whether to wait until the new folder is on the disk.
    /// - Returns: The folders that must be synced so that a power cut does not take the new one.
    @discardableResult
    static func make(_ url: URL, syncs: Bool = true) throws(WaybillError) -> [URL] {
        let path = url.path(percentEncoded: false)
        if let reason = DurableFile.reasonToDistrust(folder: url) {
            throw WaybillError(.store, "The folder \(path) \(reason). Name another place.")
        }
        guard !FileManager.default.fileExists(atPath: path) else { return [] }
        let made = sequence(first: url) { $0.deletingLastPathComponent() }.prefix { folder in
            folder.pathComponents.count > 1
                && !FileManager.default.fileExists(atPath: folder.path(percentEncoded: false))
        }
        do {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true, attributes: attributes)
        } catch {
            throw WaybillError(
                .store, "The folder \(path) cannot be made. Check the permissions of the one that holds it.",
                cause: error.localizedDescription)
        }
        let parents = made.reversed().map { $0.deletingLastPathComponent() }
        // A folder that we do not own may not be syncable: that is no reason to stop.
        if syncs { for parent in parents { try? DurableFile.syncFolder(parent) } }
        excludeFromBackup(url)
        return parents
    }

    /// Keeps a file or a folder that was just made out of backups, on Apple platforms. Never to be called for a file that
    /// SQLite has open: to open and close it would drop SQLite's locks.
    package static func excludeFromBackup(_ url: URL) {
        #if canImport(Darwin)
        var url = url
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        try? url.setResourceValues(values)
        #endif
    }

    private static var attributes: [FileAttributeKey: Any] {
        #if canImport(Darwin) && !os(macOS)
        // Files made in it get the same class. Not a stricter one: an app that runs in the background records while the
        // device is locked.
        [.posixPermissions: 0o700, .protectionKey: FileProtectionType.completeUntilFirstUserAuthentication]
        #else
        [.posixPermissions: 0o700]
        #endif
    }
}

/// Which files a store's names stand for at a moment: another set of them is another store, however much the open ones
/// can still be written to.
struct StoreFiles: Hashable {
    private let identities: [StoreFile.Identity?]

    init(of place: ResolvedLocation) {
        identities = place.path.map { path in ["", "-wal", "-lock"].map { StoreFile(path: path + $0).identity } } ?? []
    }
}

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

extension Connection {
    /// Makes a copy of one file, as the store is now, which needs no WAL, with mode 0600; bodies stay where they are.
    /// It is not synced.
    ///
    /// `VACUUM INTO` rather than the backup API, which begins again whenever another process has written
    /// (sqlite.org/backup.html): a collector that is busy would never be done.
    ///
    /// - Parameter keepsProofs: Whether who has the copy can speak for what recorded into the store, as a backup has to:
    ///   without, it is nobody's when it is opened again.
    /// - Throws: Also when there is a file already.
    package func snapshot(to file: URL, keepsProofs: Bool) throws(WaybillError) {
        let path = file.path(percentEncoded: false)
        guard !FileManager.default.fileExists(atPath: path) else {
            throw WaybillError(.store, "\(path) exists already. Name another file for the snapshot.")
        }
        // Made with its mode before there is anything in it: SQLite writes into a file that is empty.
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw WaybillError(
                .store, "The snapshot \(path) cannot be written. Check its folder.",
                cause: String(cString: strerror(errno)))
        }
        close(descriptor)
        try statement("VACUUM INTO ?").run(path)
        try Self.removeBodies(from: path)
        if !keepsProofs { try Self.removeProofs(from: path) }
    }

    /// Takes the secrets of sources, and of their installation with it, out of a copy: it may leave the device.
    private static func removeProofs(from path: String) throws(WaybillError) {
        let copy = try Connection("file:" + ResolvedLocation.escaped(path), .readWrite, at: path)
        guard try copy.integer("SELECT EXISTS(SELECT 1 FROM sources WHERE proof IS NOT NULL)") != 0 else { return }
        try copy.execute(
            """
            PRAGMA secure_delete = ON; UPDATE sources SET proof = NULL; \
            DELETE FROM settings WHERE key = 'installation' OR key LIKE 'installation_proof %'; VACUUM
            """)
    }

    /// Takes bodies, and the key of their hashes, out of a copy: it may leave the device.
    private static func removeBodies(from path: String) throws(WaybillError) {
        let copy = try Connection("file:" + ResolvedLocation.escaped(path), .readWrite, at: path)
        // A store that no writer of this version has opened has no such table.
        guard try copy.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'bodies'") > 0,
            try copy.integer("SELECT EXISTS(SELECT 1 FROM bodies)") != 0
        else { return }
        try copy.execute(
            "PRAGMA secure_delete = ON; DELETE FROM bodies; DELETE FROM settings WHERE key = '\(BodyRows.keySetting)'; VACUUM"
        )
    }
}

extension Store {
    /// Makes a copy of one file, which needs no WAL, with mode 0600; bodies stay where they are, and so do the secrets by
    /// which its sources prove that they are it.
    ///
    /// - Throws: Also when there is a file already.
    package func snapshot(to file: URL) throws(WaybillError) { try connection.snapshot(to: file, keepsProofs: false) }
}
