package import Foundation
package import WaybillCore

package enum StoreFolder {
    /// Creates a missing folder for its owner only, excluded from backups; throws if another user may have created it.
    ///
    /// - Parameter syncs: Whether to wait until the new folder is on the disk.
    /// - Returns: The folders to sync for the new one to survive a power cut.
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
        if syncs { for parent in parents { try? DurableFile.syncFolder(parent) } }
        excludeFromBackup(url)
        return parents
    }

    /// Excludes a new item from Apple's backups, and lets the app use it while the device is locked. Do not call it for a
    /// file that SQLite has open: closing the file here would drop SQLite's locks.
    ///
    /// The folder may be the app's, of a stricter class. A mapped file of that class ends the process with SIGBUS when the
    /// device is locked.
    package static func excludeFromBackup(_ url: URL) {
        #if canImport(Darwin) && !os(macOS)
        try? FileManager.default.setAttributes(
            [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication],
            ofItemAtPath: url.path(percentEncoded: false))
        #endif
        #if canImport(Darwin)
        var url = url
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        try? url.setResourceValues(values)
        #endif
    }

    private static var attributes: [FileAttributeKey: Any] {
        #if canImport(Darwin) && !os(macOS)
        // New files inherit this class. A stricter one would fail for apps that record while the device is locked.
        [.posixPermissions: 0o700, .protectionKey: FileProtectionType.completeUntilFirstUserAuthentication]
        #else
        [.posixPermissions: 0o700]
        #endif
    }
}

/// The identities of a store's files. If they change, the path leads to a different store.
struct StoreFiles: Hashable {
    private let identities: [StoreFile.Identity?]

    init(of place: ResolvedLocation) {
        identities = place.path.map { path in ["", "-wal", "-lock"].map { StoreFile(path: path + $0).identity } } ?? []
    }
}

package enum ResolvedLocation: Sendable, Equatable {
    /// A folder that contains `waybill.sqlite`.
    ///
    /// - own: A private folder for journals and their locks. With it, other processes can use the store while this one
    ///   is suspended.
    case folder(URL, own: URL? = nil)
    /// A single file, e.g. a snapshot.
    case file(URL)
    /// A store in memory, shared by this process's connections of the same name until the last one closes.
    case memory(name: String)

    package init(path: String) {
        let url = URL(filePath: path)
        self = Self.isFolder(url) ? .folder(url) : .file(url)
    }

    package var folder: URL? { if case .folder(let url, _) = self { url } else { nil } }

    var journalFolder: URL? { if case .folder(let url, let own) = self { own ?? url } else { nil } }

    /// Whether processes that the system may suspend share the store.
    package var isShared: Bool {
        if case .folder(_, _?) = self { return true }
        #if canImport(Darwin) && !os(macOS)
        return path.map(Self.isInGroupContainer) ?? false
        #else
        return false
        #endif
    }

    /// Whether a path is in the container of an app group on a device or in a simulator.
    package static func isInGroupContainer(_ path: String) -> Bool { path.contains("/Containers/Shared/AppGroup/") }

    /// Keeps the process running while the result lives; `nil` if the store isn't shared, or if no system suspends it.
    ///
    /// - Throws: `.store` if the process is about to be suspended.
    func hold(by activity: ExpiringActivity?) throws(WaybillError) -> AnyObject? {
        guard isShared, let activity else { return nil }
        if let hold = activity.hold("use what was recorded") { return hold }
        throw WaybillError(
            .store, "The system is about to suspend this process, so it can't use a shared store. Try again later.")
    }

    package var path: String? {
        switch self {
        case .folder(let url, _): url.appending(path: "waybill.sqlite").path(percentEncoded: false)
        case .file(let url): url.path(percentEncoded: false)
        case .memory: nil
        }
    }

    /// Whether a file is one of the store's.
    package func owns(_ file: URL) -> Bool {
        guard let store = path.map({ URL(filePath: $0).resolvingSymlinksInPath() }),
            file.deletingLastPathComponent().resolvingSymlinksInPath().path == store.deletingLastPathComponent().path
        else { return false }
        // Some file systems ignore case.
        let (name, own) = (file.lastPathComponent.lowercased(), store.lastPathComponent.lowercased())
        return name == own || name.hasPrefix("\(own)-") || name.hasPrefix(LockedJournalFile.prefix)
    }

    /// Whether the store exists; always `true` in memory.
    package var isThere: Bool { path.map { access($0, F_OK) == 0 } ?? true }

    var description: String { path ?? "memory" }

    /// Returns the URI that SQLite opens.
    ///
    /// - Parameter isImmutable: Whether SQLite ignores locks and the WAL (sqlite.org/c3ref/open.html, "immutable").
    func uri(isImmutable: Bool = false) -> String {
        // It uses the VFS `memdb`, because readers of a shared cache get SQLITE_LOCKED at once instead of waiting.
        guard let path else { return "file:/\(Self.escaped("waybill-\(name)"))?vfs=memdb" }
        return "file:\(Self.escaped(path))" + (isImmutable ? "?immutable=1" : "")
    }

    private var name: String {
        if case .memory(let name) = self { name } else { "" }
    }

    /// Escapes `%`, `?` and `#`, which are special in a URI (sqlite.org/uri.html).
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
    /// Copies the store, without bodies, into a new file with mode 0600 and no WAL.
    ///
    /// The backup API would restart whenever another process writes (sqlite.org/backup.html), and might never finish.
    ///
    /// - Parameters:
    ///   - keepsProofs: Whether the copy contains the secrets of its sources, as a backup must.
    ///   - keepsID: Whether both have the same cursors.
    package func snapshot(to file: URL, keepsProofs: Bool, keepsID: Bool = false) throws(WaybillError) {
        let path = file.path(percentEncoded: false)
        guard !FileManager.default.fileExists(atPath: path) else {
            throw WaybillError(.store, "\(path) exists already. Name another file for the snapshot.")
        }
        // SQLite writes into an empty file, so this creates it with its mode.
        let descriptor = DurableFile.open(path, O_WRONLY | O_CREAT | O_EXCL)
        guard descriptor >= 0 else {
            throw WaybillError(
                .store, "The snapshot \(path) cannot be written. Check its folder.",
                cause: String(cString: strerror(errno)))
        }
        close(descriptor)
        try statement("VACUUM INTO ?").run(path)
        let copy = try Connection("file:" + ResolvedLocation.escaped(path), .readWrite, at: path)
        if !keepsID { try copy.renewID() }
        try copy.removeSecrets(keepsProofs: keepsProofs)
    }

    private func removeSecrets(keepsProofs: Bool) throws(WaybillError) {
        var script = ""
        if try integer("SELECT EXISTS(SELECT 1 FROM bodies)") != 0 {
            script += "DELETE FROM bodies; DELETE FROM settings WHERE key = '\(BodyRows.keySetting)';"
        }
        if !keepsProofs, try integer("SELECT EXISTS(SELECT 1 FROM sources WHERE proof IS NOT NULL)") != 0 {
            script += "UPDATE sources SET proof = NULL;"
            script += "DELETE FROM settings WHERE key = 'installation' OR key LIKE 'installation_proof %';"
        }
        if !script.isEmpty { try execute("PRAGMA secure_delete = ON; \(script) VACUUM") }
    }
}

extension Store {
    package func snapshot(to file: URL) throws(WaybillError) { try connection.snapshot(to: file, keepsProofs: false) }
}
