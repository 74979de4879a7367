package import Foundation

/// A folder in which files appear whole or not at all, and stay through a power cut.
package struct DurableFolder {
    private let url: URL

    package init(_ url: URL) { self.url = url }

    /// Writes a file that only its owner may read, in place of one of that name.
    ///
    /// - Throws: What the system says about the folder or the file; no trace of the file is left then.
    package func write(_ bytes: [UInt8], to name: String) throws {
        try makeIfMissing()
        let final = url.appending(path: name).path
        let temporary = url.appending(path: ".\(name).partial").path
        unlink(temporary)  // of a process that died here
        do {
            try Self.withDescriptor(of: temporary, O_WRONLY | O_CREAT | O_EXCL) { descriptor in
                try Self.writeAll(bytes, to: descriptor)
                try Self.sync(descriptor)
            }
            try Self.check(rename(temporary, final))
        } catch {
            unlink(temporary)
            throw error
        }
        try sync()
    }

    private func makeIfMissing() throws {
        guard !FileManager.default.fileExists(atPath: url.path) else { return }
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try DurableFolder(url.deletingLastPathComponent()).sync()
    }

    /// A rename is on the disk when the folder is.
    private func sync() throws { try Self.withDescriptor(of: url.path, O_RDONLY | O_DIRECTORY, Self.sync) }

    private static func withDescriptor(of path: String, _ flags: Int32, _ body: (Int32) throws -> Void) throws {
        let descriptor = open(path, flags | O_CLOEXEC, 0o600)
        try check(descriptor)
        defer { close(descriptor) }
        try body(descriptor)
    }

    private static func writeAll(_ bytes: [UInt8], to descriptor: Int32) throws {
        try bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Foundation.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0 && errno == EINTR { continue }
                try check(Int32(truncatingIfNeeded: min(count, 0)))
                rest = rest.dropFirst(count)
            }
        }
    }

    private static func sync(_ descriptor: Int32) throws {
        #if canImport(Darwin)
        // fsync(2) there leaves the bytes in the drive's own buffer.
        if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
        #endif
        try check(fsync(descriptor))
    }

    /// Throws what `errno` says where a call returned a negative number.
    private static func check(_ status: Int32) throws {
        if status < 0 { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }
}
