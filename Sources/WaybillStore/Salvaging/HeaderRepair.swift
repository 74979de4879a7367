import Foundation

/// A database whose header is as SQLite needs it: the file itself, or a copy of it where bytes that are the same in
/// every store were not.
///
/// sqlite.org/fileformat2.html, 1.3. Without them SQLite reads nothing at all, although every page may be whole.
struct HeaderRepair {
    /// What to open.
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

    /// Whether a file that says that it is a store could not be one with such a header: SQLite finds other words than
    /// damage for some of it.
    static func isNeeded(for path: String) -> Bool {
        guard let header = header(of: path), repaired(header) != nil else { return false }
        return Array(header[68..<72]) == withUnsafeBytes(of: UInt32(Schema.applicationID).bigEndian, Array.init)
    }

    /// Removes the copy.
    func remove() {
        guard isCopy else { return }
        for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
    }

    private static func header(of path: String) -> [UInt8]? {
        // Other connections of this process may be open, whose locks are lost when any descriptor of the file is closed.
        let connection = try? Connection("file:" + ResolvedLocation.escaped(path), .readOnly, at: path)
        return connection?.firstBytes(byteCount)
    }

    /// nil: it is as it should be.
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
        // The size in pages is not believed when this differs from the change counter: the file's length is.
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
