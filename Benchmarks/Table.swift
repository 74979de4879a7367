import Foundation

/// Aligns results that are printed one at a time, as they arrive.
struct Table {
    private var widths: [Int]
    private static let titles = ["row", "value", "unit", "baseline", "value", "ratio"]
    private static let numbers: Set = [1, 4, 5]
    private static let numberWidth = 11

    init(_ rows: [Row]) {
        let columns = [rows.map(\.name), [], rows.map(\.unit), rows.map(\.baseline), [], []]
        widths = zip(columns, Self.titles).map { column, title in (column + [title]).map(\.count).max() ?? 0 }
        for number in Self.numbers { widths[number] = Self.numberWidth }
    }

    var head: String { line(Self.titles) }

    func line(_ result: Result) -> String {
        line([
            result.name, format(result.value), result.unit, result.baseline, format(result.baselineValue),
            format(result.ratio, digits: 2),
        ])
    }

    private func line(_ cells: [String]) -> String {
        let padded = cells.indices.map { index in
            let padding = String(repeating: " ", count: max(0, widths[index] - cells[index].count))
            return Self.numbers.contains(index) ? padding + cells[index] : cells[index] + padding
        }
        return padded.joined(separator: "  ")
    }

    /// Formats a value. The larger it is, the fewer digits follow the point.
    private func format(_ value: Double, digits: Int? = nil) -> String {
        value.formatted(
            .number.precision(.fractionLength(digits ?? (value < 100 ? 1 : 0))).locale(
                Locale(identifier: "en_US_POSIX")))
    }
}
