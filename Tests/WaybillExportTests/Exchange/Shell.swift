import Foundation
import TestSupport

/// An installed shell that runs scripts.
struct Shell: Sendable, CustomStringConvertible {
    let description: String
    private let program: URL

    /// The shell that every POSIX system has.
    static let posix = Shell(description: "sh", program: URL(filePath: "/bin/sh"))

    /// The installed shells among those that people paste commands into.
    static let installed = ["bash", "dash", "zsh"].compactMap { name in
        ["/bin/", "/usr/bin/", "/usr/local/bin/"].map { $0 + name }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
            .map { Shell(description: name, program: URL(filePath: $0)) }
    }

    static let hasCurl = (try? posix.run("command -v curl").isEmpty) == false

    /// Runs a script and returns its standard output.
    func run(_ script: String) throws -> String {
        let folder = try TemporaryDirectory()
        let file = folder.file("script")
        // A file, because one argument of a process is at most 128 KiB on Linux.
        try Data(script.utf8).write(to: file)
        let shell = Process()
        shell.executableURL = program
        shell.arguments = [file.path]
        shell.standardInput = FileHandle.nullDevice
        let pipe = Pipe()
        shell.standardOutput = pipe
        try shell.runAlone()
        let said = try pipe.fileHandleForReading.readToEnd() ?? Data()
        shell.waitUntilExit()
        return String(decoding: said, as: UTF8.self)
    }
}
