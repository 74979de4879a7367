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

/// Serves two places: a set is delivered when both have it.
///
/// One delivery belongs to a store; this makes it two. A fact that either place rejects goes into quarantine. Where one
/// place fails, nothing is settled, and the same facts go out again later, to both; each knows what it has already. The
/// place that failed last is asked first, so that the other is not sent the same facts over and over while it is down:
/// once at most. What is recorded meanwhile waits on the device, within its limits, like everything that cannot be
/// delivered.
///
/// ## Usage
///
/// ```swift
/// let both = TeeTransport(URLSessionTransport(collector: url, token: token), FileTransport(folder: archive))
/// transactions.delivery = .transport(both)
/// ```
public final class TeeTransport: FlushTransport {
    private let first: any FlushTransport
    private let second: any FlushTransport
    private let secondGoesFirst = Locked(false)

    /// Makes a transport to two places.
    public init(_ first: any FlushTransport, _ second: any FlushTransport) {
        self.first = first
        self.second = second
    }

    /// Hands a set to one place, and then to the other.
    ///
    /// - Throws: What the place throws that did not take it.
    public func send(_ set: OutgoingSet) async throws -> Receipt {
        if secondGoesFirst.withLock({ $0 }) {
            let theirs = try await second.send(set)
            return try await sendToFirst(set).joined(with: theirs, for: set)
        }
        let ours = try await sendToFirst(set)
        do {
            return ours.joined(with: try await second.send(set), for: set)
        } catch {
            secondGoesFirst.withLock { $0 = true }
            throw error
        }
    }

    private func sendToFirst(_ set: OutgoingSet) async throws -> Receipt {
        do {
            return try await first.send(set)
        } catch {
            secondGoesFirst.withLock { $0 = false }
            throw error
        }
    }
}

extension Receipt {
    /// What two places say together: rejected is what either rejects, known what the first knows; of two that
    /// hand out sampling rates the first is heard.
    fileprivate func joined(with other: Receipt, for set: OutgoingSet) -> Receipt {
        struct Place: Hashable {
            var source: GUID
            var index: Int
        }
        let mine = Set(rejections.map { Place(source: $0.source, index: $0.index) })
        let all = rejections + other.rejections.filter { !mine.contains(Place(source: $0.source, index: $0.index)) }
        let known = min(knownCount, max(0, set.factCount - all.count))
        return Receipt(
            set: set.id, acceptedCount: max(0, set.factCount - all.count - known), knownCount: known, rejections: all,
            refusedSources: refusedSources + other.refusedSources.filter { !refusedSources.contains($0) },
            refusedNameCount: max(refusedNameCount, other.refusedNameCount),
            samplingRates: samplingRates.isEmpty ? other.samplingRates : samplingRates,
            retryAfter: [retryAfter, other.retryAfter].compactMap(\.self).max())
    }
}
