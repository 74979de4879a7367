import Foundation

/// The ratios of a quiet run, by the names of rows, in `Benchmarks/ratios.json`. Later runs are compared with them.
struct Ratios {
    private static let file = URL(filePath: "Benchmarks/ratios.json")
    /// How many times worse a row may be in its best attempt.
    private static let tolerance = 1.3
    private static let attempts = 3

    private let recorded: [String: Double]

    /// - Parameter rows: All existing rows.
    init(of rows: [Row]) throws {
        recorded = try JSONDecoder().decode([String: Double].self, from: Data(contentsOf: Self.file))
        if let unknown = Set(recorded.keys).subtracting(rows.map(\.name)).min() {
            throw UsageError(sentence: "Benchmarks/ratios.json names \"\(unknown)\", and there is no such row.")
        }
    }

    /// Measures each row that is in the file, measures it again while it is worse, and prints how it compares.
    ///
    /// - Returns: Whether no row is worse in its best attempt.
    func check(_ rows: [Row]) async throws -> Bool {
        var worse: [String] = []
        for row in rows {
            guard let recorded = recorded[row.name] else { continue }
            var best = Double.infinity
            for _ in 0..<Self.attempts where best > Self.tolerance {
                let ratio = Result(row, try await row.measure()).ratio
                best = min(best, row.isMoreBetter ? recorded / ratio : ratio / recorded)
            }
            let isWorse = best > Self.tolerance
            if isWorse { worse.append(row.name) }
            let factor = "\(Self.text(best)) times \(Self.text(recorded))"
            BenchChild.tell("\(isWorse ? "WORSE" : "ok   ")  \(row.name): \(factor) over \(row.baseline)")
        }
        guard !worse.isEmpty else { return true }
        BenchChild.tell(
            """
            Worse than Benchmarks/ratios.json by more than \(Self.tolerance) times: \(worse.joined(separator: ", ")). Mend \
            what made it so; where it has to be so, say why, and write the file anew on a quiet machine: \
            make bench-check WRITE=1
            """)
        return false
    }

    /// Measures each row that is in the file, and writes the medians to the file.
    func renew(_ rows: [Row]) async throws {
        var renewed = recorded
        for row in rows where recorded[row.name] != nil {
            var ratios: [Double] = []
            for _ in 0..<Self.attempts { ratios.append(Result(row, try await row.measure()).ratio) }
            renewed[row.name] = (ratios.median * 100).rounded() / 100
            BenchChild.tell("\(row.name): \(Self.text(recorded[row.name] ?? 0)), now \(Self.text(ratios.median))")
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try (encoder.encode(renewed) + Data("\n".utf8)).write(to: Self.file, options: .atomic)
    }

    private static func text(_ number: Double) -> String {
        number.formatted(.number.precision(.fractionLength(2)).locale(Locale(identifier: "en_US_POSIX")))
    }
}

extension Row {
    /// Whether a larger value is better, as for operations per second.
    var isMoreBetter: Bool { unit.hasSuffix("/s") }
}
