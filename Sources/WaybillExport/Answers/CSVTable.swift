import WaybillAnalysis
import WaybillCore
import WaybillStore

/// Rows of values for a program: RFC 4180, with a header line.
package struct CSVTable: Sendable {
    enum Value: Sendable {
        case text(String?)
        case integer(Int64?)
        case number(Double?)

        static func integer(_ count: Int) -> Value { .integer(Int64(count)) }
    }

    let columns: [String]
    var rows: [[Value]] = []

    init(columns: [String]) { self.columns = columns }

    /// UTF-8.
    package var bytes: [UInt8] {
        var csv = CSVFormat()
        for row in [columns.map { .text($0) }] + rows {
            csv.beginRow([])
            for value in row {
                switch value {
                case .text(let text): csv.text("", text)
                case .integer(let number): csv.integer("", number)
                case .number(let number): csv.number("", number)
                }
            }
            csv.endRow()
        }
        return csv.bytes
    }
}

/// Columns that say how long something took, in microseconds.
extension DurationStatistics {
    static let csvColumns = ["count", "min_us", "p50_us", "p75_us", "p90_us", "p95_us", "p99_us", "max_us", "mean_us"]

    var csvValues: [CSVTable.Value] {
        [
            .integer(count), .integer(minimumMicroseconds), .integer(p50Microseconds), .integer(p75Microseconds),
            .integer(p90Microseconds), .integer(p95Microseconds), .integer(p99Microseconds),
            .integer(maximumMicroseconds),
            .integer(meanMicroseconds),
        ]
    }
}
