import Foundation
import WaybillCore

/// A child process of the demo: its lines of output as they come, and an end that is always reached.
final class Child: Sendable {
    let name: String
    private let process: Process
    private let lines: AsyncStream<String>

    /// Starts one of the executables that were built beside this one.
    ///
    /// - Parameter log: Where its standard error goes.
    init(_ executable: String, _ arguments: [String] = [], environment: [String: String] = [:], log: URL) throws {
        name = executable
        process = Process()
        process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(
            path: executable)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        _ = FileManager.default.createFile(atPath: log.path(), contents: nil)
        process.standardError = try FileHandle(forWritingTo: log)
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        lines = AsyncStream { continuation in
            // A thread that blocks, not `readabilityHandler`: on Linux, its source can outlive the descriptor, and
            // traps in Dispatch.
            Thread.detachNewThread {
                var rest = Data()
                while case let data = output.fileHandleForReading.availableData, !data.isEmpty {
                    rest += data
                    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                        continuation.yield(String(decoding: rest[..<end], as: UTF8.self))
                        rest = Data(rest[(end + 1)...])
                    }
                }
                continuation.finish()
            }
        }
    }

    /// The address in its first line, `listening on http://127.0.0.1:4711`.
    func address() async throws -> URL {
        for await line in lines {
            if let text = line.split(separator: " ").last, line.hasPrefix("listening on "),
                let url = URL(string: String(text))
            {
                return url
            }
        }
        throw DemoError("\(name) ended before it listened; its log is in .build/demo.")
    }

    /// Hands over each line until there are no more.
    func eachLine(_ body: (String) -> Void) async {
        for await line in lines { body(line) }
    }

    /// Waits for its end.
    ///
    /// - Throws: `DemoError` when it did not end well.
    func wait() throws {
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw DemoError("\(name) ended with status \(process.terminationStatus); its log is in .build/demo.")
        }
    }

    /// Asks it to end in order, and waits.
    func stop() throws {
        if process.isRunning { process.terminate() }
        try wait()
    }

    /// Ends it at once, if it still runs.
    func kill() {
        guard process.isRunning else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    var processID: Int32 { process.processIdentifier }
}

struct DemoError: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}
