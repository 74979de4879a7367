import Dispatch
package import Foundation
package import WaybillCore
import WaybillStore

package struct FileTransport: FlushTransport {
    package let folder: URL
    // Syncing blocks for milliseconds and must not use a thread of the cooperative pool.
    private let queue = DispatchQueue(label: "waybill.file-transport", qos: .utility)

    package init(folder: URL) { self.folder = folder }

    /// Writes a set and accepts all its facts.
    ///
    /// - Throws: `WaybillError` of code `.transport` if the file can't be written. No file is left behind.
    package func send(_ set: OutgoingSet) async throws -> Receipt {
        let result = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: Result { try Self.write(set, into: folder) }) }
        }
        try result.get()
        return Receipt(set: set.id, acceptedCount: set.factCount)
    }

    package static func write(_ set: OutgoingSet, into folder: URL) throws(WaybillError) {
        let created = Date(timeIntervalSince1970: Double(set.id.millisecondsSince1970) / 1000)
        do {
            let name = "\(created.formatted(timestamp))-\(set.id).waybill-set.v\(TransactionSet.version).json"
            try PartialFile.write(set.body, to: folder.appending(path: name))
        } catch {
            let error = WaybillError(wrapping: error)
            throw WaybillError(
                .transport,
                "The set cannot be written into \(folder.path); see that it is a folder that this process may write to.",
                cause: error.cause ?? error.message)
        }
    }

    private static let timestamp = Date.ISO8601FormatStyle(
        dateSeparator: .omitted, timeSeparator: .omitted, timeZone: .gmt)
}

extension PartialFile {
    /// Writes a file, and creates a missing folder for its owner only.
    static func write(_ bytes: [UInt8], to file: URL) throws {
        let folder = file.deletingLastPathComponent()
        if !FileManager.default.fileExists(atPath: folder.path) {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            try DurableFile.syncFolder(folder.deletingLastPathComponent())
            StoreFolder.excludeFromBackup(folder)
        }
        let partial = try PartialFile(file)
        try partial.write(bytes)
        StoreFolder.excludeFromBackup(folder.appending(path: partial.hiddenName))
        try partial.finish()
    }
}
