import Foundation
import WaybillStore

/// A folder in which files appear whole or not at all, and stay through a power cut.
struct DurableFolder {
    private let url: URL

    init(_ url: URL) { self.url = url }

    /// Writes a file that only its owner may read, in place of one of that name.
    ///
    /// - Throws: What the system says about the folder or the file; no trace of the file is left then.
    func write(_ bytes: [UInt8], to name: String) throws {
        try makeIfMissing()
        let final = url.appending(path: name)
        let temporary = url.appending(path: ".\(name).partial").path
        unlink(temporary)  // of a process that died here
        do {
            try DurableFile.withDescriptor(of: temporary, O_WRONLY | O_CREAT | O_EXCL) { descriptor in
                try DurableFile.write(bytes, to: descriptor)
                try DurableFile.sync(descriptor)
            }
            StoreFolder.excludeFromBackup(URL(filePath: temporary))
            try DurableFile.rename(temporary, to: final)
        } catch {
            unlink(temporary)
            throw error
        }
    }

    private func makeIfMissing() throws {
        guard !FileManager.default.fileExists(atPath: url.path) else { return }
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try DurableFile.syncFolder(url.deletingLastPathComponent())
        StoreFolder.excludeFromBackup(url)
    }
}
