import Foundation

/// A second process of this program. Its work is not measured, or is measured alone.
///
/// It ends when the process that started it ends, because its standard input closes.
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

    /// Returns the output since the last call. Waits if there is none.
    func told() -> String {
        String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Writes a line to the child's standard input, and waits for its answer.
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
