public import Foundation

/// A real child process that runs an executable built beside the tests.
public final class ChildProcess: Sendable {
    private let process: Process
    private let output: FileHandle
    private let ended = Gate()

    /// Starts the process. Its standard error is this process's.
    ///
    /// - Parameter executable: The name of an executable target or product.
    public init(_ executable: String, _ arguments: [String], environment: [String: String] = [:]) throws {
        process = Process()
        process.terminationHandler = { [ended] _ in ended.open() }
        process.executableURL = Self.folder.appending(path: executable)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(Self.environment) { $1 }
            .merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        let pipe = Pipe()
        process.standardOutput = pipe
        output = pipe.fileHandleForReading
        try process.runAlone()
    }

    deinit { kill() }

    private static let environment = [
        // Children that are meant to crash need no backtrace.
        "SWIFT_BACKTRACE": "enable=no",
        // Under the thread sanitizer, too, children die of their signals, and may start a thread after a fork, as the
        // library does to make a journal.
        "TSAN_OPTIONS": "handle_segv=0:handle_sigbus=0:handle_sigill=0:handle_sigfpe=0:die_after_fork=0",
    ]

    /// Reads the process's output to the end, then waits until it has exited.
    ///
    /// - Parameter bound: How long that may take. Afterwards the process is killed, and standard error reports that.
    /// - Returns: All that it wrote, and its exit status or the signal that ended it.
    public func finish(within bound: Duration = .seconds(300)) -> (output: String, status: Int32) {
        let (process, ended) = (process, ended)
        Thread.detachNewThread {
            guard !ended.wait(within: bound) else { return }
            let words = [process.executableURL?.lastPathComponent ?? ""] + (process.arguments ?? [])
            FileHandle.standardError.write(Data("\(words) was not over after \(bound), and is killed.\n".utf8))
            Foundation.kill(process.processIdentifier, SIGKILL)
        }
        let data = output.readDataToEndOfFile()
        // It has closed its output. If it does not exit, the thread above kills it.
        let isOver = ended.wait(within: bound + .seconds(60))
        return (String(decoding: data, as: UTF8.self), isOver ? process.terminationStatus : SIGKILL)
    }

    /// As ``finish(within:)``, on a separate thread: tests that run meanwhile need the cooperative pool, which has no
    /// more threads than the machine has cores.
    public func finished(within bound: Duration = .seconds(300)) async -> (output: String, status: Int32) {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [self] in continuation.resume(returning: finish(within: bound)) }
        }
    }

    /// Returns the next line of its output; `nil` after the last one.
    public func line() -> String? {
        var line = Data()
        while let byte = try? output.read(upToCount: 1), !byte.isEmpty {
            if byte[byte.startIndex] == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
            line += byte
        }
        return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
    }

    /// Sends SIGKILL, and waits for its end, for a minute at most.
    public func kill() {
        guard process.isRunning else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
        _ = ended.wait(within: .seconds(60))
    }

    /// Sends SIGTERM.
    public func terminate() { process.terminate() }

    /// Sends any signal.
    public func signal(_ signal: Int32) { Foundation.kill(process.processIdentifier, signal) }

    /// The process ID.
    public var id: Int32 { process.processIdentifier }

    /// Sends SIGSTOP and waits until the process has stopped, which is not immediate.
    public func stop() throws {
        signal(SIGSTOP)
        try eventually("the process stands still") { isStopped }
    }

    #if os(Linux)
    /// Whether it is stopped (man 5 proc_pid_stat: the letter after its name).
    public var isStopped: Bool {
        let text = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8)
        return text?.split(separator: ")").last?.split(separator: " ").first == "T"
    }
    #else
    /// Whether it is stopped.
    public var isStopped: Bool { true }
    #endif

    /// The folder that the tests were built into.
    public static var folder: URL {
        #if os(Linux)
        URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        #else
        Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL.deletingLastPathComponent()
            ?? Bundle.main.bundleURL
        #endif
    }
}
