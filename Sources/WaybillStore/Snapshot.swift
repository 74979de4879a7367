package import Foundation
package import WaybillCore

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
