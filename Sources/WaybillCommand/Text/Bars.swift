#if Collector
import WaybillCollector

/// Small pictures of numbers, in a line of text.
enum Bars {
    /// A bar as long as the share of the greatest, to an eighth of a column; something for every number above zero.
    static func bar<Number: BinaryInteger>(_ value: Number, of greatest: Number, width: Int) -> String {
        guard value > 0, greatest > 0, width > 0 else { return "" }
        let eighths = max(1, Int((Double(value) / Double(greatest) * Double(width * 8)).rounded()))
        let (whole, rest) = min(eighths, width * 8).quotientAndRemainder(dividingBy: 8)
        return String(repeating: "█", count: whole) + (rest > 0 ? eighth[rest - 1] : "")
    }

    /// A column for each number, as high as its share of the greatest; a space for zero.
    static func sparkline(_ values: [Int]) -> String {
        guard let greatest = values.max(), greatest > 0 else { return String(repeating: " ", count: values.count) }
        return values.map { value in value <= 0 ? " " : levels[(value * levels.count - 1) / greatest] }.joined()
    }

    private static let eighth = ["▏", "▎", "▍", "▌", "▋", "▊", "▉"]
    private static let levels = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
}
#endif
