import Foundation

/// A line of the table with its figures, as in `.build/bench.json`.
struct Result: Encodable {
    var name: String
    var value: Double
    var unit: String
    var baseline: String
    var baselineValue: Double
    /// The value divided by the baseline's.
    var ratio: Double

    init(_ row: Row, _ comparison: Comparison) {
        name = row.name
        value = comparison.value
        unit = row.unit
        baseline = row.baseline
        baselineValue = comparison.baseline
        ratio = comparison.ratioOfRounds ?? comparison.value / comparison.baseline
    }

    /// Writes an array of results, and creates the folder if necessary.
    static func write(_ results: [Result], to file: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try encoder.encode(results).write(to: file, options: .atomic)
    }
}
