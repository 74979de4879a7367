#if Collector
import Foundation

/// A file system in memory of a size that can be reached, mounted while this lives.
final class Mount: Sendable {
    let folder: URL

    /// - Throws: ``Skipped`` where this process may not mount.
    init(size: String, at folder: URL) throws {
        self.folder = folder
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let (status, words) = try command(
            "mount", "-t", "tmpfs", "-o", "mode=700,size=\(size)", "waybill-faults", folder.path())
        guard status == 0 else { throw Skipped(reason: "a tmpfs cannot be mounted here: \(words)") }
    }

    /// Lazily, since who was killed a moment ago may still be on the way out.
    deinit { _ = try? command("umount", "--lazy", folder.path()) }

    func remount(_ options: String) throws {
        let (status, words) = try command("mount", "-o", "remount,\(options)", folder.path())
        guard status == 0 else { throw Trouble("remount,\(options): \(words)") }
    }
}

/// Runs a program of the system; its status, and what it complained about.
@discardableResult
func command(_ words: String...) throws -> (status: Int32, complaint: String) {
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
