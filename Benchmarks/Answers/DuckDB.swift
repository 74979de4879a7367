import Foundation
import WaybillCore

/// DuckDB's shell, as `make setup` installs it.
enum DuckDB {
    private static let shell = ".build-tools/validators/bin/duckdb"

    /// Returns the shell's output, as CSV without titles, and the total time of the statements in milliseconds, without
    /// the startup before them.
    static func run(_ sql: String) throws -> (lines: [String], milliseconds: Double) {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: shell)
        process.arguments = [
            "-bail", "-c", ".read Schemas/duckdb.sql", "-c", ".mode csv", "-c", ".headers off", "-c", ".timer on", "-c",
            sql,
        ]
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw WaybillError(.store, "DuckDB has failed; `make setup` installs it.")
        }
        // Run Time (s): real 0.012 user 0.019 sys 0.001
        var lines: [String] = []
        var milliseconds = 0.0
        for line in text.split(whereSeparator: \.isNewline) {  // CSV ends lines with CR LF
            let words = line.split(separator: " ")
            if line.hasPrefix("Run Time"), words.count > 4 {
                milliseconds += (Double(words[4]) ?? 0) * 1000
            } else {
                lines.append(line.trimmingCharacters(in: .whitespacesAndNewlines))
            }
        }
        return (lines, milliseconds)
    }

    /// Returns the numbers in the shell's output.
    static func figures(_ sql: String) throws -> (figures: [Int64], milliseconds: Double) {
        let (lines, milliseconds) = try run(sql)
        return (lines.flatMap { $0.split(separator: ",").compactMap { Int64($0) } }, milliseconds)
    }
}
