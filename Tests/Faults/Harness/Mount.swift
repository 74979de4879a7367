#if Collector
import Foundation

/// A file system that is small enough to fill, in memory or in an image, mounted while this object lives.
final class Mount: Sendable {
    let folder: URL

    /// - Throws: ``Skipped`` if this process may not mount.
    init(size: String, at folder: URL) throws {
        self.folder = folder
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let (status, words) = try command(
            "mount", "-t", "tmpfs", "-o", "mode=700,size=\(size)", "waybill-faults", folder.path())
        guard status == 0 else { throw Skipped(reason: "a tmpfs cannot be mounted here: \(words)") }
    }

    /// - Parameter type: The type of the file system, which is made in an image beside the folder.
    /// - Throws: ``Skipped`` if it can't be made here, or this process may not mount.
    init(image type: String, at folder: URL) throws {
        self.folder = folder
        let image = folder.deletingLastPathComponent().appending(path: type).path(percentEncoded: false)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for words in [
            ["truncate", "-s", "320M", image], ["mkfs.\(type)", "-q", image],
            ["mount", "-o", "loop", image, folder.path(percentEncoded: false)],
        ] {
            let (status, complaint) = try command(words)
            guard status == 0 else { throw Skipped(reason: "no \(type) can be mounted here: \(complaint)") }
        }
    }

    /// Mounts an overlay like those of containers: files written to `folder` are in `upper`, a folder of another file
    /// system.
    init(over upper: URL, at folder: URL) throws {
        self.folder = folder
        let work = upper.deletingLastPathComponent().appending(path: "work", directoryHint: .isDirectory)
        let lower = folder.deletingLastPathComponent().appending(path: "lower", directoryHint: .isDirectory)
        for made in [folder, upper, work, lower] {
            try FileManager.default.createDirectory(at: made, withIntermediateDirectories: true)
        }
        let (status, words) = try command(
            "mount", "-t", "overlay", "-o",
            "lowerdir=\(lower.path()),upperdir=\(upper.path()),workdir=\(work.path())", "waybill-faults", folder.path())
        guard status == 0 else { throw Skipped(reason: "no overlay can be mounted here: \(words)") }
    }

    #if os(Linux)
    /// Makes the file system fail every request from now on, as after a disk error.
    func shutDown() throws {
        let descriptor = open(folder.path(percentEncoded: false), O_RDONLY)
        defer { close(descriptor) }
        // XFS_IOC_GOINGDOWN, which ext4 supports, too (`_IOR('X', 125, __u32)`): without writing the log.
        var howSo: UInt32 = 2
        guard ioctl(descriptor, 0x8004_587D, &howSo) == 0 else {
            throw Trouble("\(folder) cannot be shut down: \(String(cString: strerror(errno)))")
        }
    }
    #endif

    /// Unmounts lazily, since a process that was just killed may not be gone yet.
    deinit { _ = try? command("umount", "--lazy", folder.path()) }

    func remount(_ options: String) throws {
        let (status, words) = try command("mount", "-o", "remount,\(options)", folder.path())
        guard status == 0 else { throw Trouble("remount,\(options): \(words)") }
    }
}

/// Runs a program of the system, and returns its status and its complaints.
@discardableResult
func command(_ words: String...) throws -> (status: Int32, complaint: String) { try command(words) }

@discardableResult
func command(_ words: [String]) throws -> (status: Int32, complaint: String) {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = words
    let pipe = Pipe()
    process.standardOutput = FileHandle.nullDevice
    process.standardError = pipe
    try process.run()
    let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text.trimmingCharacters(in: .whitespacesAndNewlines))
}
#endif
