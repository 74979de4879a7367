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
            try DurableFolder(folder).write(
                set.body, to: "\(created.formatted(timestamp))-\(set.id).waybill-set.v\(TransactionSet.version).json")
        } catch {
            throw WaybillError(
                .transport,
                "The set cannot be written into \(folder.path); see that it is a folder that this process may write to.",
                cause: (error as? POSIXError).map { String(cString: strerror($0.code.rawValue)) }
                    ?? "\(type(of: error))")
        }
    }

    private static let timestamp = Date.ISO8601FormatStyle(
        dateSeparator: .omitted, timeSeparator: .omitted, timeZone: .gmt)
}

/// A folder whose files appear whole or not at all, and survive a power failure.
struct DurableFolder {
    private let url: URL

    init(_ url: URL) { self.url = url }

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
