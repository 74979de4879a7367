#if Collector
import Foundation
import TestSupport

/// A running worker, and its output so far.
final class WorkerProcess: @unchecked Sendable {  // right because everything that changes is changed under `news`
    private let process = Process()
    private let gone = Gate()
    private let news = NSCondition()
    private var numbers: [Int] = []
    private var marks: [String] = []
    private var hasEnded = false

    /// Starts the worker.
    ///
    /// - Parameter prefix: The command that starts it, e.g. `setpriv --reuid nobody`.
    init(_ arguments: [String], by prefix: [String] = []) throws {
        let words = prefix + [ChildProcess.folder.appending(path: "Faults").path(), "worker"] + arguments
        process.terminationHandler = { [gone] _ in gone.open() }
        process.executableURL = URL(filePath: words[0])
        process.arguments = Array(words.dropFirst())
        process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
        process.standardInput = FileHandle.nullDevice
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.runAlone()
        Thread.detachNewThread { [self] in
            var rest = Data()
            while case let data = pipe.fileHandleForReading.availableData, !data.isEmpty {
                rest += data
                guard let end = rest.lastIndex(of: UInt8(ascii: "\n")) else { continue }
                take(rest[..<end])
                rest = Data(rest[(end + 1)...])
            }
            news.withLock {
                hasEnded = true
                news.broadcast()
            }
        }
    }

    deinit { if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) } }

    private func take(_ lines: Data) {
        let lines = lines.split(separator: UInt8(ascii: "\n"))
        news.withLock {
            for line in lines {
                let text = String(decoding: line, as: UTF8.self)
                if let number = Int(text) { numbers.append(number) } else { marks.append(text) }
            }
            news.broadcast()
        }
    }

    /// The numbers that it has reported as journaled.
    var journaled: [Int] { news.withLock { numbers } }

    /// Waits for a line with this prefix, and throws if it takes too long.
    @discardableResult
    func wait(for mark: String, seconds: Double = 180) throws -> String {
        try wait(seconds: seconds, for: "\"\(mark)\"") { marks.last { $0.hasPrefix(mark) } }
    }

    /// Waits until `count` more facts are journaled.
    func wait(forMore count: Int, seconds: Double = 180) throws {
        let goal = journaled.count + count
        try wait(seconds: seconds, for: "\(count) more journaled facts") { numbers.count >= goal ? () : nil }
    }

    /// Waits for its first health report.
    func waitForHealth(seconds: Double = 180) throws {
        try wait(seconds: seconds, for: "its health") { health.map { _ in () } }
    }

    /// Whether its latest health report is a bad one.
    var isIll: Bool { news.withLock { health?.hasPrefix("ill") ?? false } }

    var isRunning: Bool { process.isRunning }

    private var health: String? { marks.last { $0.hasPrefix("well") || $0.hasPrefix("ill") } }

    /// Waits until its latest health report is this.
    func wait(untilIs health: String, seconds: Double = 180) throws {
        try wait(seconds: seconds, for: "being \(health)") {
            self.health?.hasPrefix(health) == true ? () : nil
        }
    }

    private func wait<Value>(seconds: Double, for what: String, _ look: () -> Value?) throws -> Value {
        let limit = Date(timeIntervalSinceNow: seconds)
        return try news.withLock {
            while true {
                if let value = look() { return value }
                guard !hasEnded, news.wait(until: limit) else {
                    throw Trouble(
                        "A worker \(hasEnded ? "ended" : "was waited for in vain"): \(what). It called \(numbers.count) facts journaled, and said: \(marks.suffix(5))."
                    )
                }
            }
        }
    }

    /// Sends SIGKILL, and returns when the process is gone and its output is read. If that takes longer than a minute,
    /// it returns with a message.
    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        let limit = Date(timeIntervalSinceNow: 60)
        let isGone =
            gone.wait(within: .seconds(60))
            && news.withLock {
                while !hasEnded { guard news.wait(until: limit) else { return false } }
                return true
            }
        if !isGone { FileHandle.standardError.write(Data("A worker was not gone a minute after SIGKILL.\n".utf8)) }
    }

    /// Makes it stop recording, deliver everything, and end.
    func askToEnd() throws {
        try wait(for: "ready")
        process.terminate()
    }

    var processID: Int32 { process.processIdentifier }
}

/// An error that keeps a case from running.
struct Trouble: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}
#endif
