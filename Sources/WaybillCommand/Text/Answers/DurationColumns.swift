#if Collector
import WaybillAnalysis
import WaybillCollector
import WaybillCore
import WaybillExport

/// Columns that say how long something took, all in one unit.
struct DurationColumns {
    let scale: TimeScale
    private let shown: [(title: String, value: KeyPath<DurationStatistics, Int64?>)]

    /// - Parameters:
    ///   - statistics: Of all rows; they decide the unit.
    ///   - titles: Those that are wanted; nil: all.
    init(_ statistics: [DurationStatistics], titles: [String]? = nil) {
        // Not by the maximum, which may be a night during which a phone was suspended.
        scale = TimeScale(column: statistics.compactMap(\.p99Microseconds).max() ?? 0)
        shown = Self.all.filter { titles?.contains($0.title) ?? true }
    }

    var columns: [(title: String, alignment: TextTable.Alignment)] { shown.map { ($0.title, .right) } }

    func cells(_ statistics: DurationStatistics) -> [Cell] {
        shown.map { Cell(statistics[keyPath: $0.value].map(scale.text) ?? "-", $0.title == "P50" ? .bold : nil) }
    }

    /// `, in ms`.
    var unit: String { scale.unit.map { ", in \($0)" } ?? "" }

    /// Columns that a narrow terminal does without, the first ones first.
    static let spare = ["P75", "P95", "MEAN", "MIN"]

    private static var all: [(title: String, value: KeyPath<DurationStatistics, Int64?>)] {
        [
            ("MIN", \.minimumMicroseconds), ("P50", \.p50Microseconds), ("P75", \.p75Microseconds),
            ("P90", \.p90Microseconds),
            ("P95", \.p95Microseconds), ("P99", \.p99Microseconds), ("MAX", \.maximumMicroseconds),
            ("MEAN", \.meanMicroseconds),
        ]
    }
}
#endif
