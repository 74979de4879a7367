import Dispatch
public import Foundation
public import WaybillCore
import WaybillStore

/// Writes sets into a folder, one file for each, for `waybill import` or a courier of your own to pick up.
///
/// A file is named `<created>-<set ID>.waybill-set.v1.json`, e.g.
/// `20230630T033418Z-01890a5d-ac96-774b-bcce-b302099a8057.waybill-set.v1.json`, so that names sort by time and say the
/// version of the format. It appears whole: it is written under a hidden name, synced to the disk and then renamed, and
/// the receipt is given when the folder is synced too. Only the user who runs the process may read it.
public struct FileTransport: FlushTransport {
    /// Where the files go.
    public let folder: URL
    // Syncing blocks for milliseconds, which no thread of the cooperative pool should.
    private let queue = DispatchQueue(label: "waybill.file-transport", qos: .utility)

    /// Makes a transport into a folder, which is made with the first set where it is missing.
    public init(folder: URL) { self.folder = folder }

    /// Writes a set, and accepts all of it.
    ///
    /// - Throws: `WaybillError` of code `.transport` where the file cannot be written; then nothing is left behind.
    public func send(_ set: OutgoingSet) async throws -> Receipt {
        let result = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: Result { try Self.write(set, into: folder) }) }
        }
        try result.get()
        return Receipt(set: set.id, acceptedCount: set.factCount)
    }

    /// Writes a set now, on this thread.
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
