package import Foundation
import WaybillCore

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
