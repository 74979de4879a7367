package import Foundation

/// What makes files stay through a power cut; each throws what the system says as a `POSIXError`.
package enum DurableFile {
    /// Writes all of the bytes.
    package static func write(_ bytes: [UInt8], to descriptor: Int32) throws {
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

    /// Waits until what was written is on the disk.
    package static func sync(_ descriptor: Int32) throws {
        #if canImport(Darwin)
        // fsync(2) there leaves the bytes in the drive's own buffer.
        if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
        #endif
        try check(fsync(descriptor))
    }

    /// Gives a complete file that is on the disk its name, in place of one of that name. A rename is on the disk when
    /// the folder is.
    package static func rename(_ temporary: String, to file: URL) throws {
        try check(Foundation.rename(temporary, file.path(percentEncoded: false)))
        try syncFolder(file.deletingLastPathComponent())
    }

    /// Makes what was made, renamed or removed in a folder stay.
    package static func syncFolder(_ folder: URL) throws {
        try withDescriptor(of: folder.path(percentEncoded: false), O_RDONLY | O_DIRECTORY, sync)
    }

    /// Opens a file, which only its owner may read where it is made, and closes it again.
    package static func withDescriptor(of path: String, _ flags: Int32, _ body: (Int32) throws -> Void) throws {
        let descriptor = open(path, flags | O_CLOEXEC, 0o600)
        try check(descriptor)
        defer { close(descriptor) }
        try body(descriptor)
    }

    /// Throws what `errno` says where a call returned a negative number.
    package static func check(_ status: Int32) throws {
        if status < 0 { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }
}
