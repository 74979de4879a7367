import Foundation
import WaybillCore

/// The replacement of a damaged store by its readable parts.
///
/// The old file stays as `waybill.sqlite.damaged-<seconds since 1970>`.
struct Salvage {
    private(set) var factCount: Int64 = 0
    private(set) var lostCount: Int64 = 0

    private let file: StoreFile

    /// Replaces the file and returns what to report; `nil` if another process was faster. Close all connections first.
    static func replace(
        _ file: StoreFile, damaged: StoreFile.Identity?, under lock: FileLock, at wall: Int64
    ) throws(WaybillError) -> WaybillError? {
        try lock.acquire()
        defer { lock.release() }
        guard let damaged, file.identity == damaged else { return nil }
        var salvage = Salvage(file: file)
        try salvage.makeSuccessor()
        guard let aside = try file.succeed(at: wall) else { return nil }
        return WaybillError(
            .damaged,
            "The store \(file.path) was damaged. \(salvage.factCount) facts were taken over into a new one; "
                + "\(salvage.lostCount) that were not delivered are lost, and told to the collector as dropped. The damaged file is \(aside)."
        )
    }

    private mutating func makeSuccessor() throws(WaybillError) {
        for suffix in ["", "-journal"] { unlink(file.draft + suffix) }
        let descriptor = DurableFile.open(file.draft, O_WRONLY | O_CREAT | O_EXCL)
        guard descriptor >= 0 else { throw cannotBeMade(String(cString: strerror(errno))) }
        close(descriptor)
        StoreFolder.excludeFromBackup(URL(filePath: file.draft))
        let repaired = HeaderRepair(file.path)
        defer { repaired.remove() }
        do {
            let connection = try Connection("file:" + ResolvedLocation.escaped(file.draft), .readWrite, at: file.path)
            try connection.execute("PRAGMA synchronous = FULL")
            _ = try connection.transaction { () throws(WaybillError) in try Schema.migrate(connection) }
            // If the file can't be opened, the new store is empty.
            if let damaged = try? Connection(
                "file:" + ResolvedLocation.escaped(repaired.path), .readWrite, at: file.path)
            {
                // Reads every intact page, whatever else is wrong.
                try? damaged.execute("PRAGMA cell_size_check = OFF")
                try connection.transaction { () throws(WaybillError) in
                    try SalvagedRows(from: damaged, into: connection).copy()
                    var books = SalvagedBooks(connection)
                    try books.balance()
                    (factCount, lostCount) = (books.factCount, books.lostCount)
                }
            }
        }
        do {
            try DurableFile.rename(file.draft, to: URL(filePath: file.successor))
        } catch {
            throw cannotBeMade(error.localizedDescription)
        }
    }

    private func cannotBeMade(_ cause: String) -> WaybillError {
        WaybillError(
            .store,
            "The new store cannot be made beside the damaged \(file.path). Check the permissions of its folder.",
            cause: cause)
    }
}

struct StoreFile {
    let path: String

    struct Identity: Hashable {
        var device: UInt64
        var number: UInt64
    }

    var identity: Identity? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return Identity(
            device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(truncatingIfNeeded: status.st_ino))
    }

    var draft: String { path + "-salvaging" }
    var successor: String { path + "-salvaged" }

    var hasSuccessor: Bool { access(successor, F_OK) == 0 && !DurableFile.isForeign(successor) }

    static let asideMark = ".damaged-"

    /// Puts the successor in place, and returns the new path of the damaged file. An interrupted call can be repeated.
    @discardableResult
    func succeed(at wall: Int64) throws(WaybillError) -> String? {
        guard hasSuccessor else { return nil }
        let aside = "\(path)\(Self.asideMark)\(wall / 1_000_000)"
        do {
            for suffix in ["-wal", ""] where access(path + suffix, F_OK) == 0 {
                try DurableFile.check(rename(path + suffix, aside + suffix))
            }
            unlink(path + "-shm")
            try DurableFile.rename(successor, to: URL(filePath: path))
        } catch {
            throw WaybillError(
                .store, "The damaged store \(path) cannot be moved away. Check the permissions of its folder.",
                cause: error.localizedDescription)
        }
        removeAside(butFor: aside)
        return aside
    }

    /// Keeps `latest`, which is enough to investigate.
    func removeAside(butFor latest: String? = nil) {
        let file = URL(filePath: path)
        let folder = file.deletingLastPathComponent()
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))) ?? []
        for name in names where name.hasPrefix(file.lastPathComponent + Self.asideMark) {
            let path = folder.appending(path: name).path(percentEncoded: false)
            if let latest, path.hasPrefix(latest) { continue }
            unlink(path)
        }
    }
}

/// A database with a valid header: the file, or a copy with repaired constant bytes. Without them, SQLite reads nothing
/// (sqlite.org/fileformat2.html, 1.3).
struct HeaderRepair {
    let path: String
    private let isCopy: Bool

    private static let byteCount = 100

    init(_ original: String) {
        let copy = original + "-repaired"
        guard let header = Self.header(of: original), let repaired = Self.repaired(header),
            Self.copy(original, to: copy),
            (try? DurableFile.withDescriptor(
                of: copy, O_WRONLY | O_NOFOLLOW, { descriptor in try DurableFile.write(repaired, to: descriptor) }))
                != nil
        else {
            (path, isCopy) = (original, false)
            return
        }
        (path, isCopy) = (copy, true)
    }

    /// SQLite may report other errors than damage for a wrong header.
    static func isNeeded(for path: String) -> Bool {
        guard let header = header(of: path), repaired(header) != nil else { return false }
        return Array(header[68..<72]) == withUnsafeBytes(of: UInt32(Schema.applicationID).bigEndian, Array.init)
    }

    func remove() {
        guard isCopy else { return }
        for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
    }

    private static func header(of path: String) -> [UInt8]? {
        // Closing another descriptor would drop the locks of this process's other connections.
        let connection = try? Connection("file:" + ResolvedLocation.escaped(path), .readOnly, at: path)
        return connection?.firstBytes(byteCount)
    }

    private static func repaired(_ header: [UInt8]) -> [UInt8]? {
        var header = header
        let before = header
        header.replaceSubrange(0..<16, with: Array("SQLite format 3\0".utf8))
        header.replaceSubrange(16..<18, with: [0x10, 0x00])  // pages of 4,096 bytes
        if ![1, 2].contains(header[18]) || header[18] != header[19] { (header[18], header[19]) = (2, 2) }  // WAL
        header.replaceSubrange(20..<24, with: [0, 64, 32, 32])
        header.replaceSubrange(44..<48, with: [0, 0, 0, 4])  // schema format
        header.replaceSubrange(56..<60, with: [0, 0, 0, 1])  // UTF-8
        guard header != before else { return nil }
        // A mismatch with the change counter makes SQLite use the file's length instead of the stored size.
        header.replaceSubrange(92..<96, with: [0xFF, 0xFF, 0xFF, 0xFF])
        return header
    }

    private static func copy(_ original: String, to copy: String) -> Bool {
        for suffix in ["", "-wal", "-shm"] { unlink(copy + suffix) }
        do {
            try FileManager.default.copyItem(atPath: original, toPath: copy)
            if access(original + "-wal", F_OK) == 0 {
                try FileManager.default.copyItem(atPath: original + "-wal", toPath: copy + "-wal")
            }
            return true
        } catch {
            return false
        }
    }
}
