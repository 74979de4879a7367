package import Foundation
package import WaybillCore
package import WaybillStore

/// Writes a hidden copy, checks and syncs it, and then renames it, while others may write to the store.
package struct StoreBackup: Sendable {
    package struct Copy: Sendable, Encodable {
        package var name: String
        package var factCount: Int64
        package var byteCount: Int64
    }

    private let source: URL
    private let target: URL
    private var warnings: [String] = []

    package static func run(of source: URL, to target: URL) async throws -> (copies: [Copy], warnings: [String]) {
        try await StoreThread(label: "waybill.backup") { () }.run { _ in
            var backup = StoreBackup(source: source, target: target)
            return (try backup.run(), backup.warnings)
        }
    }

    private mutating func run() throws -> [Copy] {
        guard !FileManager.default.fileExists(atPath: target.path(percentEncoded: false)) else {
            throw WaybillError(
                .setting, "\(target.path(percentEncoded: false)) exists already. Name a backup that does not.")
        }
        // Reserves the name against other backups.
        let partial = try PartialFile(target)
        defer { withExtendedLifetime(partial) {} }
        let work = try partial.makeFolder()
        guard let folder = ResolvedLocation(path: source.path(percentEncoded: false)).folder else {
            let file = work.appending(path: target.lastPathComponent)
            let copy = try copy(source, to: file)
            _ = try partial.finish(with: file)
            return [copy]
        }
        let copies = try copyAll(of: folder, to: work)
        try DurableFile.syncFolder(work)
        try DurableFile.rename(work.path(percentEncoded: false), to: target)
        return copies
    }

    private mutating func copyAll(of folder: URL, to work: URL) throws -> [Copy] {
        if let reason = DurableFile.reasonToDistrust(folder: folder) {
            throw WaybillError(
                .setting, "The folder \(folder.path(percentEncoded: false)) \(reason). Nothing was copied.")
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false)).sorted()
        let stores = names.filter { $0.hasSuffix(".sqlite") && !$0.hasPrefix(".") }
        guard !stores.isEmpty else {
            throw WaybillError(.notFound, "The folder \(folder.path(percentEncoded: false)) holds no Waybill store.")
        }
        // The stores are copied later, because a cursor must not be ahead of its store.
        for name in names
        where name == "tokens" || name.hasSuffix(".otlp-cursor") || name.hasSuffix(".budgets") {
            let path = folder.appending(path: name).path(percentEncoded: false)
            guard let bytes = try? DurableFile.trustedBytes(of: path) else {
                throw WaybillError(
                    .setting,
                    "\(path) is not copied: it cannot be read, or others can write to its folder and it is a link or another user's."
                )
            }
            try DurableFile.withDescriptor(
                of: work.appending(path: name).path(percentEncoded: false), O_WRONLY | O_CREAT | O_EXCL
            ) {
                try DurableFile.write(bytes, to: $0)
                try DurableFile.sync($0)
            }
        }
        return try stores.map { try copy(folder.appending(path: $0), to: work.appending(path: $0)) }
    }

    private mutating func copy(_ store: URL, to file: URL) throws(WaybillError) -> Copy {
        let reader = try StoreReader(.file(store))
        warnings += reader.warnings
        let verification = try reader.backUp(to: file)
        let size = try? file.resourceValues(forKeys: [.fileSizeKey]).fileSize
        return Copy(name: store.lastPathComponent, factCount: verification.factCount, byteCount: Int64(size ?? 0))
    }
}

extension StoreReader {
    /// Copies one file without bodies while others may write to it, then syncs and checks the copy.
    package func backUp(to file: URL) throws(WaybillError) -> StoreVerification {
        try connection.snapshot(to: file, keepsProofs: true)
        let path = file.path(percentEncoded: false)
        do {
            // SQLite doesn't sync: sqlite.org/lang_vacuum.html, "VACUUM with an INTO clause".
            try DurableFile.withDescriptor(of: path, O_RDONLY, DurableFile.sync)
        } catch {
            throw WaybillError(.store, "The copy \(path) cannot be written to the disk.", cause: "\(error)")
        }
        let verification = try StoreReader(.file(file)).verify()
        guard verification.isSound else {
            throw WaybillError(
                .damaged, "The copy of \(connection.place) is not sound. See what `waybill verify` says of the store.",
                cause: verification.problems.first)
        }
        return verification
    }
}
