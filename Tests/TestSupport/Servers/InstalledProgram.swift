import Foundation

/// A program that `make test` installs.
public struct InstalledProgram {
    let url: URL

    /// Whether tests that need these programs run: if all of them are installed, and always in `make test`.
    ///
    /// A plain `swift test` works on a machine that has only Swift: it skips these tests.
    public static func areRunnable(_ names: String...) -> Bool {
        ProcessInfo.processInfo.environment["WAYBILL_TESTS_NEED_PROGRAMS"] != nil
            || names.allSatisfy { (try? InstalledProgram($0)) != nil }
    }

    /// Looks for the program on the PATH, and in the folders of administrators' programs.
    init(_ name: String) throws {
        let path = (ProcessInfo.processInfo.environment["PATH"] ?? "") + ":/usr/sbin:/usr/local/sbin:/opt/homebrew/bin"
        let places = path.split(separator: ":").map { URL(filePath: String($0)).appending(path: name) }
        guard let url = places.first(where: { FileManager.default.isExecutableFile(atPath: $0.path) }) else {
            throw MissingProgram(name: name)
        }
        self.url = url
    }

    /// Runs the program to its end, without its standard error.
    func run(_ arguments: [String]) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = url
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }
}

/// A program that the tests need is not installed.
public struct MissingProgram: Error, CustomStringConvertible {
    let name: String

    public var description: String { "\(name) is not installed: run `Scripts/setup test`." }
}
