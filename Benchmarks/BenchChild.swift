import Foundation

/// This program once more, as a process of its own, so that what it does is not measured, or is measured alone.
///
/// It ends with the process that started it: its standard input does.
final class BenchChild {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    init(_ arguments: [String]) throws {
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    deinit { process.terminate() }

    var id: Int32 { process.processIdentifier }

    /// What it has printed since it was last asked, once there is something.
    func told() -> String {
        String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Writes a line to its standard input, and waits for its answer.
    func ask(_ line: String = "") throws -> String {
        try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
        return told()
    }

    /// In the child: prints a line at once.
    static func tell(_ text: some CustomStringConvertible) {
        print(text)
        fflush(nil)
    }
}
