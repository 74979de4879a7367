#if Collector
import Foundation

/// A line of the table, as `.build/faults.json` holds it.
struct FaultResult: Encodable {
    var name: String
    var counts = FaultCounts()
    /// The reason why the case was skipped; `nil` if it ran.
    var skipped: String?
    var seconds = 0.0

    /// Whether something is wrong, including a fact that is counted nowhere or twice.
    var hasFailed: Bool { counts.lost != 0 || counts.doubled != 0 || !counts.problems.isEmpty }

    enum CodingKeys: String, CodingKey {
        case name = "case"
        case runs, journaled, delivered, dropped, lost, doubled, problems, remark, skipped
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        try container.encode(counts.runs, forKey: .runs)
        try container.encode(counts.journaled, forKey: .journaled)
        try container.encode(counts.delivered, forKey: .delivered)
        try container.encode(counts.dropped, forKey: .dropped)
        try container.encode(counts.lost, forKey: .lost)
        try container.encode(counts.doubled, forKey: .doubled)
        if !counts.problems.isEmpty { try container.encode(counts.problems, forKey: .problems) }
        try container.encodeIfPresent(counts.remark, forKey: .remark)
        try container.encodeIfPresent(skipped, forKey: .skipped)
    }

    /// Writes an array of results, and creates the folder if it does not exist.
    static func write(_ results: [FaultResult], to file: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try encoder.encode(results).write(to: file, options: .atomic)
    }
}

/// Lines up results that are printed one at a time.
struct FaultTable {
    private let nameWidth: Int
    private static let titles = ["runs", "journaled", "delivered", "dropped", "lost", "doubled", "seconds"]
    private static let numberWidth = 10

    init(_ cases: [FaultCase]) { nameWidth = (cases.map(\.name.count) + [4]).max() ?? 4 }

    var head: String { line("case", Self.titles) }

    func lines(_ result: FaultResult) -> [String] {
        if let reason = result.skipped { return [line(result.name, []) + "  skipped: \(reason)"] }
        let counts = result.counts
        let numbers = [counts.runs, counts.journaled, counts.delivered, counts.dropped, counts.lost, counts.doubled]
            .map(String.init)
        let seconds = "\((result.seconds * 10).rounded() / 10)"
        return [line(result.name, numbers + [seconds]) + (counts.remark.map { "  \($0)" } ?? "")]
            + counts.problems.prefix(10).map { "  WRONG: \($0)" }
    }

    private func line(_ name: String, _ cells: [String]) -> String {
        name.padding(toLength: nameWidth, withPad: " ", startingAt: 0)
            + cells.map { String(repeating: " ", count: max(1, Self.numberWidth - $0.count)) + $0 }.joined()
    }
}
#endif
